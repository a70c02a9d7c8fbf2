/// The waiting notices, oldest first, and whether they are being delivered. A pure state machine.
struct Line<Notice> {
  private var waiting = FIFO<Notice>()
  /// Whether a thread delivers notices, or will.
  private(set) var isServed = false

  var isEmpty: Bool { waiting.isEmpty }
  /// Whether no notice waits, and none is being delivered.
  var isIdle: Bool { isEmpty && !isServed }
  var count: Int { waiting.count }

  mutating func enqueue(_ notice: Notice) { waiting.append(notice) }

  /// Begins serving if necessary. Returns `true` if the caller is to deliver, or to let a thread deliver.
  mutating func serve() -> Bool {
    guard !isServed, !isEmpty else { return false }
    isServed = true
    return true
  }

  /// Begins serving although nothing waits. Returns `false` if another thread serves, or a notice waits.
  mutating func begin() -> Bool {
    guard isIdle else { return false }
    isServed = true
    return true
  }

  /// Ends serving. Returns `true` if the caller is to go on, because another notice waits.
  mutating func goOn() -> Bool {
    if isEmpty { isServed = false }
    return isServed
  }

  /// The oldest notice, which stays in the line.
  var next: Notice? { waiting.first }

  /// Whether the oldest notice meets a condition.
  func isNext(_ isWanted: (Notice) -> Bool) -> Bool { waiting.first.map(isWanted) ?? false }

  mutating func takeFirst() -> Notice? { waiting.takeFirst() }
}
