#if Server
  import ConcordSync

  /// The predicate of a publication as it is served: a row for which it has no answer is not sent, and is named in the log.
  struct Served {
    let predicate: RowPredicate
    let publication: String
    let unanswered: UnansweredRows

    var entity: EntityDescription { predicate.entity }
    var isOfColumns: Bool { predicate.isOfColumns }

    func keys(_ reading: any RowReading) throws -> [StoredValue] { try predicate.keys(reading, leavingOut: leaveOut) }

    func holds(_ values: [StoredValue], key: StoredValue) throws -> Bool {
      try predicate.holds(values, key: key, leavingOut: leaveOut)
    }

    /// Whether the predicate held for a row with earlier columns. If it had no answer then, it may have one now.
    func held(_ before: [StoredValue], key: StoredValue) throws -> Bool {
      try predicate.holds(before, key: key) { _, _ in }
    }

    private func leaveOut(_ key: StoredValue, _ error: any Error) {
      unanswered.add(key, of: entity, publication: publication)
    }
  }
#endif
