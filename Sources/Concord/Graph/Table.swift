/// The table of one type.
@usableFromInline final class Table<T: Identifiable & Sendable>: AnyTable {
  /// The nodes of awaited entities, which have no value yet.
  @exclusivity(unchecked) private var awaited: [T.ID: EntityNode<T>] = [:] {
    didSet { isAwaiting = !awaited.isEmpty }
  }
  @exclusivity(unchecked) private var awaitedIDs: [ObjectIdentifier: T.ID] = [:]
  let declared: Declarations<T>
  @usableFromInline let nodeType = EntityNode<T>.self

  @inlinable convenience init() {
    self.init(equalityInPlace(of: T.self), declarations(of: T.self))
  }

  /// - Parameter equality: the `==` of two values at their addresses; `nil` if there is none, and their bits are compared.
  @usableFromInline init(_ equality: ((UnsafeRawPointer, UnsafeRawPointer) -> Bool)?, _ declared: Declarations<T>) {
    self.declared = declared
    let isEqualAt: (UnsafeRawPointer, UnsafeRawPointer) -> Bool
    if let equality {
      isEqualAt = equality
    } else {
      let size = MemoryLayout<T>.size
      isEqualAt = { haveSameBytes($0, $1, size) }
    }
    super.init(
      valueType: ObjectIdentifier(T.self), isAggregate: declared.isAggregate, isEquatable: equality != nil,
      hasOptionalIDs: _isOptional(T.ID.self),
      hasUnfindableIDs: _isOptional(T.ID.self) || T.ID.self is any FloatingPoint.Type,
      fixedSchema: declared.schemas.fixed, ownSchema: declared.ofNode,
      pending: PendingValues(stride: MemoryLayout<T>.stride, alignment: MemoryLayout<T>.alignment),
      isEqualAt: isEqualAt)
    layout = ValueLayout(EntityNode<T>(table: self))
  }

  // MARK: Finding

  /// Returns the node with a value for an id, if there is one; the entity may have been removed since.
  @inlinable func find(_ id: T.ID) -> EntityNode<T>? { find(id, hash: IDHash.hash(id)) }

  @inlinable func find(_ id: T.ID, hash: UInt32) -> EntityNode<T>? {
    if hasOptionalIDs, isNil(id) { return nil }
    return index.find(hash) { $0.typed(T.self)?.hasID(id) ?? false }?.typed(T.self)
  }

  /// Passes the node that `find` returns to a closure, without counting the reference: the table retains it meanwhile.
  @inlinable @inline(__always) func withNode<R>(_ id: T.ID, _ body: (EntityNode<T>) -> R?) -> R? {
    // Computed first, since a call while the index is in use would count a reference to it.
    let hash = IDHash.hash(id)
    guard !hasOptionalIDs || !isNil(id),
      let position = index.position(hash, where: { $0.typed(T.self)?.hasID(id) ?? false }),
      let node = index.entries[position].node.flatMap({ Borrowed($0).typed(T.self) })
    else { return nil }
    return node.use(body)
  }

  /// Returns the node for an id, made if there is none.
  func nodeAwaiting(_ id: T.ID) -> EntityNode<T> {
    if let node = find(id) ?? awaited[id] { return node }
    let node = EntityNode<T>(table: self)
    node.flags.insert(.uncommitted)
    // An id that is missing, or not equal to itself like NaN, is never found.
    if isMissing(id) || id != id {
      add(node, hash: IDHash.hash(ObjectIdentifier(node)))
      return node
    }
    awaited[id] = node
    awaitedIDs[ObjectIdentifier(node)] = id
    return node
  }

  /// Whether an entity that was never stored is awaited.
  func awaits(_ id: T.ID) -> Bool { awaited[id] != nil }
  /// The ids of all such entities.
  var idsAwaited: [T.ID] { Array(awaited.keys) }

  /// Whether two values are equal: by `==` if there is one, else by their bits.
  @inlinable func isEqual(_ a: T, _ b: T) -> Bool {
    withUnsafePointer(to: a) { a in withUnsafePointer(to: b) { isEqualAt(a, $0) } }
  }

  /// Whether two values are the same: by `==` if there is one, else by their bits. What is not equal to itself, as NaN is not,
  /// is compared by its bits, too.
  @inlinable func isSame(_ a: T, _ b: T) -> Bool {
    isEqual(a, b) || Concord.haveSameBits(a, b)
  }

  // MARK: Coming and going

  /// Inserts an entity with its first value, in the awaiting node if there is one. From now on the table retains the node.
  @inlinable func insert(
    _ value: consuming T, id: T.ID, hash: UInt32, known: EntityNode<T>?, in graph: Graph
  ) -> Borrowed<EntityNode<T>> {
    guard known == nil, !isAwaiting, !hasUnfindableIDs, !graph.journal.isRecording else {
      return Borrowed(insertInKnown(value, id: id, hash: hash, known: known, in: graph))
    }
    let node = nodeType.init(table: self, value: value)
    let inserted = Borrowed(node)
    addExisting(consume node, hash: hash)
    return inserted
  }

  /// Inserts an entity where a known node, or the previous state, may have to be kept.
  @usableFromInline func insertInKnown(
    _ value: T, id: T.ID, hash: UInt32, known: EntityNode<T>?, in graph: Graph
  ) -> EntityNode<T> {
    let node = known ?? takeAwaited(id) ?? EntityNode<T>(table: self)
    graph.journal.willWrite(node)
    // Such entities are never found, and only have to be distinct: with one hash, each would be compared with all.
    let isApart = hasUnfindableIDs && (isNil(id) || id != id)
    return insertUnsaved(value, hash: isApart ? IDHash.hash(ObjectIdentifier(node)) : hash, known: node)
  }

  /// Inserts an internal entity, whose insertion no transaction undoes.
  func insertUnsaved(_ value: T, hash: UInt32, known: EntityNode<T>?) -> EntityNode<T> {
    let node = known ?? EntityNode<T>(table: self)
    node.value = value
    if !node.isIndexed { add(node, hash: hash) }
    node.flags.insert(.exists)
    node.flags.remove(.uncommitted)
    return node
  }

  /// Removes and returns the node that awaits an entity.
  func takeAwaited(_ id: T.ID) -> EntityNode<T>? {
    guard let node = awaited.removeValue(forKey: id) else { return nil }
    awaitedIDs[ObjectIdentifier(node)] = nil
    shrinkAwaited()
    return node
  }

  override func forgetAwaited(_ node: Node) {
    // Each node that goes comes here. What follows asks the runtime for the metadata of optionals, whether or not it is run.
    if !awaitedIDs.isEmpty { forgetOneAwaited(node) }
  }

  @inline(never) private func forgetOneAwaited(_ node: Node) {
    guard let id = awaitedIDs.removeValue(forKey: ObjectIdentifier(node)) else { return }
    awaited[id] = nil
    shrinkAwaited()
  }

  /// Releases capacity that a peak left.
  private func shrinkAwaited() {
    guard awaited.capacity > 256, awaited.count * 4 <= awaited.capacity else { return }
    awaited = Dictionary(uniqueKeysWithValues: awaited.lazy.map { ($0.key, $0.value) })
    awaitedIDs = Dictionary(uniqueKeysWithValues: awaitedIDs.lazy.map { ($0.key, $0.value) })
  }

  override func dismantle() {
    super.dismantle()
    awaited = [:]
    awaitedIDs = [:]
  }

  override func allNodes() -> [Node] { super.allNodes() + Array(awaited.values) }

  @inlinable func addPending(_ value: consuming T) -> Int32 {
    let place = pending.next()
    place.address.initializeMemory(as: T.self, to: value)
    return place.slot
  }

  // MARK: What the base class asks for

  override func addPending(_ node: Node, isBrief: Bool) -> Int32 {
    guard let node = node.typed(T.self), let value = isBrief ? brief(of: node) : node.value else { return -1 }
    return addPending(value)
  }

  override func removePending() {
    pending.removeAll { $0.assumingMemoryBound(to: T.self).deinitialize(count: $1) }
  }

  override func swapPending(_ slot: Int32, with node: Node) {
    guard let place = place(slot), let node = node.typed(T.self), var value = node.value.take() else { return }
    swap(&value, &place.pointee)
    node.value = value
  }

  override func isSameForm(_ a: ValueReference, _ b: ValueReference) -> Bool {
    guard let a = place(a), let b = place(b), isSame(a.pointee, b.pointee) else { return false }
    guard let schema = schema(of: a.pointee), schema === self.schema(of: b.pointee) else { return true }
    return schema.indices.allSatisfy { schema[$0].isOmitted(in: a.pointee) == schema[$0].isOmitted(in: b.pointee) }
  }

  override func haveSameID(_ a: ValueReference, _ b: ValueReference) -> Bool {
    guard let a = place(a), let b = place(b) else { return false }
    return a.pointee.id == b.pointee.id
  }

  override func haveSameFields(
    _ a: ValueReference, _ b: ValueReference, of schema: AnySchema?, keeping kept: [Bool], _ graph: Graph
  ) -> Bool {
    guard let a = place(a), let b = place(b) else { return false }
    return haveSameFields(a, b, of: schema?.typed(T.self), keeping: kept, graph)
  }

  override func haveSameBrief(
    _ a: ValueReference, omitting omitted: [Bool], _ b: ValueReference, omitting others: [Bool], _ graph: Graph
  ) -> Bool {
    guard let a = value(a), let b = value(b) else { return false }
    return haveSameBrief(a, omitting: omitted, b, omitting: others, graph)
  }

  override func haveSameBrief(
    _ node: Node, omitting omitted: [Bool], _ state: SavedState, omitting others: [Bool], _ graph: Graph
  ) -> Bool {
    guard let a = node.typed(T.self)?.value, let b = state.typed(T.self)?.value else { return false }
    return haveSameBrief(a, omitting: omitted, b, omitting: others, graph)
  }

  private func haveSameBrief(
    _ a: T, omitting omitted: [Bool], _ b: T, omitting others: [Bool], _ graph: Graph
  ) -> Bool {
    guard let schema = schema(of: b), schema === self.schema(of: a) else { return false }
    var (a, b) = (a, b)
    for k in schema.indices {
      let isOmitted = (omitted.indices.contains(k) && omitted[k], others.indices.contains(k) && others[k])
      // What is left out in one only shows the same if there is nothing in the other.
      if isOmitted.0, !isOmitted.1, !schema[k].isMissing(in: b) { return false }
      if isOmitted.1, !isOmitted.0, !schema[k].isMissing(in: a) { return false }
      guard isOmitted.0 || isOmitted.1 else { continue }
      schema[k].omit(in: &a, graph)
      schema[k].omit(in: &b, graph)
    }
    return withUnsafePointer(to: a) { a in
      withUnsafePointer(to: b) { haveSameFields(a, $0, of: nil, keeping: [], graph) }
    }
  }

  override func askedSchema(of reference: ValueReference) -> AnySchema? {
    guard let place = place(reference) else { return nil }
    return schema(of: place.pointee)
  }

  override func visitComputed(_ reference: ValueReference, relation k: Int, of schema: AnySchema, _ visitor: Visitor) {
    guard let schema = schema.typed(T.self), let place = place(reference) else { return }
    schema[k].visit(at: UnsafePointer(place), visitor)
  }

  override func isIdentical(
    _ a: ValueReference, _ b: ValueReference, relation k: Int, of schema: AnySchema
  ) -> Bool {
    guard let schema = schema.typed(T.self), let a = place(a), let b = place(b) else { return false }
    return schema[k].isIdentical(at: a, b)
  }

  override func omission(in reference: ValueReference, relation k: Int, of schema: AnySchema) -> Omission {
    guard schema.canOmit[k] != .never, let schema = schema.typed(T.self), let place = place(reference) else {
      return .none
    }
    return schema[k].omission(at: place)
  }

  override func canOmit(relation k: Int, of schema: AnySchema, in node: Node) -> Bool {
    guard let graph, let schema = schema.typed(T.self), var value = node.typed(T.self)?.value else { return false }
    schema[k].omit(in: &value, graph)
    let visitor = Visitor(graph: graph, occurrences: OccurrenceList())
    return visitor.identify { schema[k].visit(value, visitor) }.isEmpty
  }

  override func isSameAsBrief(
    _ reference: ValueReference, relation k: Int, of schema: AnySchema, in node: Node
  ) -> Bool {
    guard let schema = schema.typed(T.self), let value = value(reference), let node = node.typed(T.self),
      let brief = brief(of: node)
    else { return false }
    return schema[k].isSame(value, brief)
  }

  override func forgetOmission(in reference: ValueReference, relation k: Int, of schema: AnySchema) -> Bool {
    guard schema.canOmit[k] != .never, let schema = schema.typed(T.self), let value = place(reference),
      case .omitted = schema[k].omission(at: value)
    else { return false }
    switch reference {
    case .own(let node):
      guard let node = node.typed(T.self), var own = node.value.take() else { return false }
      schema[k].forgetOmission(in: &own)
      node.value = own
    case .pending(let slot): if let place = place(slot) { schema[k].forgetOmission(in: &place.pointee) }
    }
    return true
  }

  override func keep(relation k: Int, of schema: AnySchema, from node: Node, in slot: Int32) -> Bool {
    guard let schema = schema.typed(T.self), let present = place(.own(node)), let place = place(slot),
      !schema[k].isIdentical(at: present, place)
    else { return false }
    schema[k].copy(present.pointee, into: &place.pointee)
    return true
  }

  override func refusesSelf(_ schema: AnySchema) -> Bool { schema.typed(T.self)?.refusesSelf ?? false }

  override func patch(
    _ node: Node, _ stale: ContiguousArray<Int32>, _ forms: ChildForms, _ visitor: Visitor
  ) -> PatchResult {
    guard let node = node.typed(T.self), let children = node.children, let schema = children.schema.typed(T.self),
      // In a cycle the node's own value may be needed to patch it.
      var value = node.links?.component == nil ? node.value.take() : node.value
    else { return .done }
    let mustVisit = patch(&value, of: node, schema, children, stale, forms, visitor)
    node.value = value
    children.brief = nil
    return hasShape(of: children, schema, node, visitor, mustVisit: mustVisit) ? .done : .reshaped
  }

  override func patchAll(_ node: Node, _ forms: ChildForms, _ visitor: Visitor) -> PatchResult {
    guard let node = node.typed(T.self), let children = node.children, let schema = children.schema.typed(T.self),
      var value = node.value
    else { return .done }
    patchAll(&value, of: node, schema, forms, visitor)
    node.value = value
    return hasShape(of: children, schema, node, visitor, mustVisit: true) ? .done : .reshaped
  }

  /// Patches a value. Returns whether it is to be visited again to find its occurrences.
  private func patch(
    _ value: inout T, of node: Node, _ schema: Schema<T>, _ children: ChildList, _ stale: ContiguousArray<Int32>,
    _ forms: ChildForms, _ visitor: Visitor
  ) -> Bool {
    if !schema.isStored {
      // First, while the value shows it: another relation that is written may hide what a computed one shows.
      var shown = PatchCursor(parent: node, children: nil, stale: nil, forms: forms)
      for k in schema.indices where !schema[k].isStored { schema[k].patch(&value, &shown) }
    }
    var cursor = PatchCursor(parent: node, children: children, stale: stale, forms: forms)
    for k in schema.indices where cursor.hasWork(before: children.ends[k]) {
      cursor.move(to: children.start(ofRelation: k))
      schema[k].patch(&value, &cursor)
    }
    guard cursor.mustVisitAgain else { return false }
    patchAll(&value, of: node, schema, forms, visitor)
    return true
  }

  /// Writes all newer values, in all places. After a write a place may show another entity, or an old value of the same. So
  /// it repeats until nothing is written; a value that never settles is left as it is after some rounds.
  func patchAll(
    _ value: inout T, of node: Node, _ schema: Schema<T>, _ forms: ChildForms, _ visitor: Visitor
  ) {
    for _ in 0..<8 {
      var everything = PatchCursor(parent: node, children: nil, stale: nil, forms: forms)
      let schema = self.schema(of: value) ?? schema
      for k in schema.indices { schema[k].patch(&value, &everything) }
      if !everything.hasWritten { break }
    }
  }

  private func hasShape(
    of children: ChildList, _ schema: Schema<T>, _ node: EntityNode<T>, _ visitor: Visitor, mustVisit: Bool
  ) -> Bool {
    guard self.schema(of: .own(node)) === schema else { return false }
    guard mustVisit || !schema.isStored, let value = node.value else { return true }
    // A value written in one relation may appear in another one that is computed.
    for k in schema.indices where mustVisit || !schema[k].isStored {
      let found = visitor.identify { schema[k].visit(value, visitor) }
      let range = children.range(ofRelation: k)
      guard found.count == range.count, zip(found, range).allSatisfy({ $0 === children.edges[$1].child }) else {
        return false
      }
    }
    return true
  }

  override func removeOccurrences(from node: Node, _ cursor: RemovalCursor, keeping isTrial: Bool) -> Bool {
    guard let node = node.typed(T.self), let value = node.value, let schema = schema(of: value) else { return true }
    // At the visited positions; if the value has changed since, at all.
    let byPlace = removeOccurrences(from: value, schema) { cursor.inside($0, of: schema, node) }
    guard let left = byPlace ?? removeOccurrences(from: value, schema, { _ in cursor }) else { return false }
    if !isTrial { node.value = left }
    return true
  }

  private func removeOccurrences(from value: T, _ schema: Schema<T>, _ cursor: (Int) -> RemovalCursor) -> T? {
    var value = value
    for k in schema.indices where !schema[k].remove(from: &value, cursor(k)) { return nil }
    // A setter may ignore its value; only the result counts.
    let visitor = cursor(0).visitor
    let left = visitor.removedCount {
      guard let schema = self.schema(of: value) else { return }
      for k in schema.indices { schema[k].visit(value, visitor) }
    }
    return left == 0 ? value : nil
  }

  override func lacks(in reference: ValueReference, relation k: Int, of schema: AnySchema) -> Bool {
    guard let schema = schema as? Schema<T>, let value = value(reference) else { return false }
    return schema[k].isMissing(in: value)
  }

  override func fillIn(
    _ slot: Int32, from node: Node, _ fields: Any
  ) -> (isFilled: Bool, showsInRelations: Bool) {
    guard let place = place(slot), let node = node.typed(T.self),
      let filled = filled(place.pointee, from: node, fields)
    else { return (false, false) }
    let part = place.pointee
    place.pointee = filled
    guard let schema = schema(of: filled) else { return (true, false) }
    let isSame = schema === self.schema(of: part) && schema.indices.allSatisfy { schema[$0].isIdentical(part, filled) }
    return (true, !isSame)
  }

  override func hasValue(_ node: Node) -> Bool { node.typed(T.self)?.value != nil }
  override func entity(of node: Node) -> (any Identifiable & Sendable)? { node.typed(T.self)?.value }
  override func entity(pending slot: Int32) -> (any Identifiable & Sendable)? { place(slot)?.pointee }
  override func committedEntity(of node: Node, _ view: CommittedView) -> (any Identifiable & Sendable)? {
    node.typed(T.self).flatMap { view.value(of: $0) }
  }
  override func lacksID(_ node: Node) -> Bool { node.typed(T.self)?.value.map { isNil($0.id) } ?? false }
  override func id(of node: Node) -> AnyHashable? { node.typed(T.self)?.value.map { AnyHashable($0.id) } }
  override func node(_ id: AnyHashable) -> Node? { (id.base as? T.ID).flatMap { find($0) } }

  override func save(_ node: Node) -> SavedState { SavedValue(node, value: node.typed(T.self)?.value) }

  override func restoreValue(of node: Node, from state: SavedState) {
    // An entity whose insertion is undone keeps its value for its observers.
    guard let value = state.typed(T.self)?.value else { return }
    node.typed(T.self)?.value = value
  }

  override func differs(_ node: Node, from state: SavedState, _ graph: Graph) -> Bool {
    guard let node = node.typed(T.self), let old = state.typed(T.self)?.value, var now = node.value,
      isEquatable
    else { return true }
    guard let schema = schema(of: old) else { return !isEqual(now, old) }
    guard schema === self.schema(of: now) else { return true }
    for k in schema.indices where !schema[k].isIdentical(old, now) {
      guard schema[k].transplant(old, into: &now, graph) else { return true }
    }
    return !isEqual(now, old)
  }

  override func isSame(_ node: Node, as state: SavedState) -> Bool {
    guard node.exists == state.flags.contains(.exists), let state = state.typed(T.self) else { return false }
    guard let old = state.value, let now = node.typed(T.self)?.value else { return false }
    return isSame(old, now)
  }

  override func hasSameFields(
    _ value: ValueReference, as state: SavedState, keeping kept: [Bool], _ graph: Graph
  ) -> Bool {
    guard let old = state.typed(T.self)?.value, let value = place(value) else { return false }
    return withUnsafePointer(to: old) { haveSameFields(value, $0, of: nil, keeping: kept, graph) }
  }

  override func patch(_ state: SavedState, _ forms: ChildForms, _ visitor: Visitor, of node: Node) {
    guard let state = state.typed(T.self), var value = state.value, let children = state.children,
      let schema = children.list.schema.typed(T.self)
    else { return }
    _ = patch(&value, of: node, schema, children.list, children.stale, forms, visitor)
    state.value = value
  }

  override func log(_ event: LogEvent, _ node: Node) -> ((any EntityStoreLogger) -> Void)? {
    guard !isInternal, let id = node.typed(T.self)?.value?.id else { return nil }
    // An id need not be `Sendable`, so the entry stays on its thread.
    switch event {
    case .stored: return { $0.didStore(T.self, id: id) }
    case .released: return { $0.didRelease(T.self, id: id) }
    case .discarded(let stamp, let stored): return { $0.didDiscard(T.self, id: id, stamp: stamp, storedStamp: stored) }
    case .outrun(let clock, let stored):
      return { $0.didMeetStampAheadOfClock(T.self, id: id, stamp: stored, clock: clock) }
    case .refused(let reason): return { $0.didRefuse(T.self, id: id, reason: reason) }
    case .imprecise(let stamp): return { $0.didReceiveImpreciseStamp(T.self, id: id, stamp: stamp) }
    }
  }
}
