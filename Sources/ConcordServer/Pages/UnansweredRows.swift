#if Server
  import ConcordSync

  /// The rows of one page for which predicates of publications have no answer.
  ///
  /// They are logged together, after the reading of the store, for which other requests may wait.
  final class UnansweredRows {
    private struct Place: Hashable {
      let publication: String
      let entity: EntityDescription
    }

    private struct Rows {
      let first: StoredValue
      /// The keys, so that a row that is met several times counts once; ``mostKeys`` at most.
      var keys: Set<StoredValue>
    }

    /// The number of rows of one publication from which on they are no longer counted: a client may choose a predicate without an answer for a whole table.
    static var mostKeys: Int { 1000 }

    private var rows: [Place: Rows] = [:]

    /// Adds a row. It may be met several times.
    func add(_ key: StoredValue, of entity: EntityDescription, publication: String) {
      let place = Place(publication: publication, entity: entity)
      if rows[place]?.keys.count ?? 0 >= Self.mostKeys { return }
      rows[place, default: Rows(first: key, keys: [])].keys.insert(key)
    }

    func report(to log: ServerLog) {
      for (place, rows) in rows {
        let count = rows.keys.count
        log.unansweredRows(
          publication: place.publication, entity: place.entity.name, id: "\(rows.first)",
          count: count < Self.mostKeys ? "\(count)" : "\(count) or more")
      }
    }
  }
#endif
