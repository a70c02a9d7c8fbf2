import Concord
package import ConcordConnect
import Foundation

extension Sync: ActionCarrier {
  /// Carries an action to the server, and returns when a page has brought its effect.
  package func carry(_ action: any ForwardAction, key: IdempotencyKey) async throws {
    let key = key.rawValue
    // What the server made of it could not be shown.
    if state.withLock({ $0.isOutdated }) {
      throw TransportError.unreachable(reason: "this program or the server has to be updated")
    }
    let decision = try await decision(on: action, key)
    defer { state.withLock { _ = $0.carried.removeValue(forKey: key) } }
    switch decision {
    case .refused(let reason): try await store(.refused(reason: reason), of: key)
    case .accepted: try await waitForPage(of: key)
    }
    throw OutcomeIsStored()
  }

  /// Returns when the outcome of an accepted action is stored: a page has brought its effect, or it is a dead letter of an earlier user.
  private func waitForPage(of key: String) async throws {
    let isNew = state.withLock { state in
      guard state.carried[key] == .sent else { return false }
      state.carried[key] = .accepted(missing: 0)
      return true
    }
    if isNew { poke() }
    while true {
      let (generation, carried) = state.withLock { ($0.pages, $0.carried[key]) }
      switch carried {
      case .applied: return
      case .givenUp: return try await store(.accepted(reason: Self.acceptedForOther), of: key)
      // The server was restored from an earlier state, perhaps. It is asked again, later, and knows the key or decides anew.
      case .accepted(let missing) where missing >= Self.mostPagesWithout:
        throw TransportError.unreachable(reason: "the server has accepted the action, and its pages do not contain it")
      case .accepted, .sent, nil: try await nextPage(after: generation)
      }
    }
  }

  /// The number of pages after which an accepted action that none of them contained is sent again.
  private static var mostPagesWithout: Int { 2 }

  package func outboxDidChange() {
    let isSender = outbox.isSender
    state.withLock { state in
      // The server may have another release by now.
      state.refusedAsked = nil
      // Another process may send now, of whose attempts this one knows nothing.
      if !isSender { state.sent = SentActions() }
    }
    poke()
  }

  package func check(_ action: any ForwardAction, _ body: String) throws {
    guard action is any SyncAction else { return }
    do { _ = try ActionMessage.body(body.utf8) } catch {
      throw Errors.unreadableAction("'\(type(of: action).name)' cannot be sent: \(error)")
    }
  }

  private func decision(on action: any ForwardAction, _ key: String) async throws -> ActionDecision {
    state.withLock { $0.carried[key] = .sent }
    var attempt: SentActions.Attempt?
    do {
      let body = try self.body(of: action)
      // Before it is noted that the action was sent: nothing leaves the device if there is no token.
      let token = try await currentToken()
      let (device, sending, begun) = try await outbox.writeNotes { [self, model, fingerprint] transaction in
        let writing = transaction.rows
        // Before a page of another user can come between.
        func begin(isFirst: Bool) throws -> SentActions.Attempt {
          if isFirst, self.state.withLock({ $0.sent.isFull }) {
            let unfinished = try outbox.unfinishedKeys(in: transaction)
            self.state.withLock { $0.sent.forget(besides: unfinished) }
          }
          return self.state.withLock { $0.sent.begin(key, with: token, isFirst: isFirst) }
        }
        let state = try DeviceState(writing, model, fingerprint: fingerprint)
        let name = SyncNotes.sending(key)
        var sending = SendingState(note: try writing.note(name))
        // It stays as it was when the action was first sent, however often that is done.
        guard sending.since == nil else {
          // It may have had its effect for the earlier user. The note stays: the server can tell when that one is back, and a person tries again.
          if let user = sending.user, user != state.user {
            throw OutcomeIsUnknown(sending.isAccepted ? Self.acceptedForOther : Self.sentForOther)
          }
          // It was first sent before the first page.
          if sending.user == nil, let user = state.user {
            sending.user = user
            try writing.setNote(sending.note, for: name)
          }
          return (state.device, sending, try begin(isFirst: false))
        }
        (sending.since, sending.sinceRefused, sending.user) = (state.actions, state.refused, state.user)
        try writing.setNote(sending.note, for: name)
        return (state.device, sending, try begin(isFirst: true))
      }
      attempt = begun
      let message = ActionMessage(
        device: device, key: key, name: type(of: action).name, body: body, refusals: sending.refusals,
        since: sending.since ?? 0, sinceRefused: sending.sinceRefused, user: sending.user)
      let decision = try ActionDecision(WireValue(parsing: try await send("actions", message.wire, token).body))
      state.withLock { $0.sent.remove(key) }
      return decision
    } catch {
      let status: Int? = if case .status(let status, _, _) = Self.transportError(error) { status } else { nil }
      // At once: a page of another user that comes between takes an action of which nothing is known for one that may have had its effect.
      let (isServed, isUndecided, carried) = state.withLock { state in
        let carried = state.carried.removeValue(forKey: key)
        let isUndecided = attempt.map { state.sent.end($0, with: status) } ?? false
        // The page has come before the attempt began.
        if carried == .applied { state.sent.remove(key) }
        return (state.status == .upToDate, isUndecided, carried)
      }
      // Nobody has decided it, so it can be sent in the name of the next user.
      if isUndecided {
        defer { state.withLock { $0.sent.didForget(key) } }
        try await store(.undecided, of: key)
      }
      switch status {
      // The request that waits at the server was let in, and the next one says that no other is.
      case 401 where isServed: poke()
      // The file has a page of another user, for whom a request may wait.
      case 409: poke()
      default: break
      }
      if carried == .givenUp { throw OutcomeIsStored() }
      throw Self.retriable(error)
    }
  }

  /// The JSON of an action in its message.
  ///
  /// - Throws: a ``/ConcordConnect/NonRetriableError`` if there is none, which would hold up later actions for ever.
  private func body(of action: any ForwardAction) throws -> WireValue {
    do { return try ActionMessage.body(try JSONEncoder().encode(action)) } catch {
      throw NonRetriableError("it cannot be sent: \(error)")
    }
  }

  /// The time after which what is noted of an action that no file has is removed, in seconds: 30 days.
  static var missingTime: Double { 30 * 86_400 }

  /// Removes what is noted of actions that are no longer to be sent, as those that a person has dropped: which were in none of the program's files
  /// each time that it has begun in 30 days, since it may attach theirs later.
  func forgetEnded(_ transaction: NotesWriting) throws {
    let (writing, present) = (transaction.rows, try outbox.unfinishedKeys(in: transaction))
    let missing = Set(try notes(in: SyncNotes.sending, writing).keys).subtracting(present)
    let missed = try notes(in: SyncNotes.missed, writing)
    for key in missed.keys where !missing.contains(key) { try writing.setNote(nil, for: SyncNotes.missed(key)) }
    let now = Date().timeIntervalSince1970
    for key in missing {
      // Earlier releases have noted no date, and a clock may have been set back.
      if let date = missed[key].flatMap(Double.init), date <= now {
        guard now - date >= Self.missingTime else { continue }
        try writing.setNote(nil, for: SyncNotes.sending(key))
        try writing.setNote(nil, for: SyncNotes.missed(key))
      } else {
        try writing.setNote("\(now)", for: SyncNotes.missed(key))
      }
    }
  }

  func notes(in space: String, _ writing: any RowWriting) throws -> [String: String] {
    var notes: [String: String] = [:]
    try writing.notes(in: space, after: nil) { key, note in
      notes[key] = note
      return true
    }
    return notes
  }

  /// Statuses that concern the device and not the action are tried again.
  private static func retriable(_ error: any Error) -> any Error {
    switch error {
    case let failure as ServerFailure: retriable(failure.error)
    case TransportError.status(let status, let excerpt, _)
    where (400..<500).contains(status) && status != 413 && status != 429:
      TransportError.unreachable(reason: "the server answered \(status): \(excerpt)")
    default: error
    }
  }
}
