#if PostgreSQL
  import ConcordModel
  import ConcordPersistence

  /// The words of rows that were written, until they are sent.
  struct WaitingWords {
    /// By entity and key the vector; `nil` if there are too many words for one.
    var vectors: [EntityDescription: [StoredValue: String?]] = [:]
    /// The rows whose texts have to be read.
    var unknown: [EntityDescription: Set<StoredValue>] = [:]
    private(set) var bytes = 0

    var isEmpty: Bool { vectors.isEmpty && unknown.isEmpty }
    /// Whether they are to be sent, so that they do not take much memory.
    var areMany: Bool { bytes > 1 << 22 || vectors.values.contains { $0.count >= 4096 } }

    mutating func set(_ vector: String?, for key: EntityKey) {
      bytes += vector?.utf8.count ?? 0
      unknown[key.entity]?.remove(key.id)
      vectors[key.entity, default: [:]].updateValue(vector, forKey: key.id)
    }

    mutating func setUnknown(_ key: EntityKey) {
      vectors[key.entity]?.removeValue(forKey: key.id)
      unknown[key.entity, default: []].insert(key.id)
    }

    mutating func forget(_ key: EntityKey) {
      if isEmpty { return }
      vectors[key.entity]?.removeValue(forKey: key.id)
      unknown[key.entity]?.remove(key.id)
    }
  }

  extension PostgreSQLSession {
    func noteWords(_ words: WrittenWords, of key: EntityKey) throws {
      guard let index = search.folded[key.entity] else { return }
      switch words {
      case .unchanged: return
      case .none: waitingWords.forget(key)
      case .unknown: waitingWords.setUnknown(key)
      case .values(let values):
        waitingWords.set(index.vector(values), for: key)
        if waitingWords.areMany { try foldWords() }
      }
    }

    /// The words that an update of some columns writes.
    ///
    /// - Parameter values: those of all columns, of which only the changed ones are the row's.
    func words(_ entity: EntityDescription, changing changed: ColumnSet, to values: ArraySlice<StoredValue>)
      -> WrittenWords
    {
      let count = entity.searchablePositions.count { changed.contains($0) }
      if count == 0 { return .unchanged }
      return count == entity.searchablePositions.count ? .values(Array(values)) : .unknown
    }

    /// Writes the words of the rows that were written so far, before the next statement.
    func foldWords() throws {
      if waitingWords.isEmpty { return }
      var words = waitingWords
      waitingWords = WaitingWords()
      for (entity, keys) in words.unknown where !keys.isEmpty {
        guard let index = search.folded[entity] else { continue }
        for result in try run(
          inParts(Array(keys)).map { .init(sql: index.texts, parameters: array($0, index.keyForm)) })
        {
          for row in 0..<result.count {
            let (key, vector) = index.vector(result, row)
            words.set(vector, for: EntityKey(entity, key))
          }
        }
      }
      // In one order everywhere.
      for (entity, vectors) in words.vectors.sorted(by: { $0.key.name < $1.key.name }) where !vectors.isEmpty {
        guard let index = search.folded[entity] else { continue }
        var rows = SearchVectors(index)
        for (key, vector) in vectors.sorted(by: { StoredValue.precedes($0.key, $1.key) }) {
          rows.append(key, vector)
          if rows.bytes > 1 << 22 {
            try writeLater([.init(sql: index.write, parameters: rows.parameters)])
            rows = SearchVectors(index)
          }
        }
        if rows.count > 0 { try writeLater([.init(sql: index.write, parameters: rows.parameters)]) }
      }
    }

    /// Prepares for a query: what this session has written is found, too.
    func prepareSearch(_ query: RowQuery) throws {
      guard !search.read.isEmpty, query.condition.searches else { return }
      try foldWords()
      hasSearched = true
    }
  }

  extension StoredCondition {
    /// Whether the condition searches in texts.
    var searches: Bool {
      switch self {
      case .matches: true
      case .not(let condition): condition.searches
      case .all(let conditions), .any(let conditions): conditions.contains(where: \.searches)
      case .hasElement(_, _, let condition): condition.searches
      default: false
      }
    }
  }
#endif
