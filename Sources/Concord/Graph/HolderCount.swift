import Synchronization

/// How many observers and alias registrations hold an entity. Two numbers, so that all but the last may leave without the
/// store's lock; the first changes only with it.
@usableFromInline struct HolderCount: ~Copyable {
  private let begun: Atomic<Int32>
  private let ended: Atomic<Int32>

  /// Both numbers may wrap around; `start` is where they begin.
  init(startingAt start: Int32 = 0) {
    begun = Atomic(start)
    ended = Atomic(start)
  }

  /// How many there are. Exact while the lock is held, but for those that leave at this moment.
  var count: Int32 { begun.load(ordering: .relaxed) &- ended.load(ordering: .acquiring) }

  /// One more. The lock is held.
  @usableFromInline func add() { begun.store(begun.load(ordering: .relaxed) &+ 1, ordering: .relaxed) }

  /// One less. The lock is held.
  func remove() { ended.add(1, ordering: .relaxed) }

  /// One less, unless it is the last. Needs no lock.
  @usableFromInline func removeUnlessLast() -> Bool {
    while true {
      let old = ended.load(ordering: .relaxed)
      guard begun.load(ordering: .relaxed) &- old > 1 else { return false }
      if ended.compareExchange(expected: old, desired: old &+ 1, ordering: .releasing).exchanged { return true }
    }
  }
}
