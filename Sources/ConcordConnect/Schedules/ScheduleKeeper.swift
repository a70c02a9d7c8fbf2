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
  private let state = Locked(State())

  private struct State {
    var isStarted = false
    var entries: [Int: Entry] = [:]
    var nextNumber = 0
    var kinds: [ObjectIdentifier: Kind] = [:]
  }

  private struct Entry {
    let kind: ObjectIdentifier
    let triggers: [ScheduleTrigger]
    let execute: Execute
    var tasks: [Task<Void, Never>] = []
  }

  /// What is known of a type of actions, one of which waits or runs.
  private struct Kind {
    /// The schedule whose action that is.
    let number: Int
    /// Which schedules are to be executed afterwards, each once.
    var next: [Int] = []
  }

  init(clock: any Clock<Duration>, reachability: any Reachability) {
    self.clock = clock
    self.reachability = reachability
  }

  deinit { for entry in state.withLock({ $0.entries.values }) { entry.tasks.forEach { $0.cancel() } } }

  func add(_ type: any Action.Type, _ triggers: [ScheduleTrigger], _ execute: @escaping Execute) -> Schedule {
    let entry = Entry(kind: ObjectIdentifier(type), triggers: triggers, execute: execute)
    let (number, isStarted) = state.withLock { state in
      state.nextNumber += 1
      state.entries[state.nextNumber] = entry
      return (state.nextNumber, state.isStarted)
    }
    if isStarted { begin(number) }
    return Schedule { [weak self] in self?.remove(number) }
  }

  private func remove(_ number: Int) {
    let entry = state.withLock { $0.entries.removeValue(forKey: number) }
    entry?.tasks.forEach { $0.cancel() }
  }

  func start() {
    let numbers = state.withLock { state in
      state.isStarted = true
      return state.entries.keys.sorted()
    }
    for number in numbers { begin(number) }
  }

  func stop() {
    let tasks = state.withLock { state in
      state.isStarted = false
      for kind in state.kinds.keys { state.kinds[kind]?.next = [] }
      return state.entries.keys.flatMap { number in
        defer { state.entries[number]?.tasks = [] }
        return state.entries[number]?.tasks ?? []
      }
    }
    for task in tasks { task.cancel() }
  }

  /// Begins to wait for what makes an action due.
  private func begin(_ number: Int) {
    guard let triggers = state.withLock({ $0.entries[number]?.triggers }) else { return }
    var tasks: [Task<Void, Never>] = []
    for trigger in Set(triggers) {
      switch trigger {
      case .atStart: break
      case .every(let interval): tasks.append(repeating(number, interval))
      case .whenReachable: tasks.append(following(number))
      }
    }
    let isLate = state.withLock { state in
      guard state.isStarted, state.entries[number] != nil else { return true }
      state.entries[number]?.tasks += tasks
      return false
    }
    if isLate { return tasks.forEach { $0.cancel() } }
    if triggers.contains(.atStart) { isDue(number, comesAgain: false) }
  }

  private func repeating(_ number: Int, _ interval: Duration) -> Task<Void, Never> {
    // Longer than a century is too long for some clocks.
    let interval = min(max(interval, .milliseconds(1)), .seconds(36_500 * 86_400))
    return Task { [clock, weak self] in
      while (try? await clock.sleep(for: interval)) != nil, !Task.isCancelled {
        guard let self else { return }
        isDue(number, comesAgain: true)
      }
    }
  }

  private func following(_ number: Int) -> Task<Void, Never> {
    let states = reachability.states
    return Task { [weak self] in
      var wasReachable = true
      for await isReachable in states {
        defer { wasReachable = isReachable }
        if isReachable, !wasReachable { self?.isDue(number, comesAgain: false) }
      }
    }
  }

  private func isDue(_ number: Int, comesAgain: Bool) {
    let execute = state.withLock { state -> (ObjectIdentifier, Execute)? in
      guard state.isStarted, let entry = state.entries[number] else { return nil }
      if let kind = state.kinds[entry.kind] {
        // Its own interval comes again; that of another may always end while this one runs.
        let isLeftOut = comesAgain && kind.number == number
        if !isLeftOut, !kind.next.contains(number) { state.kinds[entry.kind]?.next.append(number) }
        return nil
      }
      state.kinds[entry.kind] = Kind(number: number)
      return (entry.kind, entry.execute)
    }
    if let execute { run(execute.1, execute.0) }
  }

  private func run(_ execute: Execute, _ kind: ObjectIdentifier) {
    do {
      try execute { [weak self] in self?.didFinish(kind) }
    } catch {
      // It was stopped meanwhile; the next start begins anew.
      didFinish(kind)
    }
  }

  private func didFinish(_ kind: ObjectIdentifier) {
    let next = state.withLock { state in state.kinds.removeValue(forKey: kind)?.next ?? [] }
    // The first begins, and the others wait for it again.
    for number in next { isDue(number, comesAgain: false) }
  }
}
