#if Persistence
  import ConcordModel
  import GRDB

  extension SQLiteSession {
    /// Whether a search in an entity's texts can use an index of the file.
    func hasSearchIndex(_ entity: EntityDescription) throws -> Bool {
      if let known = searchIndexes[ObjectIdentifier(entity.type)] { return known }
      let isUsable = try hasFTS5 && (SQLiteSearchIndex(entity)?.isUsable(db) ?? false)
      searchIndexes[ObjectIdentifier(entity.type)] = isUsable
      return isUsable
    }

    /// Returns the entities in whose texts a condition searches, and that have an index.
    func searchedEntities(_ condition: StoredCondition, of entity: EntityDescription) throws -> Set<EntityDescription> {
      try condition.searchedEntities(in: entity).filter { try hasSearchIndex($0) }
    }

    /// Brings the indexes of words up to date: with all rows that this session has changed, and some that other writers have changed.
    func updateSearchIndexes() throws {
      for entity in searchableEntities where try hasSearchIndex(entity) {
        try SQLiteSearchIndex(entity)?.update(atMost: max(2_000, 2 * changedKeys.count), db)
      }
    }
  }

  extension StoredCondition {
    /// The entities in whose texts it searches.
    func searchedEntities(in entity: EntityDescription) -> Set<EntityDescription> {
      switch self {
      case .matches: [entity]
      case .not(let condition): condition.searchedEntities(in: entity)
      case .all(let conditions), .any(let conditions):
        conditions.reduce(into: []) { $0.formUnion($1.searchedEntities(in: entity)) }
      case .hasElement(_, let target, let condition): condition.searchedEntities(in: target)
      default: []
      }
    }
  }
#endif
