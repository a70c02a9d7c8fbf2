import Concord
import ConcordPersistence
import Foundation

/// Undoes a transaction.
private struct Undo: Error {}

extension Outbox {
  /// Forwards an action: see ``Connect/forward(_:)``.
  func forward<A: ForwardAction>(_ action: A) async throws -> OutboxEntry {
    register(A.self)
    return try await working { [self] in try forwardNow(action) }
  }

  private func forwardNow<A: ForwardAction>(_ action: A) throws -> OutboxEntry {
    while true {
      guard let home = coordinator.homeAttachment else {
        throw Errors.notStarted("no store is attached that could keep '\(A.name)'")
      }
      do {
        return try forward(action, to: home)
      } catch let error where StoreError.isOfDetachedStore(error) {
        if state.withLock({ $0.isDetaching }) {
          throw Errors.notStarted("the stores are being detached, and none keeps '\(A.name)'")
        }
        // Another one may keep it now.
        if coordinator.homeAttachment == home { throw error }
      }
    }
  }

  private func forward<A: ForwardAction>(_ action: A, to home: StoreAttachment) throws -> OutboxEntry {
    let keys = try action.keys(in: coordinator.model)
    guard let key = keys.first else { throw Errors.unmanagedEntity("'\(A.name)' names no entity") }
    // Until it is shown: what is loaded together with a new layer has all others made anew.
    let held = try keys.map { try view.holding($0) }
    defer { withExtendedLifetime(held) {} }
    try tryOut(action)
    let (body, read) = try registry.encode(action)
    let row = OutboxRow(
      key: IdempotencyKey().rawValue, action: A.name, entity: key.entity.name, id: key.id, body: body,
      forwarded: Date().timeIntervalSince1970)
    let written = try coordinator.writeOutbox(of: home) { try $0.writeOutbox(row) }
    let epoch = state.withLock { $0.stores[home]?.version?.epoch }
    if let epoch { overlay.didWrite(read, OutboxID(attachment: home, epoch: epoch, number: written.number)) }
    view.showOverlay()
    if !takeNext(written, read, of: home) { readChanges() }
    return state.withLock { state in
      let epoch = state.stores[home]?.version?.epoch ?? 0
      let id = OutboxID(attachment: home, epoch: epoch, number: written.number)
      return state.entry(state.items[id] ?? OutboxState.Item(id: id, row: written, action: action))
    }
  }

  /// Throws if an action does not apply to what is shown. Nothing changes.
  private func tryOut(_ action: some ForwardAction) throws {
    do {
      try view.store.transaction { tx in
        _ = try tx.optimistically { try action.apply(to: $0) }
        throw Undo()
      }
    } catch is Undo {}
  }

  /// Sends a dead letter once more, with the same key, at its old place in the order. It is shown again.
  ///
  /// If that cannot be written, the error block of the ``Connect`` is told.
  ///
  /// - Returns: whether it was still there.
  @discardableResult
  public func retry(_ letter: DeadLetter) -> Bool {
    change(letter.entry) { row in
      guard row.state == .refused else { return false }
      (row.state, row.reason) = (.pending, nil)
      return true
    }
  }

  /// Gives up a dead letter. What was held behind it is sent.
  ///
  /// If that cannot be written, the error block of the ``Connect`` is told.
  ///
  /// - Returns: whether it was still there.
  @discardableResult
  public func drop(_ letter: DeadLetter) -> Bool {
    change(letter.entry) { row in
      guard row.state == .refused else { return false }
      (row.state, row.body) = (.dropped, "")
      return true
    }
  }

  /// Gives up an action of a type that is not known. See ``unknown``.
  ///
  /// - Returns: whether it was still there, and still nobody knows it.
  @discardableResult
  public func drop(unknown entry: OutboxEntry) -> Bool {
    change(entry) { row in
      guard row.state == .pending, registry.action(row) == nil else { return false }
      (row.state, row.body) = (.dropped, "")
      return true
    }
  }

  private func change(_ entry: OutboxEntry, _ body: (inout OutboxRow) -> Bool) -> Bool {
    do {
      let isChanged = try coordinator.writeOutbox(of: entry.row.attachment) { writing in
        guard var row = try writing.outboxRow(entry.row.number), row.key == entry.key.rawValue, body(&row) else {
          return false
        }
        try writing.writeOutbox(row)
        return true
      }
      if isChanged {
        state.withLock { $0.failures[entry.row] = nil }
        readChanges()
        // Not here: whoever calls may be in a transaction of the view's.
        work.async { [weak self] in self?.view.showOverlay() }
      }
      return isChanged
    } catch let error where StoreError.isOfDetachedStore(error) {
      // It went with its store.
      return false
    } catch {
      report(error)
      return false
    }
  }

  /// Forgets all actions, sent or not, without a trace in the store, as when a user signs out. Requests on their way are cancelled, and
  /// answers that come nevertheless change nothing. What was shown of them is shown no longer.
  ///
  /// - Throws: ``/ConcordModel/StoreError``; then nothing has changed.
  public func clear() async throws {
    try await working { [self] in
      try coordinator.clearOutboxes()
      for task in state.withLock({ Array($0.running.values) }) { task?.cancel() }
      view.showOverlay()
      readChanges()
    }
  }

  /// Does what may wait for a disk, one after another.
  func working<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      work.async { continuation.resume(with: Result { try body() }) }
    }
  }
}
