import ConcordPersistence

/// Which action is to be sent next: in order within a lane, lanes beside each other.
struct OutboxLanes {
  /// An entity.
  struct Key: Hashable, Sendable {
    let entity: String
    let id: StoredValue
  }

  private struct Lane {
    /// In order.
    var numbers: [Int64] = []
    /// Those that are not sent, and hold up what comes after them.
    var blocking: Set<Int64> = []
    var busy: Int64?
    /// Which wait after a failure it is in; `nil` if it is in none.
    var wait: Int?
    /// Whether it stands in `ready`.
    var isReady = false

    /// Whether there is something to be sent, now or later.
    var isOpen: Bool { numbers.first.map { !blocking.contains($0) } ?? false }
    var canBegin: Bool { isOpen && busy == nil && wait == nil }
    var isEmpty: Bool { numbers.isEmpty && busy == nil }
  }

  private var lanes: [Key: Lane] = [:]
  private var ready: [Key] = []
  private var firstReady = 0
  private var openLanes = 0
  private var lastWait = 0

  /// Whether nothing is left to be sent.
  var isIdle: Bool { openLanes == 0 }

  private mutating func change(_ key: Key, _ body: (inout Lane) -> Void) {
    var lane = lanes[key] ?? Lane()
    let wasOpen = lane.isOpen
    body(&lane)
    // What comes next is another action, which has not failed.
    if lane.isEmpty { lane.wait = nil }
    if lane.isOpen != wasOpen { openLanes += lane.isOpen ? 1 : -1 }
    if lane.canBegin, !lane.isReady {
      lane.isReady = true
      ready.append(key)
    }
    // A lane that stands in the line is looked at again when its turn comes.
    lanes[key] = lane.isEmpty && !lane.isReady ? nil : lane
  }

  /// Adds an action, or changes whether it blocks.
  mutating func set(_ number: Int64, in key: Key, isBlocking: Bool) {
    change(key) { lane in
      let position = lane.numbers.firstIndex { $0 >= number } ?? lane.numbers.endIndex
      if position == lane.numbers.endIndex || lane.numbers[position] != number {
        lane.numbers.insert(number, at: position)
      }
      if isBlocking { lane.blocking.insert(number) } else { lane.blocking.remove(number) }
    }
  }

  mutating func remove(_ number: Int64, in key: Key) {
    guard lanes[key] != nil else { return }
    change(key) { lane in
      if let position = lane.numbers.firstIndex(of: number) { lane.numbers.remove(at: position) }
      lane.blocking.remove(number)
    }
  }

  /// Begins the next action of the lane that has waited longest.
  mutating func next() -> (number: Int64, key: Key)? {
    while let key = ready.popFirst(from: &firstReady) {
      var begun: Int64?
      lanes[key]?.isReady = false
      change(key) { lane in
        guard lane.canBegin, let number = lane.numbers.first else { return }
        lane.busy = number
        begun = number
      }
      if let begun { return (begun, key) }
    }
    return nil
  }

  /// Ends what ``next()`` began.
  ///
  /// - Returns: the number of the wait that begins, if the lane is delayed.
  @discardableResult
  mutating func end(_ number: Int64, in key: Key, isDelayed: Bool) -> Int? {
    guard lanes[key]?.busy == number else { return nil }
    lastWait += 1
    let wait = isDelayed ? lastWait : nil
    change(key) { lane in
      lane.busy = nil
      lane.wait = wait
    }
    return wait
  }

  /// Ends a wait after a failure, unless the lane is in another one by now; without a number, whichever it is in.
  mutating func wake(_ key: Key, from wait: Int? = nil) {
    guard let lane = lanes[key], wait == nil || lane.wait == wait else { return }
    change(key) { $0.wait = nil }
  }

  mutating func wakeAll() { for key in Array(lanes.keys) { wake(key) } }
}
