/// All nodes of one type of entity, found by id. The base class is what the engine does with values without knowing their
/// type.
@usableFromInline class AnyTable {
  /// The type of the entities.
  @usableFromInline final let valueType: ObjectIdentifier
  /// Whether values of the type can contain entities.
  @usableFromInline final let isAggregate: Bool
  /// Whether the type is `Equatable`.
  @usableFromInline final let isEquatable: Bool
  /// Whether ids are optionals, and so may be missing. Asked of the table, since the compiler asks the runtime each time.
  @usableFromInline final let hasOptionalIDs: Bool
  /// The schema of all values, if they have the same.
  final let fixedSchema: AnySchema?
  /// The schema of the value that a node has, if the relations are asked of each value. Specialised for the type.
  final let ownSchema: ((Node) -> AnySchema?)?
  @exclusivity(unchecked) @usableFromInline final var index = NodeIndex()
  /// The type can occur within itself, at some depth.
  @exclusivity(unchecked) final var isRecursive = false
  /// A recursive type can occur within this one.
  @exclusivity(unchecked) final var reachesRecursion = false
  /// Somebody waits for entities of the type.
  @exclusivity(unchecked) @usableFromInline final var isAwaiting = false
  /// The entities are aliases or collections of the store's own, which no logger hears of.
  @exclusivity(unchecked) @usableFromInline final var isInternal = false
  /// The nodes are those of hubs, which want to know when nobody observes them any longer.
  @exclusivity(unchecked) final var isOfHubs = false
  /// The graph, which keeps the table until it is dismantled.
  final weak var graph: Graph?
  /// The types that occur directly in this one.
  final var childTables: [AnyTable] = []

  init(
    valueType: ObjectIdentifier, isAggregate: Bool, isEquatable: Bool, hasOptionalIDs: Bool = false,
    fixedSchema: AnySchema? = nil, ownSchema: ((Node) -> AnySchema?)? = nil
  ) {
    self.valueType = valueType
    self.isAggregate = isAggregate
    self.isEquatable = isEquatable
    self.hasOptionalIDs = hasOptionalIDs
    self.fixedSchema = fixedSchema
    self.ownSchema = ownSchema
  }

  /// Every node of the type, awaited ones too.
  func allNodes() -> [Node] { index.all }
  /// Leaves the table for good, unless somebody holds it.
  final func remove(_ node: Node) {
    guard node.holders.count == 0 else { return }
    forgetAwaited(node)
    guard node.isIndexed else { return }
    _ = index.remove(node)
    node.hash = 0
  }

  func forgetAwaited(_ node: Node) {}

  /// Lets go of all nodes, and of types that may contain this one, because the store goes.
  func dismantle() {
    index = NodeIndex()
    childTables = []
  }

  /// Enters the index.
  final func add(_ node: Node, hash: UInt32) {
    node.hash = hash
    index.insert(node)
  }

  /// The same for a new node with a value: the entity exists from now on.
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

  /// Whether two values are the same: by `==` if there is one, else by their bits.
  func isSame(_ a: ValueReference, _ b: ValueReference) -> Bool { false }
  func haveSameBits(_ a: ValueReference, _ b: ValueReference) -> Bool { false }
  func haveSameID(_ a: ValueReference, _ b: ValueReference) -> Bool { false }
  /// Whether two values are the same but for what is inside the entities they contain: the same entities in the same places,
  /// and all else equal. Relations that are `kept` count as the same.
  func haveSameFields(_ a: ValueReference, _ b: ValueReference, keeping kept: [Bool], _ graph: Graph) -> Bool { false }

  /// The same of what brief forms show, which leave some relations out.
  func haveSameBrief(
    _ a: ValueReference, omitting omitted: [Bool], _ b: ValueReference, omitting others: [Bool], _ graph: Graph
  ) -> Bool { false }
  /// The same of the value that a node has and a saved one.
  func haveSameBrief(
    _ node: Node, omitting omitted: [Bool], _ state: SavedState, omitting others: [Bool], _ graph: Graph
  ) -> Bool { false }
  /// Whether two values are the same, and leave out the same: an empty collection is not the same as one that was left out.
  func isSameForm(_ a: ValueReference, _ b: ValueReference) -> Bool { false }

  // MARK: Relations

  /// The schema of a value; `nil` if it has no relations.
  final func schema(of value: ValueReference) -> AnySchema? {
    if let fixedSchema { return fixedSchema }
    guard let ownSchema else { return nil }
    if case .own(let node) = value { return ownSchema(node) }
    return askedSchema(of: value)
  }
  /// Whether that of a node's value is still the one it was visited with.
  final func hasSchema(_ schema: AnySchema, _ node: Node) -> Bool {
    fixedSchema.map { $0 === schema } ?? (ownSchema?(node) === schema)
  }
  func askedSchema(of value: ValueReference) -> AnySchema? { nil }
  func visit(_ value: ValueReference, relation k: Int, of schema: AnySchema, _ visitor: Visitor) {}
  func isIdentical(_ a: ValueReference, _ b: ValueReference, relation k: Int, of schema: AnySchema) -> Bool { false }
  func omission(in value: ValueReference, relation k: Int, of schema: AnySchema) -> Omission { .none }
  /// Tries whether a relation of the node's value can be left out.
  func canOmit(relation k: Int, of schema: AnySchema, in node: Node) -> Bool { false }
  /// Whether a relation has the same as the brief form of the node.
  func isSameAsBrief(_ value: ValueReference, relation k: Int, of schema: AnySchema, in node: Node) -> Bool { false }
  /// Takes the storage away by which a relation is recognised as one that was left out; `false` if it is none.
  func forgetOmission(in value: ValueReference, relation k: Int, of schema: AnySchema) -> Bool { false }
  /// Copies a place from the node's value to a pending one; `false` if it has the same already.
  func keep(relation k: Int, of schema: AnySchema, from node: Node, in slot: Int32) -> Bool { false }
  func refusesSelf(_ schema: AnySchema) -> Bool { false }

  // MARK: Values in nodes

  /// Writes the newest values of children at the stale ordinals.
  func patch(_ node: Node, _ stale: ContiguousArray<Int32>, _ forms: ChildForms, _ visitor: Visitor) -> PatchResult {
    .done
  }
  /// Writes the newest values of children wherever they stand.
  func patchAll(_ node: Node, _ forms: ChildForms, _ visitor: Visitor) -> PatchResult { .done }
  /// Removes the occurrences of removed entities from the value; `false`, and nothing changed, if one cannot go.
  func removeOccurrences(from node: Node, _ cursor: RemovalCursor, keeping isTrial: Bool) -> Bool { true }
  /// Whether a relation of a value is `nil` or an empty collection.
  func lacks(in value: ValueReference, relation k: Int, of schema: AnySchema) -> Bool { false }
  /// Puts a node's fields into a pending value that lacks them; whether there were any, and whether relations show it.
  func fillIn(_ slot: Int32, from node: Node, _ fields: Any) -> (isFilled: Bool, showsInRelations: Bool) {
    (false, false)
  }
  func entity(of node: Node) -> (any Identifiable & Sendable)? { nil }
  func committedEntity(of node: Node, _ view: CommittedView) -> (any Identifiable & Sendable)? { nil }
  func id(of node: Node) -> AnyHashable? { nil }
  /// Whether the id of a node's value is `nil`.
  func lacksID(_ node: Node) -> Bool { false }

  // MARK: Saved states

  func save(_ node: Node) -> SavedState { SavedState(node) }
  func restoreValue(of node: Node, from state: SavedState) {}
  /// Whether the node's own fields are others than they were.
  func differs(_ node: Node, from state: SavedState, _ graph: Graph) -> Bool { false }
  /// Whether the node's value, with all it shows, is the saved one.
  func isSame(_ node: Node, as state: SavedState) -> Bool { false }
  /// Brings a saved value up to date with the committed values of children.
  func patch(_ state: SavedState, _ forms: ChildForms, _ visitor: Visitor, of node: Node) {}

  // MARK: Logging

  func log(_ event: LogEvent, _ node: Node) -> ((any EntityStoreLogger) -> Void)? { nil }
}

/// Where a value is: in its node, or pending in its table.
enum ValueReference {
  case own(Node)
  case pending(Int32)
}

enum PatchResult {
  /// The value is up to date.
  case done
  /// The value is up to date, and its occurrences are others than before.
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
