/// What one observer is to be told, and whether: changes that it has not been told of make one notice. A pure state machine: each
/// method says what is to be done.
struct NoticeCoalescing {
  enum Phase { case starting, active, paused, ended }

  private(set) var phase = Phase.starting
  /// A notice waits in the line.
  private(set) var isPending = false
  /// The value changed while nothing could be told.
  private(set) var hasMissed = false
  private var pausesWhenStarted = false
  /// The next notice is the first of all, or the first after a pause. It comes also if the entity was removed meanwhile, with the
  /// last value that it had.
  private(set) var tellsLast = false

  /// The value changed. `true` to enqueue a notice: if there is none yet, or if each state is told (`isBuffered`).
  mutating func change(isBuffered: Bool) -> Bool {
    switch phase {
    case .ended: return false
    case .starting, .paused:
      hasMissed = true
      return false
    case .active:
      defer { isPending = true }
      return isBuffered || !isPending
    }
  }

  /// The notice's turn has come. `true` to tell it.
  mutating func take() -> Bool {
    isPending = false
    switch phase {
    case .active: return true
    case .starting, .paused:
      hasMissed = true
      return false
    case .ended: return false
    }
  }

  /// The first call has returned. `true` to enqueue what was missed meanwhile.
  mutating func start() -> Bool {
    guard phase == .starting else { return false }
    phase = pausesWhenStarted ? .paused : .active
    guard phase == .active, hasMissed else { return false }
    hasMissed = false
    isPending = true
    return true
  }

  mutating func pause() {
    switch phase {
    case .active: phase = .paused
    case .starting: pausesWhenStarted = true
    case .paused, .ended: break
    }
  }

  /// It is paused, or will be when it has started.
  var isPaused: Bool { phase == .paused || pausesWhenStarted }

  /// `true` to enqueue the newest of what was missed: if no notice waits since before the pause, or if each state is told.
  mutating func resume(isBuffered: Bool) -> Bool {
    pausesWhenStarted = false
    guard phase == .paused else { return false }
    phase = .active
    guard hasMissed else { return false }
    defer { isPending = true }
    hasMissed = false
    tellsLast = true
    return isBuffered || !isPending
  }

  /// What was missed has cancelled itself out.
  mutating func forgetMissed() { hasMissed = false }

  /// The first call comes in the observer's turn, too.
  mutating func putOffFirst() {
    guard phase == .starting else { return }
    hasMissed = true
    tellsLast = true
  }

  /// The value is taken that is to be told.
  mutating func didTake() { tellsLast = false }

  /// `true` to tell what was taken: another callback of the same turn may have paused or ended this one.
  mutating func tell() -> Bool {
    if phase == .paused { hasMissed = true }
    return phase == .active
  }

  /// The entity was removed with all others, and what was owed of it is not told.
  mutating func drop() { tellsLast = false }

  /// `false` if it had ended already.
  mutating func end() -> Bool {
    guard phase != .ended else { return false }
    phase = .ended
    return true
  }
}
