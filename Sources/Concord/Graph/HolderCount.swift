import Synchronization

/// The number of observers and alias registrations that hold an entity. Two counters, so that all but the last can be removed
/// without the store's lock, with which the first counter changes.
@usableFromInline struct HolderCount: ~Copyable {
  private let begun: Atomic<Int32>
  private let ended: Atomic<Int32>

  /// Creates a count of 0. Both counters may wrap around, and begin at `start`.
  init(startingAt start: Int32 = 0) {
    begun = Atomic(start)
    ended = Atomic(start)
  }

  /// The number of holders. Exact while the lock is held, except for those that are being removed.
  var count: Int32 { begun.load(ordering: .relaxed) &- ended.load(ordering: .acquiring) }

  /// Adds a holder. The lock is held.
  @usableFromInline func add() { begun.store(begun.load(ordering: .relaxed) &+ 1, ordering: .relaxed) }

  /// Removes a holder. The lock is held.
  func remove() { ended.add(1, ordering: .relaxed) }

  /// Removes a holder, unless it is the last. Returns whether it did. Needs no lock.
  @usableFromInline func removeUnlessLast() -> Bool {
    while true {
      let old = ended.load(ordering: .relaxed)
      guard begun.load(ordering: .relaxed) &- old > 1 else { return false }
      if ended.compareExchange(expected: old, desired: old &+ 1, ordering: .releasing).exchanged { return true }
    }
  }
}
