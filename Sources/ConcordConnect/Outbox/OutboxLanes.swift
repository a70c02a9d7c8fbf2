import ConcordPersistence

/// The order of sending: within a lane one action after the other, lanes concurrently.
struct OutboxLanes {
  /// An entity.
  struct Key: Hashable, Sendable {
    let entity: String
    let id: StoredValue
  }

  private struct Lane {
    var actions = OrderedQueue<OutboxID>()
    /// The actions that are not sent, and hold up later ones.
    var blocking: Set<OutboxID> = []
    var busy: OutboxID?
    /// The number of the wait after a failure; `nil` if the lane does not wait.
    var wait: Int?
    /// Whether the lane stands in `ready`.
    var isReady = false

    /// Whether there is something to be sent, now or later.
    var isOpen: Bool { actions.first.map { !blocking.contains($0) } ?? false }
    var canBegin: Bool { isOpen && busy == nil && wait == nil }
    var isEmpty: Bool { actions.isEmpty && busy == nil }
  }

  private var lanes: [Key: Lane] = [:]
  private var ready: [Key] = []
  private var firstReady = 0
  private var openLanes = 0
  private var lastWait = 0

  /// Whether nothing is left to be sent.
  var isIdle: Bool { openLanes == 0 }

  /// In place: a copy of a lane would cost as much as it has actions.
  private mutating func change<R>(_ key: Key, _ body: (inout Lane) -> R) -> R {
    let wasOpen = lanes[key]?.isOpen ?? false
    let result = body(&lanes[key, default: Lane()])
    lineUp(key, wasOpen: wasOpen)
    return result
  }

  private mutating func lineUp(_ key: Key, wasOpen: Bool) {
    var isGone = false
    func update(_ lane: inout Lane) -> (isOpen: Bool, isNew: Bool) {
      // What comes next is another action, which has not failed.
      if lane.isEmpty { lane.wait = nil }
      let isNew = lane.canBegin && !lane.isReady
      if isNew { lane.isReady = true }
      // A lane that stands in the line is looked at again when its turn comes.
      isGone = lane.isEmpty && !lane.isReady
      return (lane.isOpen, isNew)
    }
    let (isOpen, isNew) = update(&lanes[key, default: Lane()])
    if isOpen != wasOpen { openLanes += isOpen ? 1 : -1 }
    if isNew { ready.append(key) }
    if isGone { lanes[key] = nil }
  }

  /// Adds an action, or changes whether it blocks.
  mutating func set(_ action: OutboxID, in key: Key, isBlocking: Bool) {
    change(key) { lane in
      lane.actions.insert(action)
      if isBlocking { lane.blocking.insert(action) } else { lane.blocking.remove(action) }
    }
  }

  mutating func remove(_ action: OutboxID, in key: Key) {
    guard lanes[key] != nil else { return }
    change(key) { lane in
      lane.actions.remove(action)
      lane.blocking.remove(action)
    }
  }

  /// Begins the next action of the lane that has waited longest.
  ///
  /// - Parameter mayBegin: whether an action may be sent at all. A lane whose turn it is and whose action may not leaves the line until
  ///   ``lineUpAll()``, or until it is changed.
  mutating func next(where mayBegin: (OutboxID) -> Bool = { _ in true }) -> (action: OutboxID, key: Key)? {
    while let key = ready.popFirst(from: &firstReady) {
      lanes[key]?.isReady = false
      guard let lane = lanes[key] else { continue }
      guard lane.canBegin, let action = lane.actions.first else {
        if lane.isEmpty { lanes[key] = nil }
        continue
      }
      guard mayBegin(action) else { continue }
      lanes[key]?.busy = action
      return (action, key)
    }
    return nil
  }

  /// Ends what ``next(where:)`` began.
  ///
  /// - Returns: the number of the wait that begins, if the lane is delayed.
  @discardableResult
  mutating func end(_ action: OutboxID, in key: Key, isDelayed: Bool) -> Int? {
    guard lanes[key]?.busy == action else { return nil }
    lastWait += 1
    let wait = isDelayed ? lastWait : nil
    change(key) { lane in
      lane.busy = nil
      lane.wait = wait
    }
    return wait
  }

  /// Ends a wait after a failure, unless the lane has begun another one; without a number, ends the present wait.
  mutating func wake(_ key: Key, from wait: Int? = nil) {
    guard let lane = lanes[key], wait == nil || lane.wait == wait else { return }
    change(key) { $0.wait = nil }
  }

  /// Lines up all lanes that left the line because their actions could not be sent.
  mutating func lineUpAll() { for key in Array(lanes.keys) { change(key) { _ in } } }

  /// Ends all waits, and lines all lanes up again.
  mutating func wakeAll() { for key in Array(lanes.keys) { wake(key) } }
}
