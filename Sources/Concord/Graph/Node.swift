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

  // MARK: What depends on the entity's type

  /// Puts the children's newest values where they stand, and forgets which were old.
  func patchDirtyChildren() { abstract() }
  /// The whole state, to come back to.
  func captureState() -> NodeState { abstract() }
  /// Goes back to a state; gives the one that was.
  func exchange(_ state: NodeState) -> NodeState { abstract() }
  /// Whether the present state is another, as observers see it.
  func differs(from state: NodeState) -> Bool { abstract() }
  /// Decides about a value that won in its call, and takes it if it is newer.
  func apply(_ item: inout WriteCall.Item, in call: WriteCall) { abstract() }
  /// Meets the entities inside an item's value.
  func walk(_ item: WriteCall.Item, in call: WriteCall) { abstract() }
  /// Whether the value is still the one at `previous`, although it was written.
  func isUnchanged(since previous: Int32) -> Bool { abstract() }
  /// Notes a value that a closure was given; `false` if it is known already.
  func note(givenAt staged: Int32, in call: WriteCall) -> Bool { abstract() }
  func readGivens(at staged: Int32, with reader: GivenReader) { abstract() }
  /// Takes occurrences out of the value; `false`, and nothing changed, if one is required.
  func takeOut(_ ordinals: [Int32], in engine: Engine) -> Bool { abstract() }
  /// Leaves the table for good.
  func leaveTable() { abstract() }
  /// Makes the shape with all relations, for inside a cycle; see `Engine+Cycles`.
  func makeNearForm(asRoot: Bool) { abstract() }
  /// Makes the shape without these occurrences.
  func makeFarForm(leavingOut ordinals: [Int32]) { abstract() }
  /// Those among the occurrences that cannot be left out.
  func required(among ordinals: [Int32]) -> [Int32] { abstract() }
  func dropForms() { abstract() }
  var debugID: String { abstract() }
  var entity: (any Identifiable & Sendable)? { abstract() }
  func logRelease(to logger: any EntityStoreLogger) -> (() -> Void)? { abstract() }

  /// Swift has no abstract classes; every node is an `EntityNode`, which overrides all of these.
  private func abstract() -> Never { fatalError("Node is abstract") }
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
