import Concord

/// Executes actions when they are due: never two of one kind at once.
///
/// What becomes due while one of the kind waits or runs is done afterwards, once. Only an interval that ends while its own action
/// waits or runs is left out.
final class ScheduleKeeper: Sendable {
  /// Executes an action, and calls back when it has finished.
  typealias Execute = @Sendable (_ whenFinished: @escaping @Sendable () -> Void) throws -> Void

  private let clock: any Clock<Duration>
  private let reachability: any Reachability
  private let report: @Sendable (any Error) -> Void
  private let state = Locked(State())

  private struct State {
    var isStarted = false
    /// The number of starts. A wait that began before a stop is void, also after another start.
    var starts = 0
    var entries: [Int: Entry] = [:]
    var nextNumber = 0
    var kinds: [ObjectIdentifier: Kind] = [:]
  }

  private struct Entry {
    let kind: ObjectIdentifier
    let triggers: [ScheduleTrigger]
    let execute: Execute
    var waits: [Wait] = []
    /// Whether the reason why the action cannot be executed was reported.
    var isReported = false
  }

  /// A wait for a trigger.
  fileprivate struct Wait {
    let cancel: @Sendable () -> Void
    /// Whether its time has come, and it has not woken yet.
    var isBehind: @Sendable () -> Bool = { false }
  }

  /// The state of a type of actions, one of which waits or runs.
  private struct Kind {
    /// The schedule whose action that is.
    let number: Int
    /// The schedules that are to be executed afterwards, each once.
    var next: [Int] = []
  }

  init(
    clock: any Clock<Duration>, reachability: any Reachability, report: @escaping @Sendable (any Error) -> Void
  ) {
    self.clock = clock
    self.reachability = reachability
    self.report = report
  }

  deinit { for entry in state.withLock({ $0.entries.values }) { entry.waits.forEach { $0.cancel() } } }

  /// Whether an interval has ended, and its action was not given to be executed yet.
  var isBehind: Bool { state.withLock { $0.entries.values.flatMap(\.waits) }.contains { $0.isBehind() } }

  /// Whether the end of an action that was given to be executed is not known yet.
  var isExecuting: Bool { state.withLock { !$0.kinds.isEmpty } }

  func add(_ type: any Action.Type, _ triggers: [ScheduleTrigger], _ execute: @escaping Execute) -> Schedule {
    let entry = Entry(kind: ObjectIdentifier(type), triggers: triggers, execute: execute)
    let (number, start) = state.withLock { state in
      state.nextNumber += 1
      state.entries[state.nextNumber] = entry
      return (state.nextNumber, state.isStarted ? state.starts : nil)
    }
    if let start { begin(number, start) }
    return Schedule { [weak self] in self?.remove(number) }
  }

  private func remove(_ number: Int) {
    let entry = state.withLock { $0.entries.removeValue(forKey: number) }
    entry?.waits.forEach { $0.cancel() }
  }

  func start() {
    let (numbers, start) = state.withLock { state in
      state.isStarted = true
      state.starts += 1
      return (state.entries.keys.sorted(), state.starts)
    }
    for number in numbers { begin(number, start) }
  }

  func stop() {
    let waits = state.withLock { state in
      state.isStarted = false
      for kind in state.kinds.keys { state.kinds[kind]?.next = [] }
      return state.entries.keys.flatMap { number in
        defer { state.entries[number]?.waits = [] }
        return state.entries[number]?.waits ?? []
      }
    }
    for wait in waits { wait.cancel() }
  }

  /// Begins to wait for what makes an action due.
  private func begin(_ number: Int, _ start: Int) {
    guard let triggers = state.withLock({ $0.entries[number]?.triggers }) else { return }
    var waits: [Wait] = []
    for trigger in Set(triggers) {
      switch trigger {
      case .atStart: break
      case .every(let interval): waits.append(repeating(number, start, interval))
      case .whenReachable: waits.append(following(number, start))
      }
    }
    let isLate = state.withLock { state in
      guard state.isStarted, state.starts == start, state.entries[number] != nil else { return true }
      state.entries[number]?.waits += waits
      return false
    }
    if isLate { return waits.forEach { $0.cancel() } }
    if triggers.contains(.atStart) { isDue(number, since: start) }
  }

  private func repeating(_ number: Int, _ start: Int, _ interval: Duration) -> Wait {
    clock.repeating(interval) { [weak self] in
      guard let self else { return false }
      isDue(number, since: start, comesAgain: true)
      return true
    }
  }

  private func following(_ number: Int, _ start: Int) -> Wait {
    if let reachability = reachability as? any ImmediateReachability {
      return Wait(
        cancel: reachability.follow { [weak self] isReachable in
          if isReachable { self?.isDue(number, since: start) }
        })
    }
    let states = reachability.states
    let task = Task { [weak self] in
      var wasReachable = true
      for await isReachable in states {
        defer { wasReachable = isReachable }
        if isReachable, !wasReachable { self?.isDue(number, since: start) }
      }
    }
    return Wait(cancel: { task.cancel() })
  }

  /// - Parameter start: the one since which it was awaited.
  private func isDue(_ number: Int, since start: Int, comesAgain: Bool = false) {
    let execute = state.withLock { state -> (ObjectIdentifier, Execute)? in
      guard state.isStarted, state.starts == start, let entry = state.entries[number] else { return nil }
      if let kind = state.kinds[entry.kind] {
        // Its own interval comes again; that of another may always end while this one runs.
        let isLeftOut = comesAgain && kind.number == number
        if !isLeftOut, !kind.next.contains(number) { state.kinds[entry.kind]?.next.append(number) }
        return nil
      }
      state.kinds[entry.kind] = Kind(number: number)
      return (entry.kind, entry.execute)
    }
    if let execute { run(execute.1, execute.0, of: number, since: start) }
  }

  private func run(_ execute: Execute, _ kind: ObjectIdentifier, of number: Int, since start: Int) {
    do {
      try execute { [weak self] in self?.didFinish(kind) }
    } catch {
      didFinish(kind)
      didFail(number, since: start, error)
    }
  }

  /// Reports why an action cannot be executed, once for each schedule.
  private func didFail(_ number: Int, since start: Int, _ error: any Error) {
    if error is CancellationError { return }
    let isNew = state.withLock { state in
      // If it was stopped meanwhile, the next start begins anew.
      guard state.isStarted, state.starts == start, state.entries[number]?.isReported == false else { return false }
      state.entries[number]?.isReported = true
      return true
    }
    if isNew { report(error) }
  }

  private func didFinish(_ kind: ObjectIdentifier) {
    let (next, start) = state.withLock { state in (state.kinds.removeValue(forKey: kind)?.next ?? [], state.starts) }
    // The first begins, and the rest wait for it again.
    for number in next { isDue(number, since: start) }
  }
}

// A function of the clock, since one that takes it cannot be called with `any Clock` where Foundation is visible.
extension Clock<Duration> {
  /// Calls a closure whenever an interval has ended, until it returns `false`.
  fileprivate func repeating(_ interval: Duration, _ body: @escaping @Sendable () -> Bool) -> ScheduleKeeper.Wait {
    // Longer than a century is too long for some clocks.
    let interval = min(max(interval, .milliseconds(1)), .seconds(36_500 * 86_400))
    // The interval begins now, and not when the task does.
    let deadline = Locked<Instant?>(now.advanced(by: interval))
    let task = Task {
      // It sleeps no more.
      defer { deadline.withLock { $0 = nil } }
      while let end = deadline.withLock({ $0 }) {
        guard (try? await sleep(until: end, tolerance: nil)) != nil, !Task.isCancelled, body() else { return }
        deadline.withLock { $0 = now.advanced(by: interval) }
      }
    }
    return ScheduleKeeper.Wait(cancel: { task.cancel() }) { deadline.withLock { $0.map { $0 <= now } ?? false } }
  }
}
