#if Server
  import Concord
  import ConcordSync

  /// The predicate of a publication as it is served: a row for which it has no answer is not sent, and is named in the log.
  struct Served {
    let predicate: RowPredicate
    let publication: String
    let log: ServerLog

    var entity: EntityDescription { predicate.entity }
    var isOfColumns: Bool { predicate.isOfColumns }

    func keys(_ reading: any RowReading) throws -> [StoredValue] { try predicate.keys(reading, leavingOut: leaveOut) }

    func holds(_ values: [StoredValue], key: StoredValue) throws -> Bool {
      try predicate.holds(values, key: key, leavingOut: leaveOut)
    }

    private func leaveOut(_ key: StoredValue, _ error: any Error) {
      log.unansweredRow(publication: publication, entity: entity.name, id: "\(key)")
    }
  }
#endif
