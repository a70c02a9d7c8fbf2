import ConcordModel

/// Entities kept by a store without a configuration until the store of their configuration is attached.
///
/// From then on they would not be read any more, so attaching either moves them or throws.
extension PersistentStoreCoordinator {
  /// Rows that are not read, since another store keeps their entities.
  private struct Hidden {
    let entity: EntityDescription
    let holder: PersistentStore
    let home: PersistentStore
  }

  /// Moves what a store without a configuration holds for a store that is about to be attached, or the other way round.
  ///
  /// Copies are durable before rows are deleted, and the fresher of two rows with one id wins: an interrupted move
  /// continues with the next attaching.
  ///
  /// - Throws: ``/ConcordModel/StoreError/keptElsewhere(store:in:entities:)`` unless it is to be moved, and always where it would be
  ///   moved from a file into memory.
  func settleEntities(of new: PersistentStore, moves: Bool) throws {
    let hidden = try hidden(by: new)
    let refused = hidden.filter { !moves || $0.holder.isKept && !$0.home.isKept }
    if let first = refused.first {
      throw StoreError.keptElsewhere(
        store: first.holder.rows.name, in: first.home.rows.name,
        entities: refused.filter { $0.holder == first.holder && $0.home == first.home }.map(\.entity.name))
    }
    for part in hidden { try copy(part) }
    for home in Set(hidden.map(\.home)) { try home.rows.synchronize() }
    for part in hidden { try delete(part) }
  }

  private func hidden(by new: PersistentStore) throws -> [Hidden] {
    let stores = persistentStores + [new]
    let configurations = stores.map(\.configuration)
    var found: [Hidden] = []
    for holder in stores where holder.configuration.isEmpty {
      for entity in model.entities {
        guard
          let home = stores.first(where: { model.isMeant(entity, for: $0.configuration, attached: configurations) }),
          !home.configuration.isEmpty, holder === new || home === new
        else { continue }
        let query = RowQuery(entity, limit: 1)
        // A type of store need not have a place for an entity that is kept elsewhere.
        let count = try? holder.rows.read { try $0.count(query) }
        if count ?? 0 > 0 { found.append(Hidden(entity: entity, holder: holder, home: home)) }
      }
    }
    return found
  }

  private static let batch = 1000

  private func copy(_ part: Hidden) throws {
    var offset = 0
    while true {
      let query = RowQuery(part.entity, limit: Self.batch, offset: offset)
      var rows: [(key: StoredValue, row: StoredRow)] = []
      try part.holder.rows.read { reading in
        try reading.rows(query) { key, source in
          rows.append((key, try StoredRow(source, part.entity)))
          return true
        }
      }
      if rows.isEmpty { return }
      offset += rows.count
      try part.home.rows.write(origin: ObjectIdentifier(self)) { writing in
        for (key, row) in rows { try writing.insertOrReplaceOlder(row, for: EntityKey(part.entity, key)) }
      }
    }
  }

  private func delete(_ part: Hidden) throws {
    try part.holder.rows.write(origin: ObjectIdentifier(self)) { writing in
      var keys: [StoredValue] = []
      try writing.rows(RowQuery(part.entity)) { key, _ in
        keys.append(key)
        return true
      }
      for key in keys { try writing.delete(EntityKey(part.entity, key)) }
    }
  }
}
