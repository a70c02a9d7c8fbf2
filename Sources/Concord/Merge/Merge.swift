/// The merge of a written value, with all entities inside it, into the store.
///
/// Each call takes the same steps: *flatten* the value into a list of occurrences (`Flatten`), pick the *winner* among those
/// of each entity (`Winners`), and *apply* the winners, children first (`Apply`). An `update` is a three-way diff (`Diff`)
/// that produces the same list.
final class Merge {
  let graph: Graph
  let components: ComponentSearch
  let refresher: Refresher
  let reachability: Reachability
  let visitor: Visitor
  let occurrences: OccurrenceList
  let clock: StampClock
  let log: LogBuffer
  /// The written entities whose values are to be searched for entities in no relation. Used in debug builds only.
  let unrelated = UnrelatedEntities()
  /// Whether a call is being merged.
  @exclusivity(unchecked) private(set) var isActive = false
  /// The stamp of all that is written.
  @exclusivity(unchecked) var stamp = WriteStamp.none
  /// The clock has given a node its stamp, which may be raised further.
  @exclusivity(unchecked) var didGiveStamp: (Node) -> Void = { _ in }
  /// The entity an update is about, which has its stamp already.
  @exclusivity(unchecked) var target: Node?
  /// Whether the value is only visited, and not written, except for entities that are new to the store.
  @exclusivity(unchecked) private(set) var takesOnlyNew = false
  /// The fields that the incoming value may lack, an array of `OptionalField`; `nil` if missing parts are to be removed.
  @exclusivity(unchecked) var partialFields: Any?
  /// The base with which a closure's result is compared; `nil` if there was no closure.
  @exclusivity(unchecked) var base: Base?
  /// The entities in the base that are new to the store.
  @exclusivity(unchecked) var newNodes: Set<ObjectIdentifier> = []

  init(
    graph: Graph, components: ComponentSearch, refresher: Refresher, reachability: Reachability, visitor: Visitor,
    clock: StampClock, log: LogBuffer
  ) {
    self.graph = graph
    self.components = components
    self.refresher = refresher
    self.reachability = reachability
    self.visitor = visitor
    self.clock = clock
    self.log = log
    occurrences = visitor.occurrences
  }

  /// The value that a closure received.
  struct Base {
    /// Whether its values are the store's own, and none was written since.
    let isStored: Bool
    /// Whether only the closure's changes are written. Otherwise the whole result is, and changes win over the rest.
    let isOnlyEdits: Bool
    /// All values of each entity in it, if they are not the store's own.
    var values: [ObjectIdentifier: [Int32]] = [:]
    /// The entity that the closure received.
    var top: Node?
  }

  // MARK: Calls

  /// Stores a value; gives its node. `visit` visits it.
  func store(stamp: WriteStamp, _ visit: () -> Void) -> Node? {
    begin(stamp)
    defer { end() }
    visitTop(visit)
    run()
    return occurrences.items.first?.node
  }

  /// Stores what `ifPresent` made of a value: what it changed goes before what it was given.
  func store(stamp: WriteStamp, _ visit: () -> Void, given: () -> Void) -> Node? {
    begin(stamp)
    defer { end() }
    collectBase(given, Base(isStored: false, isOnlyEdits: false))
    visitTop(visit)
    compareTop()
    run()
    return occurrences.items.first?.node
  }

  /// Writes the changes that a closure made in a stored entity's value; the write is known to be newer. `pending` and `given`
  /// are the table's slots of the closure's result and of the value that it received.
  func update(
    _ node: Node, pending: Int32, given: Int32, stamp: WriteStamp, isAlone: Bool, visitGiven: () -> Void
  ) {
    begin(stamp)
    defer { end() }
    target = node
    if isAlone {
      base = Base(isStored: true, isOnlyEdits: true)
    } else {
      collectBase(visitGiven, Base(isStored: false, isOnlyEdits: true))
    }
    occurrences.append(node, pending: pending)
    occurrences.use(node.table)
    occurrences.items[0].base = given
    run()
  }

  /// Stores what a closure made of another entity's value by changing the id: only what it changed is written.
  func storeEdited(stamp: WriteStamp, given: Int32, _ visit: () -> Void, visitGiven: () -> Void) -> Node? {
    begin(stamp)
    defer { end() }
    collectBase(visitGiven, Base(isStored: false, isOnlyEdits: true))
    visitTop(visit)
    guard !occurrences.items.isEmpty else { return nil }
    occurrences.use(occurrences.items[0].node.table)
    occurrences.items[0].base = given
    occurrences.items[0].state.formUnion([.counts, .isEdit])
    run()
    return occurrences.items.first?.node
  }

  /// Visits a stored value again, because its relations have changed: entities that are new to the store are stored. Returns
  /// their nodes.
  func revisit(_ node: Node) -> ContiguousArray<Node> {
    begin(.none)
    takesOnlyNew = true
    defer { end() }
    occurrences.appendNew(node)
    occurrences.items[0].state = .showsPresent
    flatten()
    pickWinners()
    apply()
    adoptChildren(ofOccurrence: 0)
    var new: ContiguousArray<Node> = []
    for item in occurrences.items where item.state.contains(.isNew) { new.append(item.node) }
    return new
  }

  /// Whether a value, with all it contains, is what the store has already, so that to store it changes nothing. Nothing is written.
  ///
  /// - Parameter base: a closure that returns the state to compare a node with; `nil` if that is the present one.
  /// - Complexity: the number of entities in the value.
  func isUnchanged(since base: (Node) -> SavedState?, _ visit: () -> Void) -> Bool {
    begin(.none)
    defer { end() }
    occurrences.parent = -1
    occurrences.level = 0
    collect(visit)
    return isAllUnchanged(since: base)
  }

  // MARK: The way through

  private func run() {
    flatten()
    pickWinners()
    apply()
  }

  private func begin(_ stamp: WriteStamp) {
    isActive = true
    self.stamp = stamp
    if graph.hasRecursion { components.resolve() }
  }

  private func end() {
    occurrences.removeAll()
    target = nil
    base = nil
    if !newNodes.isEmpty { newNodes = [] }
    takesOnlyNew = false
    isActive = false
  }

  private func visitTop(_ visit: () -> Void) {
    occurrences.parent = -1
    occurrences.level = 0
    visitor.purpose = .merge
    visit()
    visitor.purpose = .identify
  }
}
