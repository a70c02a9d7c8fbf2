#if Server
  import ConcordSync

  /// The rows of one page for which predicates of publications have no answer.
  ///
  /// They are logged together, after the reading of the store, which others may wait for.
  final class UnansweredRows {
    private struct Place: Hashable {
      let publication: String
      let entity: EntityDescription
    }

    private struct Rows {
      let first: StoredValue
      var keys: Set<StoredValue>
    }

    private var rows: [Place: Rows] = [:]

    /// Adds a row. It may be met several times.
    func add(_ key: StoredValue, of entity: EntityDescription, publication: String) {
      rows[Place(publication: publication, entity: entity), default: Rows(first: key, keys: [])].keys.insert(key)
    }

    func report(to log: ServerLog) {
      for (place, rows) in rows {
        log.unansweredRows(
          publication: place.publication, entity: place.entity.name, id: "\(rows.first)", count: rows.keys.count)
      }
    }
  }
#endif
