public import Synchronization

/// What the store keeps of one entity, whatever its type: its place in the graph of occurrences, and who is interested.
///
/// Invariants, checked by `EntityStore._checkInvariants()`:
/// - an edge stands in the parent's `children` and in the child's `parents`, each knowing the other's index;
/// - a dirty edge makes its parent dirty; a node that is `marked` has only dirty edges above it, up to the top;
/// - outside a transaction, a node with subscribers is clean.
// Unchecked, because the compiler cannot see what a lock guards: every variable is used only while the engine's lock is
// held; `begun` and `ceased` are atomic.
@usableFromInline class Node: @unchecked Sendable {
  @usableFromInline struct Flags: OptionSet {
    @usableFromInline let rawValue: UInt16
    @usableFromInline init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The entity is stored; without it the node only waits for it, or keeps the last value for an observer.
    @inlinable static var exists: Flags { Flags(rawValue: 1 << 0) }
    /// What the value shows of its children may be old.
    @inlinable static var dirty: Flags { Flags(rawValue: 1 << 1) }
    /// All ancestors are dirty already.
    @inlinable static var marked: Flags { Flags(rawValue: 1 << 2) }
    /// Among those to be told when the transaction commits.
    @inlinable static var candidate: Flags { Flags(rawValue: 1 << 3) }
    /// Among those whose reason to live is to be examined.
    @inlinable static var suspect: Flags { Flags(rawValue: 1 << 4) }
    /// The node is in a cycle of occurrences, or above one: its value is made for it alone.
    @inlinable static var rooted: Flags { Flags(rawValue: 1 << 5) }
    /// The value was brought up to date inside an open transaction.
    @inlinable static var tainted: Flags { Flags(rawValue: 1 << 6) }
    /// An alias that was given something to name.
    @inlinable static var registered: Flags { Flags(rawValue: 1 << 7) }
    /// Found to be in danger while cycles are examined.
    @inlinable static var doubtful: Flags { Flags(rawValue: 1 << 8) }
    /// The children changed since cycles were last looked for.
    @inlinable static var restructured: Flags { Flags(rawValue: 1 << 9) }
    /// Lies in its table's slots (and not among those awaited, which have no value yet).
    @inlinable static var tabled: Flags { Flags(rawValue: 1 << 10) }
    /// Written in the open transaction.
    @inlinable static var written: Flags { Flags(rawValue: 1 << 12) }
    /// The value was never committed: its birth is undone, for good or for somebody else to read.
    @inlinable static var unborn: Flags { Flags(rawValue: 1 << 11) }
  }

  @usableFromInline final let tableReference: Unmanaged<AnyTable>
  @exclusivity(unchecked) @usableFromInline final var flags: Flags = []
  /// How many observers and alias registrations have begun to keep the entity, and how many have ceased to. Two numbers, so
  /// that all but the last may cease without the lock; the first changes only with it.
  @usableFromInline final let begun = Atomic<Int32>(0)
  @usableFromInline final let ceased = Atomic<Int32>(0)
  @exclusivity(unchecked) @usableFromInline final var stamp: Stamp = -.infinity
  @exclusivity(unchecked) final var parents = ParentList()
  /// `nil` for an entity without occurrences below it.
  @exclusivity(unchecked) @usableFromInline final var children: ChildList?
  /// One parent that is known to be alive by a path that does not come through here. Only for types that can form cycles.
  @exclusivity(unchecked) @usableFromInline unowned(unsafe) final var keeper: Node?
  @exclusivity(unchecked) @usableFromInline final var subscribers: ContiguousArray<AnySubscriber> = []
  /// The last writing call that met the entity, and the index of its winning item in that call.
  @exclusivity(unchecked) @usableFromInline final var callSerial: UInt32 = 0
  @exclusivity(unchecked) @usableFromInline final var callItem: Int32 = 0
  /// The last savepoint for which the node's state is in the journal.
  @exclusivity(unchecked) @usableFromInline final var journalMark: UInt32 = 0
  @exclusivity(unchecked) @usableFromInline final var hash: UInt32 = 0

  @usableFromInline init(table: AnyTable) { tableReference = Unmanaged.passUnretained(table) }

  /// The table, which the engine keeps.
  @inlinable @inline(__always) final var table: AnyTable { tableReference.takeUnretainedValue() }
  @inlinable @inline(__always) final var tableID: ObjectIdentifier {
    withTable { ObjectIdentifier($0) }
  }

  /// Works with the table without counting the reference.
  @inlinable @inline(__always) final func withTable<R>(_ body: (AnyTable) -> R) -> R {
    tableReference._withUnsafeGuaranteedRef(body)
  }

  /// Works with the engine without counting the reference.
  @inlinable @inline(__always) final func withEngine<R>(_ body: (Engine) -> R) -> R {
    withTable { $0.engineReference._withUnsafeGuaranteedRef(body) }
  }

  /// Observers and alias registrations that keep the entity. As long as there is one, the node lies in its table.
  @inlinable @inline(__always) final var holders: Int32 {
    begun.load(ordering: .relaxed) &- ceased.load(ordering: .acquiring)
  }

  /// One more keeps the entity. The lock is held.
  @inlinable @inline(__always) final func addHolder() {
    begun.store(begun.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
  }

  /// One less keeps the entity. The lock is held.
  @usableFromInline final func removeHolder() { ceased.add(1, ordering: .relaxed) }

  /// One less keeps the entity, unless it is the last. Needs no lock.
  @inlinable @inline(__always) final func removeHolderButTheLast() -> Bool {
    while true {
      let old = ceased.load(ordering: .relaxed)
      guard begun.load(ordering: .relaxed) &- old > 1 else { return false }
      if ceased.compareExchange(expected: old, desired: old &+ 1, ordering: .releasing).exchanged { return true }
    }
  }

  @usableFromInline final func addSubscriber(_ subscriber: AnySubscriber) {
    subscriber.position = subscribers.count
    subscribers.append(subscriber)
  }

  /// The last takes the place of the one removed, so that thousands who leave need no search.
  final func removeSubscriber(_ subscriber: AnySubscriber) {
    let position = subscriber.position
    guard subscribers.indices.contains(position), subscribers[position] === subscriber else { return }
    subscribers.swapAt(position, subscribers.count - 1)
    subscribers[position].position = position
    subscribers.removeLast()
  }

  @inlinable @inline(__always) final var exists: Bool { flags.contains(.exists) }
  @inlinable @inline(__always) final var isDirty: Bool { flags.contains(.dirty) }
  @usableFromInline final var hasParents: Bool { !parents.isEmpty }
}

/// What the journal keeps of a node.
@usableFromInline class NodeState {
  @usableFromInline final let stamp: Stamp
  @usableFromInline final let flags: Node.Flags
  @usableFromInline final let children: ChildSnapshot?
  @usableFromInline init(stamp: Stamp, flags: Node.Flags, children: ChildSnapshot?) {
    self.stamp = stamp
    self.flags = flags
    self.children = children
  }
}
