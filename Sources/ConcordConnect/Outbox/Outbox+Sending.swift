import Concord
import ConcordPersistence
import Dispatch

extension Outbox {
  fileprivate struct Begun: Sendable {
    let item: OutboxState.Item
    let action: any ForwardAction
    let transport: any Transport
    /// The number of the beginning, as ``RunningSends`` has it.
    let number: Int
  }

  /// An attempt to send an action.
  final class Attempt: Sendable {
    let outbox: Outbox
    private let hasEnded = Locked(false)

    init(of outbox: Outbox) { self.outbox = outbox }

    var isRunning: Bool { !hasEnded.withLock { $0 } }
    func end() { hasEnded.withLock { $0 = true } }
  }

  /// The attempt whose code runs. Tasks that the code makes inherit it, and may outlive it.
  @TaskLocal static var attempt: Attempt?

  /// The outbox whose action is being sent.
  static var current: Outbox? { attempt.flatMap { $0.isRunning ? $0.outbox : nil } }

  /// Begins to send what can be sent.
  func sendNext() {
    // Held until the lock is free: what goes with a carrier is the user's.
    let carrier = carrier
    let (begun, hasLost) = state.withLock { state -> ([Begun], Bool) in
      let hasLost = state.releaseLostHolds()
      guard state.canSend, let transport = state.transport ?? carrier.map({ _ in StandInTransport() }) else {
        return ([], hasLost)
      }
      let sent = state.sentStores
      var begun: [Begun] = []
      while state.running.count < state.policy.maximumConcurrentSends,
        let next = state.lanes.next(where: { [withdrawing = state.withdrawing] in
          sent.contains($0.attachment) && !withdrawing.contains($0)
        })
      {
        guard let item = state.items[next.action], let action = item.action else {
          state.lanes.remove(next.action, in: next.key)
          state.lanes.end(next.action, in: next.key, isDelayed: false)
          continue
        }
        let number = state.running.begin(next.action)
        state.followed.didBegin(item.row.key)
        running.enter()
        state.tell(.sending(state.entry(item)))
        begun.append(Begun(item: item, action: action, transport: transport, number: number))
      }
      return (begun, hasLost)
    }
    withExtendedLifetime(carrier) {}
    for begun in begun { send(begun) }
    if hasLost { beginHolding() }
  }

  private func send(_ begun: Begun) {
    let executor = ActionExecutor.shared
    executor.addThread()
    let id = begun.item.id
    let task = Task(executorPreference: executor) { [self] in
      let result: Result<Void, any Error>
      do {
        let (key, attempt) = (IdempotencyKey(rawValue: begun.item.row.key), Attempt(of: self))
        defer { attempt.end() }
        try await Self.$attempt.withValue(attempt) { try await begun.action.send(with: begun.transport, key: key) }
        result = .success(())
      } catch {
        result = .failure(error)
      }
      let outcome = OutboxOutcome(result, isCancelled: Task.isCancelled)
      await withCheckedContinuation { record(Ended(outcome: outcome, begun: begun, continuation: $0)) }
      executor.removeThread()
      running.leave()
    }
    let isLate = state.withLock { state in
      state.running.didMake(task, for: id, begun.number)
      return !state.isStarted || state.leaving.contains(id.attachment) || state.items[id] == nil
    }
    if isLate { task.cancel() }
  }

  // MARK: What came of it

  /// The end of a sending whose outcome is not recorded yet.
  struct Ended: Sendable {
    fileprivate var outcome: OutboxOutcome
    fileprivate let begun: Begun
    fileprivate let continuation: CheckedContinuation<Void, Never>
    /// Whether the action was still to be sent.
    fileprivate var isThere = true
  }

  /// Records an outcome on the queue, in one commit with those that end before its turn comes.
  private func record(_ ended: Ended) {
    let isFirst = self.ended.withLock { waiting in
      waiting.append(ended)
      return waiting.count == 1
    }
    guard isFirst else { return }
    work.async { [self] in
      let all = self.ended.withLock { waiting in
        defer { waiting = [] }
        return waiting
      }
      record(all)
      for ended in all { ended.continuation.resume() }
    }
  }

  private func record(_ ended: [Ended]) {
    var ended = ended
    for index in ended.indices {
      if case .failed(let error, let retryAfter) = ended[index].outcome,
        hasFailedTooOften(ended[index].begun.item.id, error)
      {
        ended[index].outcome = .givenUp(reason: "\(error)", retryAfter: retryAfter)
      }
    }
    let news = acceptAll(ended)
    if news == nil { for index in ended.indices { write(&ended[index]) } }
    view.showOverlay()
    if let news { take(news) } else { readChanges() }
    if ended.contains(where: \.outcome.isAccepted) { tellEnds() }
    for ended in ended where !ended.isThere { readAll(unlessGone: ended.begun.item.id) }
    for ended in ended { end(ended.begun.item, ended.outcome) }
    sendNext()
  }

  /// Writes an outcome, in a commit of its own.
  private func write(_ ended: inout Ended) {
    do {
      switch ended.outcome {
      case .accepted: ended.isThere = try accept(ended.begun)
      case .refused(let reason, _): ended.isThere = try refuse(ended.begun, reason) { $0.drop() }
      // What takes it back is needed if the service has made the change.
      case .givenUp(let reason, _): ended.isThere = try refuse(ended.begun, reason) { $0.waitForOrigin() }
      case .failed, .cancelled, .stored: break
      }
    } catch {
      overlay.didNotWrite(ended.begun.item.id)
      // It is sent again: the service knows it by its key.
      ended.outcome = .failed(error, retryAfter: ended.outcome.retryAfter)
    }
  }

  /// Makes an action a dead letter: one commit.
  ///
  /// - Parameter changeInverse: a closure that receives the row of each action that takes it back, and returns whether it has changed it.
  /// - Returns: whether it was still to be sent.
  private func refuse(
    _ begun: Begun, _ reason: String, _ changeInverse: (inout OutboxRow) -> Bool
  ) throws -> Bool {
    var row = begun.item.row
    (row.state, row.reason) = (.refused, reason)
    let attachment = begun.item.id.attachment
    return try writeEnds(of: attachment) { [self] writing, _ in
      guard try isPending(row, writing) else { return false }
      try writing.writeOutbox(row)
      try changeInverses(of: row, in: attachment, writing, changeInverse)
      return true
    }
  }

  /// Reads all rows if one was deleted from the store by another program. It would be sent again and again.
  private func readAll(unlessGone id: OutboxID) {
    let isKnown = state.withLock { state in
      guard state.items[id] != nil else { return false }
      state.stores[id.attachment]?.version = nil
      return true
    }
    guard isKnown else { return }
    overlay.readAll()
    view.showOverlay()
    readChanges()
  }

  private func hasFailedTooOften(_ id: OutboxID, _ error: any Error) -> Bool {
    state.withLock { state in
      let failure = state.failures[id] ?? .init()
      if let maximum = state.policy.maximumAttempts, failure.count + 1 >= maximum { return true }
      return error.isLostResult && failure.lostResults + 1 >= OutboxPolicy.maximumLostResults
    }
  }

  /// Whether an action is still to be sent: it may have been cleared.
  private func isPending(_ row: OutboxRow, _ reading: any RowWriting) throws -> Bool {
    guard let stored = try reading.outboxRow(row.number) else { return false }
    return stored.key == row.key && stored.state == .pending
  }

  /// Stores what actions of one store change, and that they were sent: one commit.
  ///
  /// - Returns: the new rows; `nil` if they cannot be stored together, and nothing was.
  private func acceptAll(_ ended: [Ended]) -> OutboxNews? {
    guard let attachment = ended.first?.begun.item.id.attachment,
      ended.allSatisfy({ $0.outcome.isAccepted && $0.begun.item.id.attachment == attachment }),
      let known = state.withLock({ $0.stores[attachment]?.version })
    else { return nil }
    do {
      // What the view has saved lies below them.
      try writePendingChanges()
      let changes = try ended.map { ended in
        let action = ended.begun.action
        return PersistentStoreCoordinator.Change(touching: try action.keys(in: coordinator.model), action.apply)
      }
      return try coordinator.write(outboxOf: attachment, applying: changes) { [self] writing, changed in
        for (ended, keys) in zip(ended, changed) {
          let row = ended.begun.item.row.sent
          guard try isPending(row, writing) else { throw Cleared() }
          overlay.willWrite(keys, for: ended.begun.item.id)
          try writing.writeOutbox(row)
        }
        return OutboxNews(attachment: attachment, known: known, changes: try writing.outbox(after: known))
      }
    } catch {
      for ended in ended { overlay.didNotWrite(ended.begun.item.id) }
      // The one that is the cause is found when each is stored by itself.
      return nil
    }
  }

  /// Stores what an action changes, and that it was sent: one commit.
  ///
  /// - Returns: whether it was still to be sent.
  private func accept(_ begun: Begun) throws -> Bool {
    let sent = begun.item.row.sent
    // What the view has saved lies below it.
    try writePendingChanges()
    let id = begun.item.id
    do {
      let change = PersistentStoreCoordinator.Change(
        touching: try begun.action.keys(in: coordinator.model), begun.action.apply)
      try coordinator.write(outboxOf: id.attachment, applying: [change]) { [self] writing, changed in
        guard try isPending(sent, writing) else { throw Cleared() }
        for keys in changed { overlay.willWrite(keys, for: id) }
        try writing.writeOutbox(sent)
      }
      return true
    } catch is Cleared {
      return false
    } catch let error where !StoreError.mayPass(error) {
      // The service has accepted the action. The next refresh corrects the stored entities.
      state.withLock { state in state.tell(.notApplied(state.entry(begun.item), error: error)) }
      return try coordinator.writeOutbox(of: id.attachment) { [self] writing in
        guard try isPending(sent, writing) else { return false }
        overlay.willWrite([], for: id)
        try writing.writeOutbox(sent)
        return true
      }
    }
  }

  private struct Cleared: Error {}

  private func end(_ item: OutboxState.Item, _ outcome: OutboxOutcome) {
    let id = item.id
    var generator = SystemRandomNumberGenerator()
    var delay: Duration?
    var wait: Int?
    let waiting = state.withLock { state in
      state.running.end(id)
      // The service wants to be left alone, whatever has become of this action.
      if outcome.retryAfter != nil { state.pauses += 1 }
      if !state.running.contains(of: id.attachment) {
        for semaphore in state.leavers.removeValue(forKey: id.attachment) ?? [] { semaphore.signal() }
      }
      if case .failed(let error, let retryAfter) = outcome, let present = state.items[id] {
        var failure = state.failures[id] ?? .init()
        let failures = failure.count
        failure.count += 1
        failure.error = "\(error)"
        failure.lostResults = error.isLostResult ? failure.lostResults + 1 : 0
        state.failures[id] = failure
        let whole = (retryAfter ?? .zero) + state.policy.backoff.delay(after: failures, using: &generator)
        delay = whole
        state.tell(.delayed(state.entry(present), error: error, by: whole))
      }
      wait = state.lanes.end(id, in: item.lane, isDelayed: delay != nil)
      return state.takeWaiting()
    }
    for continuation in waiting { continuation.resume() }
    if let pause = outcome.retryAfter { after(pause) { $0.pauses -= 1 } }
    if let delay, let wait { after(delay) { $0.lanes.wake(item.lane, from: wait) } }
  }

  // MARK: Waiting

  /// Changes something after a while, or when the outbox stops, and goes on.
  private func after(_ duration: Duration, _ body: @escaping @Sendable (inout OutboxState) -> Void) {
    begin { [weak self, clock] in
      try? await clock.sleep(for: duration)
      self?.state.withLock { body(&$0) }
      self?.sendNext()
    }
  }

  /// Starts a task that a stop cancels.
  func begin(_ body: @escaping @Sendable () async -> Void) {
    let number = state.withLock { state in
      let number = state.takeNumber()
      state.waits[number] = .some(nil)
      return number
    }
    let task = Task { [weak self] in
      await body()
      self?.state.withLock { _ = $0.waits.removeValue(forKey: number) }
    }
    let isLate = state.withLock { state in
      if state.waits[number] != nil { state.waits[number] = task }
      return !state.isStarted
    }
    if isLate { task.cancel() }
  }
}
