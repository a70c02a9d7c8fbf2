#if Inspector
  import Concord
  import Foundation

  /// Records the transactions of a store, as far as the budget allows.
  final class Recorder: Sendable {
    private let state: Locked<State>
    private let inspection = Locked<StoreInspection?>(nil)

    private struct State {
      var log = TransactionLog()
      var budget = RecordingBudget(now: .now)
      var recordsEverything = false
      var hasEnded = false
      /// Whether the store tells of its transactions, as far as that was asked for.
      var isRecording = false
      /// Whether somebody is asking the store for that, or for the end of it.
      var isAdjusting = false
      /// The number of the pause that is on.
      var pause: Int?
      var pauses = 0
    }

    init() { state = Locked(State()) }

    /// Begins to record.
    ///
    /// - Returns: `false` if another inspector is attached to the store.
    func begin(_ store: EntityStore) -> Bool {
      let attached = store.beginInspection(trace: CallTrace.capture) { [weak self] in
        self?.noteHoldersLater()
      } _: { [weak self] in
        self?.didCommit($0)
      }
      guard let attached else { return false }
      inspection.withLock { $0 = attached }
      adjust()
      return true
    }

    /// Ends recording, and lets go of what was recorded.
    func end() {
      let log = state.withLock { state in
        state.hasEnded = true
        defer { state.log = TransactionLog() }
        return state.log
      }
      inspection.withLock { $0.take() }?.end()
      // Released here, and not under the lock: the values may own what has something to do when it goes.
      withExtendedLifetime(log) {}
    }

    var log: TransactionLog { state.withLock { $0.log } }
    var isPaused: Bool { state.withLock { !$0.isRecording } }

    /// Whether everything is recorded, whatever it costs.
    var recordsEverything: Bool {
      get { state.withLock { $0.recordsEverything } }
      set {
        let pause = state.withLock { state in
          state.recordsEverything = newValue
          return newValue ? state.pause : nil
        }
        if let pause { resume(pause) }
      }
    }

    /// A note takes some microseconds, so that a hundred in a tenth of a second are less than a hundredth of the time.
    private func noteHoldersLater() {
      Task { [weak self] in
        try? await Task.sleep(for: .milliseconds(100))
        self?.noteHolders()
      }
    }

    /// Has some more observers noted that hold an entity.
    func noteHolders() { inspection.withLock { $0 }?.noteHolders() }

    private func didCommit(_ set: ChangeSet) {
      let pause = state.withLock { state -> (Int, Duration)? in
        if state.hasEnded { return nil }
        state.log.append { number in
          LoggedTransaction(
            number: number, date: Date(), context: set.context?.name, changes: set.changes, commit: set.commit)
        }
        let length = state.budget.charge(set.commit?.duration ?? .zero, changes: set.changes.count, now: .now)
        guard let length, !state.recordsEverything, state.pause == nil else { return nil }
        state.pauses += 1
        state.pause = state.pauses
        return (state.pauses, length)
      }
      guard let (number, length) = pause else { return }
      adjust()
      Task { [weak self] in
        try? await Task.sleep(for: length)
        self?.resume(number)
      }
    }

    private func resume(_ pause: Int) {
      let isCurrent = state.withLock { state in
        guard state.pause == pause, !state.hasEnded else { return false }
        state.pause = nil
        state.budget.resume(now: .now)
        return true
      }
      if isCurrent { adjust() }
    }

    /// Asks the store for what is wanted by now. One thread does, and none waits for it: two that asked for opposites could be overtaken
    /// by each other.
    private func adjust() {
      while let isWanted = nextAdjustment() {
        inspection.withLock { $0 }?.record(isWanted)
        state.withLock { ($0.isRecording, $0.isAdjusting) = (isWanted, false) }
      }
    }

    private func nextAdjustment() -> Bool? {
      state.withLock { state in
        let isWanted = state.pause == nil
        if state.isAdjusting || state.hasEnded || state.isRecording == isWanted { return nil }
        state.isAdjusting = true
        return isWanted
      }
    }
  }
#endif
