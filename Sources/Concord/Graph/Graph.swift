/// The nodes of all entities, by type, and the edges between them.
@usableFromInline final class Graph {
  @exclusivity(unchecked) private var tables: [ObjectIdentifier: AnyTable] = [:]
  /// Finds most tables without hashing.
  @exclusivity(unchecked) @usableFromInline var tableCache: ContiguousArray<AnyTable?>
  @exclusivity(unchecked) private var wrapperSchemas: [ObjectIdentifier: AnySchemas] = [:]
  /// Some type can occur within itself.
  @exclusivity(unchecked) private(set) var hasRecursion = false

  @usableFromInline let backlog: Backlog
  @usableFromInline let journal: Journal
  /// Nodes whose reachability is to be examined when the transaction ends.
  let unexamined: NodeQueue
  /// Observed nodes that the transaction changed.
  let notified: NodeQueue
  /// Observed nodes that may show something old, of which their observers need not be told.
  let unrefreshed: NodeQueue
  let restructured: Restructured
  /// Whether the open transaction changed relations in cycles, or cycles themselves. Then values that were invalidated may be equal, since
  /// a form that leaves out a relation looks like one without it.
  @exclusivity(unchecked) private(set) var mayShowEqual = false
  /// The states of observed nodes before they were brought up to date, where the journal does not have them.
  @exclusivity(unchecked) private var former: [ObjectIdentifier: SavedState] = [:]
  /// The number of the open transaction.
  @exclusivity(unchecked) private var transaction = 1
  /// The number of writes before the open transaction.
  @exclusivity(unchecked) private var writesBefore: UInt64 = 0
  /// Nodes written in the transaction, if somebody follows all changes.
  let written: WrittenNodes
  /// The nodes that the open transaction changes, while `isTraced`.
  private let trace = ChangeTrace()
  @exclusivity(unchecked) private var isTraced = false
  /// A closure that receives each new type.
  var didAddTable: (Any.Type) -> Void = { _ in }
  /// The number of nodes that were passed on paths to roots, which tests compare.
  @exclusivity(unchecked) var pathSteps = 0
  /// Hubs that nobody observes any longer.
  var releasedHubs: ContiguousArray<Node> = []
  @exclusivity(unchecked) private var lastMark = 0
  @exclusivity(unchecked) private var marking: ContiguousArray<(node: Node, isBriefChanged: Bool)> = []

  init() {
    let backlog = Backlog()
    self.backlog = backlog
    journal = Journal(backlog)
    unexamined = NodeQueue(.unexamined, backlog)
    notified = NodeQueue(.notified, backlog)
    unrefreshed = NodeQueue(.unrefreshed, backlog)
    restructured = Restructured(backlog)
    written = WrittenNodes(backlog)
    tableCache = ContiguousArray(repeating: nil, count: Self.cacheSize)
  }

  // MARK: Types

  @inlinable static var cacheSize: Int { 32 }

  @inlinable static func cacheIndex(_ key: ObjectIdentifier) -> Int {
    let bits = UInt(bitPattern: key)
    return Int(truncatingIfNeeded: (bits >> 4) ^ (bits >> 9)) & (cacheSize - 1)
  }

  /// Works with the table of a type without counting the reference: the graph keeps its tables.
  @inlinable @inline(__always) func withTable<T: Identifiable & Sendable, R>(
    _ type: T.Type, _ body: (Table<T>) -> R
  ) -> R {
    let cached = tableCache[Self.cacheIndex(ObjectIdentifier(type))].flatMap { Borrowed($0).typed(type) }
    return (cached ?? Borrowed(table(type))).use(body)
  }

  /// The table of a type, made if it is new.
  @inlinable func table<T: Identifiable & Sendable>(_ type: T.Type) -> Table<T> {
    if let table = tableCache[Self.cacheIndex(ObjectIdentifier(type))]?.typed(type) { return table }
    return knownTable(type) ?? add(Table<T>())
  }

  @usableFromInline func knownTable<T: Identifiable & Sendable>(_ type: T.Type) -> Table<T>? {
    guard let table = tables[ObjectIdentifier(type)] else { return nil }
    tableCache[Self.cacheIndex(ObjectIdentifier(type))] = table
    return table.typed(type)
  }

  @usableFromInline func add<T>(_ table: Table<T>) -> Table<T> {
    tables[table.valueType] = table
    table.graph = self
    defer { didAddTable(T.self) }
    tableCache[Self.cacheIndex(table.valueType)] = table
    return table
  }

  var allTables: [AnyTable] { Array(tables.values) }

  /// The relations of a wrapper's value.
  @inlinable func schema<W: EntityWrapper>(of wrapper: W) -> Schema<W> {
    let schemas = schemas(of: W.self)
    return schemas.fixed ?? schemas.find(wrapper.wrappedEntitiesKeyPaths(relativeTo: schemas.whole))
  }

  @usableFromInline func schemas<W: EntityWrapper>(of type: W.Type) -> Schemas<W> {
    if let known = wrapperSchemas[ObjectIdentifier(type)]?.typed(type) { return known }
    let schemas = Schemas<W>(fixed: W.fixedRelations)
    wrapperSchemas[ObjectIdentifier(type)] = schemas
    return schemas
  }

  /// Notes that one type occurs in another, and finds out anew which types can contain themselves.
  private func link(_ parent: AnyTable, to child: AnyTable) {
    // Fast path: usually there is one type of children.
    if let first = parent.childTables.first, first === child { return }
    guard !parent.childTables.contains(where: { $0 === child }) else { return }
    parent.childTables.append(child)
    var isNew = false
    for table in tables.values where !table.isRecursive && below(table).contains(where: { $0 === table }) {
      table.isRecursive = true
      isNew = true
      // Until now nobody had to know through whom they are reachable.
      for node in table.allNodes() where node.holders.count == 0 { unexamined.insert(node) }
    }
    if isNew { reorder() }
    for table in tables.values {
      table.reachesRecursion = table.isRecursive || below(table).contains(where: \.isRecursive)
    }
  }

  /// More types can contain themselves: nothing is known yet of the cycles that their entities are in.
  private func reorder() {
    hasRecursion = true
    for table in tables.values where table.isRecursive {
      for node in table.allNodes() {
        node.withChildren { $0.isInner = $0.containsRecursive }
        restructured.insertUnordered(node)
      }
    }
  }

  private func below(_ table: AnyTable) -> [AnyTable] {
    var found: [AnyTable] = []
    var stack = [table]
    while let next = stack.popLast() {
      for child in next.childTables where !found.contains(where: { $0 === child }) {
        found.append(child)
        stack.append(child)
      }
    }
    return found
  }

  /// Returns a number that no search has marked nodes with.
  func nextMark() -> Int {
    lastMark += 1
    return lastMark
  }

  // MARK: Edges

  /// Replaces all occurrences below a node. The new edges are not stale.
  func setChildren(
    of node: Node, _ schema: AnySchema, _ edges: consuming ContiguousArray<ChildEdge>, _ ends: ContiguousArray<Int32>
  ) {
    let former = takeChildren(of: node)
    var linked: AnyTable?
    for i in edges.indices {
      edges[i].backIndex = Borrowed(edges[i].child).use { child in
        let ordinal = Int32(truncatingIfNeeded: i)
        let index = Int32(truncatingIfNeeded: child.parents.append(node, ordinal: ordinal, didMove: Self.didMove))
        // The next change of the child is to come up to this parent, too.
        child.flags.subtract(.invalidated)
        if linked !== child.table {
          link(node.table, to: child.table)
          linked = child.table
        }
        if child.table.isRecursive { retain(child, by: node) }
        return index
      }
    }
    let children = ChildList(schema: schema, edges: edges, ends: ends)
    children.isInner = node.table.isRecursive && children.containsRecursive
    node.children = children
    if let former { release(former, from: node, without: children) }
  }

  func removeChildren(of node: Node) {
    guard let children = takeChildren(of: node) else { return }
    for edge in children.edges { Borrowed(edge.child).use { release($0, from: node) } }
  }

  /// Takes a node's edges away, and leaves it to the caller to see who is still reachable.
  private func takeChildren(of node: Node) -> ChildList? {
    if node.table.isRecursive { restructured.willChange(node) }
    guard let children = node.children else { return nil }
    for i in children.edges.indices {
      // Read anew each time: a removal may move another of these edges.
      let index = children.edges[i].backIndex
      Borrowed(children.edges[i].child).use { $0.parents.remove(at: Int(index), didMove: Self.didMove) }
    }
    node.children = nil
    node.flags.remove(.stale)
    return children
  }

  /// Tells a parent that one of its edges has another index in the list of its child.
  // Static, so that a graph is not counted for each edge: its tables refer to it weakly, which makes that dear.
  private static func didMove(_ edge: ParentEdge, to index: Int) {
    Borrowed(edge.parent).use { parent in
      parent.withChildren { $0.edges[Int(edge.ordinal)].backIndex = Int32(truncatingIfNeeded: index) }
    }
  }

  /// Releases a node's hold on a child that it has lost. Other nodes may keep the child reachable.
  private func release(_ child: Node, from node: Node) {
    child.withLinks { if $0.retainer === node { $0.retainer = nil } }
    if child.holders.count == 0 { unexamined.insert(child) }
  }

  /// Releases those that are no children any longer. Those that stay are as reachable as before.
  private func release(_ former: ChildList, from node: Node, without children: ChildList) {
    let (before, after) = (former.edges, children.edges)
    var start = 0
    while start < min(before.count, after.count), before[start].child === after[start].child { start += 1 }
    if start == before.count { return }
    let kept = start == after.count ? [] : Set(after[start...].map { ObjectIdentifier($0.child) })
    for edge in before[start...] where !kept.contains(ObjectIdentifier(edge.child)) { release(edge.child, from: node) }
  }

  private func retain(_ child: Node, by parent: Node) {
    let links = child.ownLinks
    guard links.retainer == nil, child.holders.count == 0 else { return }
    // A node without children cannot be above its parent.
    if child.children == nil, child !== parent { links.retainer = parent } else { unexamined.insert(child) }
  }

  // MARK: Invalidation

  /// An entity's own fields or relations changed: its ancestors show something old, and those who observe it or them are to
  /// be told.
  @usableFromInline func didWrite(_ node: Node) { didWrite(node, isBriefChanged: true) }

  /// Invalidates the ancestors of a changed entity; `isBriefChanged` says whether other entities of its cycle, which show its brief form, show
  /// something old, too.
  func didWrite(_ node: Node, isBriefChanged: Bool) {
    journal.countWrite()
    node.flags.insert(.written)
    if node.table.reachesRecursion, node.isObserved { node.withLinks { $0.changedIn = transaction } }
    written.append(node)
    invalidate(node, isBriefChanged: isBriefChanged)
  }

  /// Marks what is above an entity that is another than it was, also when it only went back.
  func invalidate(_ node: Node, isBriefChanged: Bool = true, _ notice: Notice = .due) {
    noteChange(of: node)
    if node.isObserved { enqueue(node, notice) }
    invalidateParents(of: node, isBriefChanged, notice)
  }

  private func enqueue(_ node: Node, _ notice: Notice) {
    switch notice {
    case .due: notified.insert(node)
    case .enqueued: unrefreshed.insert(node)
    case .needless: break
    }
  }

  // MARK: Tracing

  /// Returns the trace of the open transaction, which notes all that changes from now on.
  func tracedChanges() -> ChangeTrace {
    isTraced = true
    return trace
  }

  @inline(__always) func noteChange(of node: Node) { if isTraced { trace.note(node) } }

  private func endTrace() {
    isTraced = false
    trace.end()
  }

  // MARK: Equal values

  /// Notes that relations in cycles are different from before.
  func didRestructure() { mayShowEqual = true }

  /// Keeps the state of an observed node that is about to be brought up to date, unless it is not the former one any longer.
  @inline(__always) func keepFormerState(of node: Node) {
    if node.isObserved, node.table.reachesRecursion { keepOwnFormerState(of: node) }
  }

  private func keepOwnFormerState(of node: Node) {
    // Nothing is changed yet, so that what was committed before is only read.
    if backlog.isEmpty || journal.writeCount == writesBefore { return }
    let isChanged = node.withLinks { links in
      defer { links.changedIn = transaction }
      return links.changedIn == transaction
    }
    guard mayShowEqual, isChanged == false, node.table.isEquatable, journal.committedState(of: node) == nil else {
      return
    }
    former[ObjectIdentifier(node)] = node.table.save(node)
  }

  /// Returns the state that an observed node had when the open transaction began, if it was kept.
  func formerState(of node: Node) -> SavedState? { former[ObjectIdentifier(node)] }

  /// Ends the open transaction.
  func forgetFormerStates() {
    mayShowEqual = false
    if isTraced { endTrace() }
    transaction &+= 1
    writesBefore = journal.writeCount
    if !former.isEmpty { former = [:] }
  }

  /// One occurrence in a node's value is known to be old.
  @inline(__always) func makeStale(_ node: Node, _ ordinal: Int32) {
    if journal.isRecording, !node.isStale { journal.willInvalidate(node) }
    noteChange(of: node)
    node.withChildren { $0.stale.insert(ordinal) }
    node.flags.insert(.stale)
  }

  /// Nodes show what is below them after all, as far as that is up to date itself: writing it again might have setters and
  /// observers of properties change the value.
  func makeUpToDate(_ nodes: ContiguousArray<Node>) {
    var nodes = nodes.filter { $0.isStale && !$0.table.isInternal }
    var known = Set(nodes.map { ObjectIdentifier($0) })
    while true {
      let right = nodes.filter { node in
        node.children?.edges.allSatisfy { !$0.child.isStale || known.contains(ObjectIdentifier($0.child)) } ?? false
      }
      if right.count == nodes.count { break }
      nodes = right
      known = Set(nodes.map { ObjectIdentifier($0) })
    }
    for node in nodes {
      node.children?.stale.removeAll()
      node.flags.remove(.stale)
      // The next change of a child is to come up again.
      node.withChildren(unmarkAll)
    }
  }

  /// Notes that a parent shows the newest value at an ordinal: the next change of the child is to come up to it again.
  @inline(__always) func unmark(_ ordinal: Int, of children: ChildList) {
    let index = Int(children.edges[ordinal].backIndex)
    Borrowed(children.edges[ordinal].child).use { child in
      child.flags.subtract(.invalidated)
      child.parents.unmark(at: index, didMove: Self.didMove)
    }
  }

  /// Notes that a parent shows the newest values of all of its children.
  func unmarkAll(_ children: ChildList) {
    // By index, since an edge that is unmarked may move another of these.
    for i in children.edges.indices { unmark(i, of: children) }
  }

  /// Marks what is above a node, as far up as it is not marked already: the second change of an unread entity is cheap.
  ///
  /// Parents outside of a node's cycle show its whole form. Parents inside show its brief form, which leaves out the relations
  /// that lead back into the cycle: so a change in these stops at the direct parents in the cycle.
  private func invalidateParents(of start: Node, _ isBriefChanged: Bool, _ notice: Notice) {
    guard !start.parents.isEmpty, !start.flags.contains(.invalidated) else { return }
    marking.append((start, isBriefChanged))
    // The next change has to come up again after one that nobody is told of: what nodes were marked with before it.
    var unmarked: ContiguousArray<(node: Node, former: Node.Flags)> = []
    while let (node, isBriefChanged) = marking.popLast() {
      if node.flags.contains(.invalidatedParents), !isBriefChanged || node.flags.contains(.invalidatedCycle) {
        continue
      }
      if notice == .needless { unmarked.append((node, node.flags.intersection(.invalidated))) }
      node.flags.insert(.invalidatedParents)
      if isBriefChanged { node.flags.insert(.invalidatedCycle) }
      let component = node.links?.component
      var hasPassed = false
      node.parents.forEachUnmarked { parent, ordinal in
        let isInside = component != nil && component === parent.links?.component
        if isInside && !isBriefChanged {
          hasPassed = true
          return
        }
        makeStale(parent, ordinal)
        // Also if it was stale: a value that is just being written may show something old without having changed.
        if parent.isObserved { enqueue(parent, notice) }
        parent.withChildren { if $0.schema.followsEntities { follow(parent, $0.schema) } }
        guard !parent.parents.isEmpty else { return }
        let changesBrief = !parent.omitsWhenBrief(ordinal: ordinal)
        if parent.flags.contains(.invalidatedParents), !changesBrief || parent.flags.contains(.invalidatedCycle) {
          return
        }
        marking.append((parent, changesBrief))
      }
      // A mark costs once, however many parents come and go beside it. What is passed is to be looked at again.
      if !hasPassed, notice != .needless { node.parents.markAll() }
    }
    while let (node, former) = unmarked.popLast() {
      node.flags.subtract(.invalidated)
      node.flags.formUnion(former)
    }
    marking.shrink(beyond: 1_024)
  }

  /// Lets a value be brought up to date, also if nobody reads it.
  private func follow(_ node: Node, _ schema: AnySchema) {
    guard !node.flags.contains(.unrefreshed) else { return }
    unrefreshed.insert(node)
    schema.willFollow()
  }

  /// Whether observers are told of a change in what they show.
  enum Notice {
    /// The observers are to be notified.
    case due
    /// The observers are notified of the change that caused this one.
    case enqueued
    /// The value to be delivered equals the last one delivered.
    case needless
  }

  /// Takes the graph apart, so that nodes, which hold each other, are freed.
  func dismantle() {
    // Released nodes that the search for components has not seen.
    for change in restructured.takeChanges() { change.node.links = nil }
    for table in tables.values {
      for node in table.allNodes() {
        node.children = nil
        node.parents.removeAll()
        node.links = nil
        node.flags.remove(.observed)
      }
    }
    // A node holds its table, and the table of a type that contains itself would hold itself.
    for table in tables.values { table.dismantle() }
  }
}

extension Node {
  /// Works with the list of children, if there is one, without counting the reference.
  @inline(__always) func withChildren(_ body: (ChildList) -> Void) {
    if let children { Borrowed(children).use(body) }
  }

  /// Runs a closure with the links.
  @discardableResult @inline(__always) func withLinks<R>(_ body: (NodeLinks) -> R) -> R? {
    links.map { Borrowed($0) }?.use(body)
  }
}
