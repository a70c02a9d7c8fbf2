import ConcordPersistence

extension Outbox {
  /// Ends actions whose effects are written in the same transaction, or in that of another file: also dead letters, of which it was not known whether
  /// they had their effects. What takes these back is sent now.
  ///
  /// - Parameter changed: the entities that the transaction changes.
  package func end(_ keys: Set<String>, changed: Set<EntityKey>, _ writing: NotesWriting) throws {
    if keys.isEmpty { return }
    // An action stays in the store in which it was forwarded, also if another one is the home by now.
    for (attachment, rows) in writing.outboxes {
      let changes = try rows.outbox(after: nil)
      for row in changes.rows where !row.state.isFinished && keys.contains(row.key) {
        // Of a dead letter nothing is shown.
        if row.state == .pending {
          overlay.willWrite(
            changed, for: OutboxID(attachment: attachment, epoch: changes.version.epoch, number: row.number))
        }
        try rows.writeOutbox(row.sent)
        if row.state == .refused { try changeInverses(of: row, in: attachment, rows) { $0.retry() } }
      }
    }
  }

  /// Makes dead letters of pending actions that the service has not refused. Their layers go with the transaction, and those of what takes them back,
  /// which waits for them.
  package func giveUp(_ keys: Set<String>, reason: String, _ writing: NotesWriting) throws {
    if keys.isEmpty { return }
    for (attachment, rows) in writing.outboxes {
      for var row in try rows.outbox(after: nil).rows where row.state == .pending && keys.contains(row.key) {
        (row.state, row.reason) = (.refused, reason)
        try rows.writeOutbox(row)
        try changeInverses(of: row, in: attachment, rows) { $0.waitForOrigin() }
      }
    }
  }

  /// The outcome of sending an action that may have been given up meanwhile.
  package enum LateOutcome: Sendable {
    /// The service has accepted the action. The reason is that of the dead letter.
    case accepted(reason: String)
    /// The service has refused the action, for this reason. The action that takes its change back goes.
    case refused(reason: String)
    /// The service has not decided: the action is sent again, and after that the one that takes its change back.
    case undecided
  }

  /// Stores the outcome of an action that is being sent, and may have been given up for a reason meanwhile. A refusal also makes a dead letter of one that
  /// is pending.
  package func settle(
    _ key: String, givenUpFor reason: String, _ outcome: LateOutcome, _ writing: NotesWriting
  ) throws {
    let sent = state.withLock { state in state.running.first { state.items[$0]?.row.key == key } }
    guard let sent, let rows = writing.outboxes[sent.attachment], var row = try rows.outboxRow(sent.number),
      row.key == key
    else { return }
    let wasGivenUp = row.state == .refused && row.reason == reason
    switch outcome {
    case .accepted(let found) where wasGivenUp:
      row.reason = found
      try rows.writeOutbox(row)
    case .refused(let found) where wasGivenUp || row.state == .pending:
      (row.state, row.reason) = (.refused, found)
      try rows.writeOutbox(row)
      try changeInverses(of: row, in: sent.attachment, rows) { $0.drop() }
    case .undecided where wasGivenUp:
      (row.state, row.reason) = (.pending, nil)
      try rows.writeOutbox(row)
      try changeInverses(of: row, in: sent.attachment, rows) { $0.retry() }
    default: return
    }
    try carrier?.actionsDidEnd(writing)
  }

  /// Writes to the outbox of a store, with all that the carrier writes as actions end.
  ///
  /// - Parameter body: a closure that receives the session with the outbox, and that with the carrier's notes; `nil` if these are not at hand. It may be
  ///   called twice.
  func writeEnds<R>(
    of attachment: StoreAttachment, _ body: (any RowWriting, NotesWriting?) throws -> R
  ) throws -> R {
    guard let carrier, let home = coordinator.homeAttachment else {
      return try coordinator.writeOutbox(of: attachment) { try body($0, nil) }
    }
    do {
      return try coordinator.write(notesOf: home) { rows, _ in
        let writing = NotesWriting(rows: rows, home: home)
        guard let outbox = writing.outboxes[attachment] else {
          throw StoreError.detached(store: "with the outbox")
        }
        let result = try body(outbox, writing)
        try carrier.actionsDidEnd(writing)
        return result
      }
    } catch let error where StoreError.mayPass(error) {
      // Another store cannot be written, perhaps. What was to leave with the action leaves with a later end, or a page.
      return try coordinator.writeOutbox(of: attachment) { outbox in
        try body(outbox, attachment == home ? NotesWriting(rows: outbox, home: home) : nil)
      }
    }
  }

  /// Clears the outboxes of all stores, with all that the carrier writes as actions end.
  func clearAll() throws {
    guard let carrier, let home = coordinator.homeAttachment else { return try coordinator.clearOutboxes() }
    try coordinator.write(notesOf: home) { rows, _ in
      let writing = NotesWriting(rows: rows, home: home)
      for outbox in writing.outboxes.values { try outbox.clearOutbox() }
      try carrier.actionsDidEnd(writing)
    }
  }

  /// Lets the carrier write what follows from the end of actions that were stored before.
  func tellEnds() {
    guard let carrier, let home = coordinator.homeAttachment else { return }
    do {
      try coordinator.write(notesOf: home) { rows, _ in
        try carrier.actionsDidEnd(NotesWriting(rows: rows, home: home))
      }
    } catch let error where !StoreError.isOfDetachedStore(error) { report(error) } catch {
      // What was to be written went with its store.
    }
  }
}
