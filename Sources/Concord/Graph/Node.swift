/// What the store keeps of one entity, whatever its type: its place in the graph of occurrences, and who is interested.
///
/// Invariants, checked by `Engine.checkInvariants()`:
/// - an edge stands in the parent's `children` and in the child's `parents`, each knowing the other's index;
/// - a dirty edge makes its parent dirty; a node whose ancestors `areMarked` has only dirty edges above it, up to the top;
/// - outside a transaction, a node with subscribers is clean.
class Node: @unchecked Sendable {  // every field is guarded by the engine's lock
  struct Flags: OptionSet {
    let rawValue: UInt16
    /// The entity is stored; without it the node only waits for it, or keeps the last value for an observer.
    static let exists = Flags(rawValue: 1 << 0)
    /// What the value shows of its children may be old.
    static let dirty = Flags(rawValue: 1 << 1)
    /// All ancestors are dirty already.
    static let marked = Flags(rawValue: 1 << 2)
    /// Among those to be told when the transaction commits.
    static let candidate = Flags(rawValue: 1 << 3)
    /// Among those whose reason to live is to be examined.
    static let suspect = Flags(rawValue: 1 << 4)
    /// The node is in a cycle of occurrences, or above one: its value is made for it alone.
    static let rooted = Flags(rawValue: 1 << 5)
    /// The value was brought up to date inside an open transaction.
    static let tainted = Flags(rawValue: 1 << 6)
    /// An alias that was given something to name.
    static let registered = Flags(rawValue: 1 << 7)
    /// Found to be in danger while cycles are examined.
    static let doubtful = Flags(rawValue: 1 << 8)
    /// The children changed since cycles were last looked for.
    static let restructured = Flags(rawValue: 1 << 9)
    /// Lies in its table's slots (and not among those awaited, which have no value yet).
    static let tabled = Flags(rawValue: 1 << 10)
    /// The value was never committed: its birth is undone, for good or for somebody else to read.
    static let unborn = Flags(rawValue: 1 << 11)
  }

  unowned(unsafe) final let table: AnyTable
  final var flags: Flags = []
  /// Observers, subscriptions and alias registrations that keep the entity.
  final var holders: Int32 = 0
  final var stamp: Stamp = -.infinity
  final var parents = ParentList()
  /// `nil` for an entity without occurrences below it.
  final var children: ChildList?
  /// One parent that is known to be alive by a path that does not come through here. Only for types that can form cycles.
  unowned(unsafe) final var keeper: Node?
  final var subscribers: ContiguousArray<AnySubscriber> = []
  /// The last writing call that met the entity, and the index of its winning item in that call.
  final var callSerial: UInt32 = 0
  final var callItem: Int32 = 0
  /// The last savepoint for which the node's state is in the journal.
  final var journalMark: UInt32 = 0
  final var hash: UInt32 = 0

  init(table: AnyTable) { self.table = table }

  @inline(__always) final var exists: Bool { flags.contains(.exists) }
  @inline(__always) final var isDirty: Bool { flags.contains(.dirty) }
}

/// What the journal keeps of a node.
class NodeState {
  final let stamp: Stamp
  final let flags: Node.Flags
  final let children: ChildSnapshot?
  init(stamp: Stamp, flags: Node.Flags, children: ChildSnapshot?) {
    self.stamp = stamp
    self.flags = flags
    self.children = children
  }
}
