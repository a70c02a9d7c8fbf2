/// A table of all nodes of one type of entity, by id. The base class has the operations that do not know the type.
@usableFromInline class AnyTable {
  /// The type of the entities.
  @usableFromInline final let valueType: ObjectIdentifier
  /// Whether values of the type can contain entities.
  @usableFromInline final let isAggregate: Bool
  /// Whether the type is `Equatable`.
  @usableFromInline final let isEquatable: Bool
  /// Whether ids are optionals, and so may be missing. Stored, since each check of the type would ask the runtime.
  @usableFromInline final let hasOptionalIDs: Bool
  /// Whether ids may be missing, or not equal to themselves like NaN: such entities are never found.
  @usableFromInline final let hasUnfindableIDs: Bool
  /// The schema of all values, if they have the same.
  final let fixedSchema: AnySchema?
  /// A function that returns the schema of a node's value, if each value tells its relations. Specialised for the type.
  final let ownSchema: ((Node) -> AnySchema?)?
  /// A comparison of the values at two addresses, by `==` or their bits. Specialised for the type.
  @usableFromInline final let isEqualAt: (UnsafeRawPointer, UnsafeRawPointer) -> Bool
  /// The layout of values in their nodes.
  @exclusivity(unchecked) final var layout = ValueLayout()
  /// The values of the current call that wait to be applied.
  @exclusivity(unchecked) @usableFromInline final var pending: PendingValues
  @exclusivity(unchecked) @usableFromInline final var index = NodeIndex()
  /// Whether the type can occur within itself, at some depth.
  @exclusivity(unchecked) final var isRecursive = false
  /// Whether a recursive type can occur within this one.
  @exclusivity(unchecked) final var reachesRecursion = false
  /// Whether observers wait for entities of the type.
  @exclusivity(unchecked) @usableFromInline final var isAwaiting = false
  /// Whether the entities are aliases or collections of the store's own, which are not logged.
  @exclusivity(unchecked) @usableFromInline final var isInternal = false
  /// Whether the nodes are those of hubs, which are told when they are not observed any longer.
  @exclusivity(unchecked) final var isOfHubs = false
  /// The graph, which keeps the table until it is dismantled.
  final weak var graph: Graph?
  /// The types that occur directly in this one.
  @exclusivity(unchecked) final var childTables: [AnyTable] = []

  init(
    valueType: ObjectIdentifier, isAggregate: Bool, isEquatable: Bool, hasOptionalIDs: Bool = false,
    hasUnfindableIDs: Bool = false, fixedSchema: AnySchema? = nil, ownSchema: ((Node) -> AnySchema?)? = nil,
    pending: PendingValues = PendingValues(stride: 0, alignment: 1),
    isEqualAt: @escaping (UnsafeRawPointer, UnsafeRawPointer) -> Bool = { $0 == $1 }
  ) {
    self.valueType = valueType
    self.isAggregate = isAggregate
    self.isEquatable = isEquatable
    self.hasOptionalIDs = hasOptionalIDs
    self.hasUnfindableIDs = hasUnfindableIDs
    self.fixedSchema = fixedSchema
    self.ownSchema = ownSchema
    self.pending = pending
    self.isEqualAt = isEqualAt
  }

  deinit { pending.free() }

  /// Returns every node of the type, including awaited ones.
  func allNodes() -> [Node] { index.all }
  /// Removes a node without holders for good.
  final func remove(_ node: Node) {
    guard node.holders.count == 0 else { return }
    forgetAwaited(node)
    guard node.isIndexed else { return }
    _ = index.remove(node)
    node.hash = 0
  }

  func forgetAwaited(_ node: Node) {}

  /// Releases all nodes and tables, since the store is released.
  func dismantle() {
    index = NodeIndex()
    childTables = []
  }

  /// Adds a node to the index.
  final func add(_ node: Node, hash: UInt32) {
    node.hash = hash
    index.insert(node)
  }

  /// Adds a new node with a value to the index: the entity exists from now on.
  @usableFromInline final func addExisting(_ node: consuming Node, hash: UInt32) {
    node.hash = hash
    node.flags = .exists
    index.insert(consume node)
  }

  // MARK: Pending values

  /// Adds a copy of a node's value, or of its brief form, to the pending values; -1 if it has none.
  func addPending(_ node: Node, isBrief: Bool) -> Int32 { -1 }
  func removePending() {}
  /// Exchanges a pending value with the node's.
  func swapPending(_ slot: Int32, with node: Node) {}

  // MARK: Comparing

  func haveSameID(_ a: ValueReference, _ b: ValueReference) -> Bool { false }
  /// Whether two values are the same, not counting the contents of the entities inside them: they have the same entities in
  /// the same places, and equal fields. Relations that are `kept` count as the same.
  /// `schema` is that of both values, if it is known that they have the same.
  func haveSameFields(
    _ a: ValueReference, _ b: ValueReference, of schema: AnySchema?, keeping kept: [Bool], _ graph: Graph
  ) -> Bool { false }

  /// Whether the brief forms of two values, which omit some relations, are the same.
  func haveSameBrief(
    _ a: ValueReference, omitting omitted: [Bool], _ b: ValueReference, omitting others: [Bool], _ graph: Graph
  ) -> Bool { false }
  /// Whether the brief forms of a node's value and of a saved one are the same.
  func haveSameBrief(
    _ node: Node, omitting omitted: [Bool], _ state: SavedState, omitting others: [Bool], _ graph: Graph
  ) -> Bool { false }
  /// Whether two values are the same, and omit the same: an empty collection is not the same as an omitted one.
  func isSameForm(_ a: ValueReference, _ b: ValueReference) -> Bool { false }

  // MARK: Relations

  /// The schema of a value; `nil` if it has no relations.
  final func schema(of value: ValueReference) -> AnySchema? {
    if let fixedSchema { return fixedSchema }
    guard let ownSchema else { return nil }
    if case .own(let node) = value { return ownSchema(node) }
    return askedSchema(of: value)
  }
  /// Whether a node's value still has the schema that it was visited with.
  final func hasSchema(_ schema: AnySchema, _ node: Node) -> Bool {
    fixedSchema.map { $0 === schema } ?? (ownSchema?(node) === schema)
  }
  func askedSchema(of value: ValueReference) -> AnySchema? { nil }
  /// Visits a relation whose property is computed.
  func visitComputed(_ value: ValueReference, relation k: Int, of schema: AnySchema, _ visitor: Visitor) {}
  func isIdentical(_ a: ValueReference, _ b: ValueReference, relation k: Int, of schema: AnySchema) -> Bool { false }
  func omission(in value: ValueReference, relation k: Int, of schema: AnySchema) -> Omission { .none }
  /// Tries whether a relation of a node's value can be omitted.
  func canOmit(relation k: Int, of schema: AnySchema, in node: Node) -> Bool { false }
  /// Whether a relation of a value equals that of the node's brief form.
  func isSameAsBrief(_ value: ValueReference, relation k: Int, of schema: AnySchema, in node: Node) -> Bool { false }
  /// Replaces the storage by which a relation is recognised as omitted. Returns `false` if it is not omitted.
  func forgetOmission(in value: ValueReference, relation k: Int, of schema: AnySchema) -> Bool { false }
  /// Copies a relation from a node's value to a pending one. Returns `false` if both are the same already.
  func keep(relation k: Int, of schema: AnySchema, from node: Node, in slot: Int32) -> Bool { false }
  func refusesSelf(_ schema: AnySchema) -> Bool { false }

  // MARK: Values in nodes

  /// Writes the newest values of children at the stale ordinals.
  func patch(_ node: Node, _ stale: ContiguousArray<Int32>, _ forms: ChildForms, _ visitor: Visitor) -> PatchResult {
    .done
  }
  /// Writes the newest values of children in all relations.
  func patchAll(_ node: Node, _ forms: ChildForms, _ visitor: Visitor) -> PatchResult { .done }
  /// Removes the occurrences of removed entities from a value. Returns `false`, and changes nothing, if one cannot be removed.
  func removeOccurrences(from node: Node, _ cursor: RemovalCursor, keeping isTrial: Bool) -> Bool { true }
  /// Whether a relation of a value is `nil` or an empty collection.
  func lacks(in value: ValueReference, relation k: Int, of schema: AnySchema) -> Bool { false }
  /// Copies a node's fields into a pending value that lacks them. Returns whether there were any, and whether relations show
  /// them.
  func fillIn(_ slot: Int32, from node: Node, _ fields: Any) -> (isFilled: Bool, showsInRelations: Bool) {
    (false, false)
  }
  /// Whether a node has a value: all existing nodes have one, and most that existed.
  func hasValue(_ node: Node) -> Bool { false }
  func entity(of node: Node) -> (any Identifiable & Sendable)? { nil }
  func entity(pending slot: Int32) -> (any Identifiable & Sendable)? { nil }
  func committedEntity(of node: Node, _ view: CommittedView) -> (any Identifiable & Sendable)? { nil }
  func id(of node: Node) -> AnyHashable? { nil }
  /// Returns the node of an entity by its id.
  func node(_ id: AnyHashable) -> Node? { nil }
  /// Whether the id of a node's value is `nil`.
  func lacksID(_ node: Node) -> Bool { false }

  // MARK: Saved states

  func save(_ node: Node) -> SavedState { SavedState(node) }
  func restoreValue(of node: Node, from state: SavedState) {}
  /// Whether the own fields of a node differ from a saved state.
  func differs(_ node: Node, from state: SavedState, _ graph: Graph) -> Bool { false }
  /// Whether entities of a type can be inside of values of this one, as far as the store has seen values.
  final func canContain(_ other: AnyTable) -> Bool {
    var found: [AnyTable] = []
    var open = childTables
    while let table = open.popLast() {
      if table === other { return true }
      if found.contains(where: { $0 === table }) { continue }
      found.append(table)
      open += table.childTables
    }
    return false
  }

  /// Whether the value of a node, with all it contains, equals a saved state.
  func isSame(_ node: Node, as state: SavedState) -> Bool { false }
  /// Whether a value equals that of a saved state, not counting the contents of the entities inside it. Relations that are `kept`
  /// count as the same.
  func hasSameFields(
    _ value: ValueReference, as state: SavedState, keeping kept: [Bool] = [], _ graph: Graph
  ) -> Bool { false }
  /// Brings a saved value up to date with the committed values of children.
  func patch(_ state: SavedState, _ forms: ChildForms, _ visitor: Visitor, of node: Node) {}

  // MARK: Logging

  func log(_ event: LogEvent, _ node: Node) -> ((any EntityStoreLogger) -> Void)? { nil }
}

/// A reference to a value: in its node, or pending in its table.
enum ValueReference {
  case own(Node)
  case pending(Int32)
}

enum PatchResult {
  /// The value is up to date.
  case done
  /// The value is up to date, and its occurrences have changed.
  case reshaped
}

enum LogEvent {
  case stored
  case released
  case discarded(Stamp, stored: Stamp)
  case outrun(Stamp, stored: Stamp)
  case refused(RefusalReason)
  case imprecise(Stamp)
}

extension LogBuffer {
  /// Adds what happened to an entity.
  func append(_ event: LogEvent, _ node: Node) { append(node.table.log(event, node)) }
}
