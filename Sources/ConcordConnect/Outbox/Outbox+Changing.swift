import Concord
import ConcordPersistence
import Foundation

/// Takes a transaction back, and carries out what was found in it.
private struct Tried<R: Sendable>: Error {
  let result: R
}

extension Outbox {
  /// Forwards an action: see ``Connect/forward(_:)``.
  func forward<A: ForwardAction>(_ action: A) async throws -> OutboxEntry {
    register(A.self)
    return try await working { [self] in
      try atHome("none keeps '\(A.name)'") { try forward(action, to: $0, isStep: false).entry }
    }
  }

  /// Calls a closure with the store that keeps what is forwarded, and again if that was detached meanwhile.
  func atHome<R>(_ otherwise: String, _ body: (StoreAttachment) throws -> R) throws -> R {
    while true {
      guard let home = coordinator.homeAttachment else {
        throw Errors.notStarted("no store is attached, and \(otherwise)")
      }
      do {
        return try body(home)
      } catch let error where StoreError.isOfDetachedStore(error) {
        if state.withLock({ $0.isDetaching }) {
          throw Errors.notStarted("the stores are being detached, and \(otherwise)")
        }
        // Another one may keep it now.
        if coordinator.homeAttachment == home { throw error }
      }
    }
  }

  /// Forwards an action.
  ///
  /// - Parameter isStep: whether a step is to take it back.
  /// - Returns: what waits in the outbox, and the change of the step.
  func forward<A: ForwardAction>(
    _ action: A, to home: StoreAttachment, isStep: Bool
  ) throws -> (entry: OutboxEntry, change: ForwardedChange?) {
    let keys = try action.keys(in: coordinator.model)
    guard let key = keys.first else { throw Errors.unmanagedEntity("'\(A.name)' names no entity") }
    // Held until the action is shown: loading an entity together with a new layer would replay all layers.
    let held = try view.holding(keys)
    defer { withExtendedLifetime(held) {} }
    let inverse = try tryOut(action, isStep: isStep)
    let (body, read) = try encode(action)
    let row = OutboxRow(
      key: IdempotencyKey().rawValue, action: A.name, entity: key.entity.name, id: key.id, body: body,
      forwarded: Date().timeIntervalSince1970)
    let handle = isStep ? follow(row, home) : nil
    let written = try coordinator.writeOutbox(of: home) { try $0.writeOutbox(row) }
    let epoch = state.withLock { $0.stores[home]?.version?.epoch }
    if let epoch {
      let id = OutboxID(attachment: home, epoch: epoch, number: written.number)
      overlay.didWrite(ShownAction(id: id, action: read, keys: keys))
    }
    view.showOverlay()
    if !takeNext(written, read, of: home) { readChanges() }
    return state.withLock { state in
      let epoch = state.stores[home]?.version?.epoch ?? 0
      let id = OutboxID(attachment: home, epoch: epoch, number: written.number)
      let change = handle.map {
        ForwardedChange(handle: $0, action: read, inverse: inverse, epoch: epoch == 0 ? nil : epoch)
      }
      return (state.entry(state.items[id] ?? OutboxState.Item(id: id, row: written, action: action)), change)
    }
  }

  /// The JSON of an action that can be kept and sent, and what is read from it.
  ///
  /// - Throws: ``Errors/unreadableAction(_:)``.
  func encode<A: ForwardAction>(_ action: A) throws -> (body: String, read: any ForwardAction) {
    let encoded = try registry.encode(action)
    try carrier?.check(action, encoded.body)
    return encoded
  }

  /// Throws if an action does not apply to the shown state, which stays unchanged.
  ///
  /// - Returns: the inverse of the action, if a step is to take it back.
  private func tryOut(_ action: some ForwardAction, isStep: Bool) throws -> (any ForwardAction)? {
    try trying { tx in
      let inverse = isStep ? try action.orderedInverse(in: tx) : nil
      _ = try tx.optimistically { try action.apply(to: $0) }
      return inverse
    }
  }

  /// Runs a transaction of the view of which nothing stays.
  func trying<R: Sendable>(_ body: (EntityStore) throws -> R) throws -> R {
    do {
      return try view.store.transaction { tx -> R in throw Tried(result: try body(tx)) }
    } catch let tried as Tried<R> { return tried.result }
  }

  /// Sends a dead letter again, with the same key, at its old place in the order, and shows its change again.
  ///
  /// An action that takes the letter's action back, and became a dead letter with it, is sent after the letter; an action that the letter's
  /// action takes back is sent before the letter. If the outbox cannot be written, the error block of the ``Connect`` receives the error.
  ///
  /// - Returns: whether the dead letter still existed, and may be sent. One that a synchronisation has sent for an earlier user of the device may not
  ///   before that user is back: it may have had its effect, above which its change would be shown.
  @discardableResult
  public func retry(_ letter: DeadLetter) -> Bool {
    // What takes another one back is not sent without it.
    if let origin = origin(of: letter) {
      switch change(origin.entry, { $0.retry() }) {
      case .done: return true
      case .mayNot: return false
      case .isGone: break
      }
    }
    return change(letter.entry) { $0.retry() } == .done
  }

  /// The first of the dead letters that another one takes back, at any depth; `nil` if it takes none back.
  private func origin(of letter: DeadLetter) -> DeadLetter? {
    var origin: DeadLetter?
    // Each is from before the one that takes it back.
    for other in deadLetters.reversed() {
      let key = (origin ?? letter).key.rawValue
      if key.hasPrefix(IdempotencyKey.prefix(takingBack: other.key.rawValue)) { origin = other }
    }
    return origin
  }

  /// Gives up a dead letter and the action that takes its change back, and sends the actions that the letter held up.
  ///
  /// If the outbox cannot be written, the error block of the ``Connect`` receives the error.
  ///
  /// - Returns: whether the dead letter still existed.
  @discardableResult
  public func drop(_ letter: DeadLetter) -> Bool {
    change(letter.entry) { $0.state == .refused && $0.drop() } == .done
  }

  /// Gives up an action whose type is not registered. See ``unknown``.
  ///
  /// - Returns: whether the action still existed, with an unregistered type.
  @discardableResult
  public func drop(unknown entry: OutboxEntry) -> Bool {
    change(entry) { row in row.state == .pending && registry.action(row) == nil && row.drop() } == .done
  }

  /// The outcome of a change to an action by a person.
  private enum Changed { case done, isGone, mayNot }

  private func change(_ entry: OutboxEntry, _ body: (inout OutboxRow) -> Bool) -> Changed {
    do {
      let changed = try writeEnds(of: entry.row.attachment) { writing, notes -> Changed in
        guard var row = try writing.outboxRow(entry.row.number), row.key == entry.key.rawValue, body(&row) else {
          return .isGone
        }
        if row.state == .pending, let carrier {
          guard let notes, try carrier.mayRetry(row.key, notes) else { return .mayNot }
        }
        try writing.writeOutbox(row)
        try changeInverses(of: row, in: entry.row.attachment, writing) { inverse in
          row.state == .dropped ? inverse.drop() : inverse.retry()
        }
        return .done
      }
      if changed == .done {
        readChanges()
        // Not on this thread: the caller may be in a transaction of the view.
        work.async { [weak self] in self?.view.showOverlay() }
      }
      return changed
    } catch let error where StoreError.isOfDetachedStore(error) {
      // It went with its store.
      return .isGone
    } catch {
      report(error)
      return .isGone
    }
  }

  /// Deletes all actions, sent or not, without a trace in the store, as when a user signs out. Requests in progress are
  /// cancelled, responses that still arrive change nothing, and the actions' changes are no longer shown.
  ///
  /// - Throws: ``/ConcordModel/StoreError``; then all actions are kept, except that of several stores some may have been
  ///   cleared before another one failed.
  public func clear() async throws {
    try await working { [self] in
      // Also if it fails: the outboxes of some stores may be cleared.
      defer {
        view.showOverlay()
        readChanges()
        // Not before it is known here what is gone, since until then it may still begin to be sent.
        cancelCleared()
      }
      try clearAll()
    }
  }

  /// Cancels the sending of actions that are no longer there.
  private func cancelCleared() {
    let tasks = state.withLock { state in
      let items = state.items
      return state.running.tasks { items[$0] == nil }
    }
    for task in tasks { task.cancel() }
  }

  /// Does what may wait for a disk, one after another.
  func working<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      work.async { continuation.resume(with: Result { try body() }) }
    }
  }
}
