import Concord
import ConcordPersistence
import Dispatch

extension Outbox {
  private struct Begun {
    let item: OutboxState.Item
    let action: any ForwardAction
    let transport: any Transport
  }

  /// The outbox whose action is being sent.
  @TaskLocal static var current: Outbox?

  /// Begins to send what can be sent.
  func sendNext() {
    let begun = state.withLock { state -> [Begun] in
      guard state.canSend, let transport = state.transport else { return [] }
      var begun: [Begun] = []
      while state.running.count < state.policy.maximumConcurrentSends, let next = state.lanes.next() {
        guard let item = state.items[next.number], let action = item.action else {
          state.lanes.remove(next.number, in: next.key)
          state.lanes.end(next.number, in: next.key, isDelayed: false)
          continue
        }
        state.running[next.number] = .some(nil)
        running.enter()
        state.tell(.sending(state.entry(item)))
        begun.append(Begun(item: item, action: action, transport: transport))
      }
      return begun
    }
    for begun in begun { send(begun) }
  }

  private func send(_ begun: Begun) {
    let executor = ActionExecutor.shared
    executor.addThread()
    let number = begun.item.row.number
    let task = Task(executorPreference: executor) { [self] in
      let result: Result<Void, any Error>
      do {
        let key = IdempotencyKey(rawValue: begun.item.row.key)
        try await Self.$current.withValue(self) { try await begun.action.send(with: begun.transport, key: key) }
        result = .success(())
      } catch {
        result = .failure(error)
      }
      let outcome = OutboxOutcome(result, isCancelled: Task.isCancelled)
      await withCheckedContinuation { continuation in
        work.async {
          self.record(outcome, of: begun)
          continuation.resume()
        }
      }
      executor.removeThread()
      running.leave()
    }
    let isLate = state.withLock { state in
      if state.running[number] != nil { state.running[number] = task }
      return !state.isStarted
    }
    if isLate { task.cancel() }
  }

  // MARK: What came of it

  /// On the queue, one after another.
  private func record(_ outcome: OutboxOutcome, of begun: Begun) {
    var (outcome, row) = (outcome, begun.item.row)
    var isThere = true
    if case .failed(let error, _) = outcome, hasFailedTooOften(row) { outcome = .refused(reason: "\(error)") }
    do {
      switch outcome {
      case .accepted: isThere = try accept(begun)
      case .refused(let reason):
        (row.state, row.reason) = (.refused, reason)
        isThere = try coordinator.writeOutbox { writing in
          guard try isPending(row, writing) else { return false }
          try writing.writeOutbox(row)
          return true
        }
      case .failed, .cancelled: break
      }
    } catch {
      // It is sent again: the service knows it by its key.
      outcome = .failed(error, retryAfter: nil)
    }
    view.showOverlay()
    readChanges()
    if !isThere { readAll(unlessGone: row.number) }
    end(begun.item, outcome)
  }

  /// Somebody has taken a row out of the store without saying so. It would be sent again and again.
  private func readAll(unlessGone number: Int64) {
    let isKnown = state.withLock { state in
      guard state.items[number] != nil else { return false }
      state.version = nil
      return true
    }
    guard isKnown else { return }
    overlay.readAll()
    view.showOverlay()
    readChanges()
  }

  private func hasFailedTooOften(_ row: OutboxRow) -> Bool {
    state.withLock { state in
      guard let maximum = state.policy.maximumAttempts else { return false }
      return (state.failures[row.number]?.count ?? 0) + 1 >= maximum
    }
  }

  /// Whether an action is still to be sent: it may have been cleared.
  private func isPending(_ row: OutboxRow, _ reading: any RowWriting) throws -> Bool {
    guard let stored = try reading.outboxRow(row.number) else { return false }
    return stored.key == row.key && stored.state == .pending
  }

  /// Stores what an action changes, and that it was sent: one commit.
  ///
  /// - Returns: whether it was still to be sent.
  private func accept(_ begun: Begun) throws -> Bool {
    var row = begun.item.row
    (row.state, row.body) = (.sent, "")
    let sent = row
    // What the view has saved lies below it.
    try writePendingChanges()
    do {
      try coordinator.write(touching: try begun.action.keys(in: coordinator.model), begun.action.apply) { [self] in
        let (writing, keys) = ($0, $1)
        guard try isPending(sent, writing) else { throw Cleared() }
        overlay.willWrite(keys, for: sent.number)
        try writing.writeOutbox(sent)
      }
      return true
    } catch is Cleared {
      return false
    } catch let error where !StoreError.mayPass(error) {
      // The service has it. What is stored here is put right by what the service is asked for next.
      state.withLock { state in state.tell(.notApplied(state.entry(begun.item), error: error)) }
      return try coordinator.writeOutbox { [self] writing in
        guard try isPending(sent, writing) else { return false }
        overlay.willWrite([], for: sent.number)
        try writing.writeOutbox(sent)
        return true
      }
    }
  }

  private struct Cleared: Error {}

  private func end(_ item: OutboxState.Item, _ outcome: OutboxOutcome) {
    let number = item.row.number
    var generator = SystemRandomNumberGenerator()
    var delay: Duration?
    var wait: Int?
    var pause: Duration?
    let waiting = state.withLock { state in
      state.running[number] = nil
      if case .failed(let error, let retryAfter) = outcome, let present = state.items[number] {
        let failures = state.failures[number]?.count ?? 0
        state.failures[number] = .init(count: failures + 1, error: "\(error)")
        let whole = (retryAfter ?? .zero) + state.policy.backoff.delay(after: failures, using: &generator)
        delay = whole
        pause = retryAfter
        state.tell(.delayed(state.entry(present), error: error, by: whole))
      }
      wait = state.lanes.end(number, in: item.lane, isDelayed: delay != nil)
      return state.takeWaiting()
    }
    for continuation in waiting { continuation.resume() }
    if let pause { self.pause(pause) }
    if let delay, let wait { after(delay) { $0.lanes.wake(item.lane, from: wait) } }
    sendNext()
  }

  // MARK: Waiting

  /// Sends nothing for a while: the service wants to be left alone.
  private func pause(_ duration: Duration) {
    state.withLock { $0.pauses += 1 }
    after(duration) { $0.pauses -= 1 }
  }

  /// Changes something after a while, or when the outbox stops, and goes on.
  private func after(_ duration: Duration, _ body: @escaping @Sendable (inout OutboxState) -> Void) {
    begin { [weak self, clock] in
      try? await clock.sleep(for: duration)
      self?.state.withLock { body(&$0) }
      self?.sendNext()
    }
  }

  /// Begins what is cancelled by a stop.
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
