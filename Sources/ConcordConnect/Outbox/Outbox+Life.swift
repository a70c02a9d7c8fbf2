import ConcordPersistence
import Dispatch

extension Outbox {
  /// Reads the outboxes of the attached stores, and shows their actions.
  func storesDidChange() {
    view.showOverlay()
    readChanges()
    beginHolding()
    carrier?.outboxDidChange()
  }

  /// Cancels the sending of a store's actions, and waits for its end. Actions without a response stay in the store.
  ///
  /// Does not wait if an action that is being sent calls it.
  ///
  /// - Returns: the argument for ``didDetach(_:)``.
  func willDetach(_ store: PersistentStore) -> StoreAttachment? {
    guard let attachment = coordinator.attachments.first(where: { $0.value == store })?.key else { return nil }
    let semaphore = DispatchSemaphore(value: 0)
    let tasks = state.withLock { state in
      state.leaving.insert(attachment)
      guard state.running.contains(of: attachment) else { return [Task<Void, Never>]?.none }
      state.leavers[attachment, default: []].append(semaphore)
      return state.running.tasks { $0.attachment == attachment }
    }
    guard let tasks else { return attachment }
    for task in tasks { task.cancel() }
    if Self.current !== self { semaphore.wait() }
    return attachment
  }

  /// A store has gone, or stays because it could not be detached.
  func didDetach(_ attachment: StoreAttachment?) {
    state.withLock { state in
      if let attachment { state.leaving.remove(attachment) }
      state.lanes.lineUpAll()
    }
    storesDidChange()
  }

  /// Sends from now on.
  func start(_ reachability: any Reachability) {
    // Nothing is sent until it is known whether it can be.
    state.withLock { ($0.isStarted, $0.isReachable) = (true, false) }
    readChanges()
    let states = reachability.states
    begin { [weak self] in
      var isKnown = false
      for await isReachable in states {
        isKnown = true
        self?.setReachable(isReachable)
      }
      // Who knows nothing holds nothing up.
      if !isKnown, !Task.isCancelled { self?.setReachable(true) }
    }
    beginHolding()
    carrier?.outboxDidChange()
  }

  // MARK: Being the one that sends

  /// Becomes the one that sends, for each store of which something may have to be sent, as soon as no other process is.
  func beginHolding() {
    let number = state.withLock { state -> Int? in
      guard state.isStarted else { return nil }
      state.mustHold = true
      guard state.holding == nil else { return nil }
      state.holding = state.takeNumber()
      return state.holding
    }
    guard let number else { return }
    begin { [weak self] in
      var wasReported = false
      // Other processes may end at any time. Waiting for that uses the system's clock, also in tests with another
      // clock.
      while !Task.isCancelled, let isDone = self?.takeHolds(number, &wasReported), !isDone {
        try? await Task.sleep(for: Self.holdInterval)
      }
    }
  }

  private static var holdInterval: Duration { .milliseconds(250) }

  /// - Parameters:
  ///   - number: the number of the calling loop.
  ///   - wasReported: whether a failure was reported, which happens once for all attempts.
  /// - Returns: whether the loop can end.
  private func takeHolds(_ number: Int, _ wasReported: inout Bool) -> Bool {
    state.withLock { $0.mustHold = false }
    var isComplete = true
    do {
      let home = coordinator.homeAttachment
      for (attachment, store) in coordinator.attachments {
        let isWanted = state.withLock { state in
          let store = state.stores[attachment]
          return store?.isHeld != true && (attachment == home || store?.count ?? 0 > 0)
        }
        guard isWanted else { continue }
        guard let hold = try store.rows.holdOutbox() else {
          isComplete = false
          continue
        }
        let isTaken = state.withLock { state in
          guard state.isStarted, state.holding == number else { return false }
          state.stores[attachment, default: .init()].hold = hold
          state.lanes.lineUpAll()
          return true
        }
        // What another process has sent, and could not note any longer, is sent again.
        if isTaken { readChanges() }
        if isTaken, attachment == home { carrier?.outboxDidChange() }
      }
    } catch {
      // A store that is being detached meanwhile is no failure.
      if !wasReported, !StoreError.isOfDetachedStore(error) {
        report(error)
        wasReported = true
      }
      isComplete = false
    }
    return state.withLock { state in
      guard state.holding == number else { return true }
      guard isComplete, !state.mustHold else { return false }
      state.holding = nil
      return true
    }
  }

  // MARK: Ending

  /// Waits until what was to be written before is written, unless what is being written calls it.
  func finishWriting() { if !work.isCurrent { work.sync {} } }

  /// Cancels all sending, and waits for its end. Actions without a response stay.
  func stop() {
    let tasks = state.withLock { state in
      (state.isStarted, state.isDetaching, state.holding, state.rereading) = (false, true, nil, nil)
      return state.waits.values.compactMap { $0 } + state.running.tasks
    }
    for task in tasks { task.cancel() }
    carrier?.outboxDidChange()
    running.wait()
    state.withLock { state in
      for attachment in state.stores.keys { state.stores[attachment]?.hold = nil }
      state.lanes.wakeAll()
    }
    // Another process may send from now on.
    carrier?.outboxDidChange()
  }

  /// The stores were detached after a stop, or could not be.
  func didStop() {
    state.withLock { $0.isDetaching = false }
    storesDidChange()
  }

  /// Ends it, when its connect is released.
  func end() {
    let (tasks, events, waiting) = state.withLock { state in
      (state.isStarted, state.hasEnded) = (false, true)
      for attachment in state.stores.keys { state.stores[attachment]?.hold = nil }
      return (state.waits.values.compactMap { $0 } + state.running.tasks, state.events, state.takeWaiting())
    }
    for continuation in waiting { continuation.resume() }
    for task in tasks { task.cancel() }
    carrier?.outboxDidChange()
    events.end()
  }

  func set(_ hold: ActionScheduler.Hold, _ isOn: Bool) {
    state.withLock { state in if isOn { state.holds.insert(hold) } else { state.holds.remove(hold) } }
    carrier?.outboxDidChange()
    sendNext()
  }

  private func setReachable(_ isReachable: Bool) {
    let isNew = state.withLock { state in
      defer { state.isReachable = isReachable }
      if isReachable, !state.isReachable { state.lanes.wakeAll() }
      return isReachable && !state.isReachable
    }
    if isNew { carrier?.outboxDidChange() }
    sendNext()
  }
}
