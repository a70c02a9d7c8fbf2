package import ConcordConnect

extension Sync {
  static let sentForOther = "it was sent for another user, and it is not known whether it had its effect"
  static let acceptedForOther = "it was sent for another user, for whom the server has accepted it"

  /// Stores the outcome of an action, also where a page of another user has made a dead letter of it meanwhile.
  func store(_ outcome: Outbox.LateOutcome, of key: String) async throws {
    try await outbox.writeNotes { [outbox] transaction in
      let (writing, name) = (transaction.rows, SyncNotes.sending(key))
      var sending = SendingState(note: try writing.note(name))
      switch outcome {
      // The page that ends it may have come.
      case .accepted: sending.isAccepted = sending.user != nil
      // Counted, so that the server decides anew if a person retries the dead letter, but not if the network doubles a request. It is sent anew then.
      case .refused: sending = SendingState(refusals: sending.refusals + 1)
      // It may have been decided in another life of the file, and keeps the numbers of that.
      case .undecided where sending.mayBeForgotten: return
      case .undecided: sending = SendingState(refusals: sending.refusals)
      }
      try writing.setNote(sending.isEmpty ? nil : sending.note, for: name)
      try outbox.settle(key, givenUpFor: Self.sentForOther, outcome, transaction)
    }
  }

  /// Makes dead letters of the actions that were sent for another user than that of a page, in its transaction: it may contain their effects, which
  /// would be shown with their layers. What the server answers later to those that are on their way, ``store(_:of:)`` stores.
  ///
  /// - Parameter token: the token of the page's request.
  /// - Returns: the keys of the actions that are given up.
  func giveUpSent(besides user: String, _ token: String?, _ transaction: NotesWriting) throws -> Set<String> {
    let writing = transaction.rows
    var (unknown, accepted): (Set<String>, Set<String>) = ([], [])
    for (key, note) in try notes(in: SyncNotes.sending, writing) {
      let sending = SendingState(note: note)
      guard let other = sending.user, other != user else { continue }
      let (isUndecided, isAccepted) = state.withLock { state in
        // The server decides nothing where the token is this user's and the message names the other one.
        let isOwn = token.map { state.sent.wasSent(key, with: $0) } ?? false
        let isAccepted = if case .accepted = state.carried[key] { true } else { sending.isAccepted }
        return (isOwn || state.sent.isUndecided(key), isAccepted)
      }
      if isUndecided, !sending.mayBeForgotten {
        let left = SendingState(refusals: sending.refusals)
        try writing.setNote(left.isEmpty ? nil : left.note, for: SyncNotes.sending(key))
      } else if isAccepted {
        var known = sending
        known.isAccepted = true
        try writing.setNote(known.note, for: SyncNotes.sending(key))
        accepted.insert(key)
      } else {
        unknown.insert(key)
      }
    }
    try outbox.giveUp(unknown, reason: Self.sentForOther, transaction)
    try outbox.giveUp(accepted, reason: Self.acceptedForOther, transaction)
    return unknown.union(accepted)
  }

  package func mayRetry(_ key: String, _ transaction: NotesWriting) throws -> Bool {
    let sending = SendingState(note: try transaction.rows.note(SyncNotes.sending(key)))
    return try sending.user == nil || sending.user == transaction.rows.note(SyncNotes.Head.user.name)
  }

  /// Removes the rows that no subscription has any longer, and that stayed for actions which have ended, in the transaction that ends these.
  package func actionsDidEnd(_ transaction: NotesWriting) throws {
    let writing = transaction.rows
    var isAny = false
    try writing.notes(in: SyncNotes.lingering, after: nil) { _, _ in
      isAny = true
      return false
    }
    guard isAny else { return }
    var removal = try RowsLeaving(
      model: model, writing: writing, held: try outbox.pendingKeys(in: transaction))
    try removal.addLingering()
    _ = try removal.run()
  }
}
