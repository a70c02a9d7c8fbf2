/// Notices that wait, oldest first, and who delivers them: a pure state machine.
struct Line<Notice> {
  private var waiting: ContiguousArray<Notice?> = []
  private var first = 0
  /// Somebody delivers, or will.
  private(set) var isServed = false

  var isEmpty: Bool { first == waiting.count }
  /// Nothing waits, and nobody is being told.
  var isIdle: Bool { isEmpty && !isServed }
  var count: Int { waiting.count - first }

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
  var next: Notice? { first < waiting.count ? waiting[first] : nil }

  /// Whether there is one, and the oldest is as wanted.
  func isNext(_ isWanted: (Notice) -> Bool) -> Bool {
    guard first < waiting.count, let notice = waiting[first] else { return false }
    return isWanted(notice)
  }

  mutating func takeFirst() -> Notice? {
    guard first < waiting.count else { return nil }
    // Most often there is one.
    if waiting.count == 1 { return waiting.removeLast() }
    let notice = waiting[first].take()
    first += 1
    if first == waiting.count {
      waiting.removeAll(keepingCapacity: true)
      first = 0
    } else if first >= 1024, first * 2 > waiting.count {
      waiting.removeFirst(first)
      waiting.shrink(beyond: 4_096)
      first = 0
    }
    return notice
  }
}
