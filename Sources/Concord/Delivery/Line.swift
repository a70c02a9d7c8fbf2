/// Notices that wait, oldest first, and who delivers them: a pure state machine.
struct Line<Notice> {
  private var waiting = FIFO<Notice>()
  /// Somebody delivers, or will.
  private(set) var isServed = false

  var isEmpty: Bool { waiting.isEmpty }
  /// Nothing waits, and nobody is being told.
  var isIdle: Bool { isEmpty && !isServed }
  var count: Int { waiting.count }

  mutating func enqueue(_ notice: Notice) { waiting.append(notice) }

  /// `true` if the caller is to deliver, or to see that somebody does.
  mutating func serve() -> Bool {
    guard !isServed, !isEmpty else { return false }
    isServed = true
    return true
  }

  /// Begins to serve though nothing waits; `false` if somebody else serves, or something waits.
  mutating func begin() -> Bool {
    guard isIdle else { return false }
    isServed = true
    return true
  }

  /// Whoever serves has nothing more to do now. `true` to go on, because there is something after all.
  mutating func goOn() -> Bool {
    if isEmpty { isServed = false }
    return isServed
  }

  /// The oldest, without taking it.
  var next: Notice? { waiting.first }

  /// Whether there is one, and the oldest is as wanted.
  func isNext(_ isWanted: (Notice) -> Bool) -> Bool { waiting.first.map(isWanted) ?? false }

  mutating func takeFirst() -> Notice? { waiting.takeFirst() }
}
