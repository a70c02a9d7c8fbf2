/// The state of one observer's notices: changes that were not delivered yet make one notice. A pure state machine, whose
/// methods return what is to be done.
struct NoticeCoalescing {
  enum Phase { case starting, active, paused, ended }

  private(set) var phase = Phase.starting
  /// Whether a notice waits in the line.
  private(set) var isPending = false
  /// Whether the value changed while no notice could be delivered.
  private(set) var hasMissed = false
  private var pausesWhenStarted = false
  /// Whether the next notice is the first of all, or the first after a pause. It is delivered also if the entity was removed
  /// meanwhile, with its last value.
  private(set) var tellsLast = false
  /// Whether the waiting notice is discarded, because the entity was removed with all others since.
  private var isDropped = false

  /// Handles a change of the value. Returns `true` to enqueue a notice: if there is none yet, or if each state is delivered
  /// (`isBuffered`).
  mutating func change(isBuffered: Bool) -> Bool {
    isDropped = false
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

  /// Handles the turn of the notice. Returns `true` to deliver it.
  mutating func take() -> Bool {
    isPending = false
    switch phase {
    case .active: return true
    case .starting, .paused:
      if !isDropped { hasMissed = true }
      return false
    case .ended: return false
    }
  }

  /// Handles the return of the first call. Returns `true` to enqueue a notice of changes that were missed meanwhile.
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

  /// Whether the observer is paused, or will be when it has started.
  var isPaused: Bool { phase == .paused || pausesWhenStarted }

  /// Ends a pause. Returns `true` to enqueue a notice of missed changes: if none waits since before the pause, or if each
  /// state is delivered.
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

  /// Discards missed changes, which have cancelled each other out.
  mutating func forgetMissed() { hasMissed = false }

  /// Postpones the first call to the observer's turn.
  mutating func putOffFirst() {
    guard phase == .starting else { return }
    hasMissed = true
    tellsLast = true
  }

  /// Notes that the value to be delivered was read.
  mutating func didTake() { tellsLast = false }

  /// Returns whether the value that was read is still to be delivered: another callback of the same turn may have paused or
  /// ended this observer.
  mutating func tell() -> Bool {
    if phase == .paused { hasMissed = true }
    return phase == .active
  }

  /// Discards the last value of an entity that was removed with all others, also for when a pause ends.
  mutating func drop() {
    tellsLast = false
    isDropped = true
    if isPaused { hasMissed = false }
  }

  /// Ends the observer. Returns `false` if it had already ended.
  mutating func end() -> Bool {
    guard phase != .ended else { return false }
    phase = .ended
    return true
  }
}
