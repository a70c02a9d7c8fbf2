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
      let sent = state.sentStores
      var begun: [Begun] = []
      while state.running.count < state.policy.maximumConcurrentSends,
        let next = state.lanes.next(where: { sent.contains($0.attachment) })
      {
        guard let item = state.items[next.action], let action = item.action else {
          state.lanes.remove(next.action, in: next.key)
          state.lanes.end(next.action, in: next.key, isDelayed: false)
          continue
        }
        state.running[next.action] = .some(nil)
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
    let id = begun.item.id
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
      if state.running[id] != nil { state.running[id] = task }
      return !state.isStarted || state.leaving.contains(id.attachment)
    }
    if isLate { task.cancel() }
  }

  // MARK: What came of it

  /// On the queue, one after another.
  private func record(_ outcome: OutboxOutcome, of begun: Begun) {
    var (outcome, row) = (outcome, begun.item.row)
    var isThere = true
    if case .failed(let error, _) = outcome, hasFailedTooOften(begun.item.id, error) {
      outcome = .refused(reason: "\(error)")
    }
    do {
      switch outcome {
      case .accepted: isThere = try accept(begun)
      case .refused(let reason):
        (row.state, row.reason) = (.refused, reason)
        isThere = try coordinator.writeOutbox(of: begun.item.id.attachment) { writing in
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
    if !isThere { readAll(unlessGone: begun.item.id) }
    end(begun.item, outcome)
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

  /// Stores what an action changes, and that it was sent: one commit.
  ///
  /// - Returns: whether it was still to be sent.
  private func accept(_ begun: Begun) throws -> Bool {
    var row = begun.item.row
    (row.state, row.body) = (.sent, "")
    let sent = row
    // What the view has saved lies below it.
    try writePendingChanges()
    let id = begun.item.id
    do {
      try coordinator.write(
        outboxOf: id.attachment, touching: try begun.action.keys(in: coordinator.model), begun.action.apply
      ) { [self] writing, keys in
        guard try isPending(sent, writing) else { throw Cleared() }
        overlay.willWrite(keys, for: id)
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
    var pause: Duration?
    let waiting = state.withLock { state in
      state.running[id] = nil
      if !state.running.keys.contains(where: { $0.attachment == id.attachment }) {
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
        pause = retryAfter
        state.tell(.delayed(state.entry(present), error: error, by: whole))
      }
      wait = state.lanes.end(id, in: item.lane, isDelayed: delay != nil)
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
