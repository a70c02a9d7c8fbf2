/// What the engine does with a node whose type it does not know.
///
/// Functions rather than overridden methods: they are made where the type is known, and so they are specialised for it.
struct NodeOperations {
  /// Puts the children's newest values where they stand, and forgets which were old.
  let patchDirtyChildren: (Node) -> Void
  /// The whole state, to come back to.
  let captureState: (Node) -> NodeState
  /// Goes back to a state; gives the one that was.
  let exchange: (Node, NodeState) -> NodeState
  /// Whether the present state is another, as observers see it.
  let differs: (Node, NodeState) -> Bool
  /// Decides about a value that won in its call, and takes it if it is newer.
  let apply: (Node, inout WriteCall.Item, WriteCall) -> Void
  /// Meets the entities inside an item's value.
  let walk: (Node, WriteCall.Item, WriteCall) -> Void
  /// Whether the value is still the one staged at this index, although it was written.
  let isUnchanged: (Node, Int32) -> Bool
  /// Notes a value that a closure was given; `false` if it is known already.
  let noteGiven: (Node, Int32, WriteCall) -> Bool
  /// Meets what is inside a value that a closure was given.
  let readGivens: (Node, Int32, GivenReader) -> Void
  /// Takes occurrences out of the value; `false`, and nothing changed, if one is required.
  let takeOut: (Node, [Int32], Engine) -> Bool
  /// Leaves the table for good.
  let leaveTable: (Node) -> Void
  /// Makes the shape with all relations, for inside a cycle or as the root; see `CycleSearch`.
  let makeNearForm: (Node, Bool) -> Void
  /// Makes the shape without these occurrences.
  let makeFarForm: (Node, [Int32]) -> Void
  /// Those among the occurrences that cannot be left out.
  let required: (Node, [Int32]) -> [Int32]
  /// Forgets the shapes.
  let dropForms: (Node) -> Void
  /// What to tell a logger when the entity is let go.
  let logRelease: (Node, any EntityStoreLogger) -> (() -> Void)?
  /// The id, for messages to the store's own developers.
  let debugID: (Node) -> String
  /// The value, whatever its type.
  let entity: (Node) -> (any Identifiable & Sendable)?
}

extension Node {
  func patchDirtyChildren() { table.operations.patchDirtyChildren(self) }
  func captureState() -> NodeState { table.operations.captureState(self) }
  func exchange(_ state: NodeState) -> NodeState { table.operations.exchange(self, state) }
  func differs(from state: NodeState) -> Bool { table.operations.differs(self, state) }
  func apply(_ item: inout WriteCall.Item, in call: WriteCall) { table.operations.apply(self, &item, call) }
  func walk(_ item: WriteCall.Item, in call: WriteCall) { table.operations.walk(self, item, call) }
  func isUnchanged(since previous: Int32) -> Bool { table.operations.isUnchanged(self, previous) }
  func note(givenAt staged: Int32, in call: WriteCall) -> Bool { table.operations.noteGiven(self, staged, call) }
  func readGivens(at staged: Int32, with reader: GivenReader) { table.operations.readGivens(self, staged, reader) }
  func takeOut(_ ordinals: [Int32], in engine: Engine) -> Bool { table.operations.takeOut(self, ordinals, engine) }
  func leaveTable() { table.operations.leaveTable(self) }
  func makeNearForm(asRoot: Bool) { table.operations.makeNearForm(self, asRoot) }
  func makeFarForm(leavingOut ordinals: [Int32]) { table.operations.makeFarForm(self, ordinals) }
  func required(among ordinals: [Int32]) -> [Int32] { table.operations.required(self, ordinals) }
  func dropForms() { table.operations.dropForms(self) }
  func logRelease(to logger: any EntityStoreLogger) -> (() -> Void)? { table.operations.logRelease(self, logger) }
  var debugID: String { table.operations.debugID(self) }
  var entity: (any Identifiable & Sendable)? { table.operations.entity(self) }
}

extension EntityNode {
  /// The operations on nodes of this type.
  static func operations() -> NodeOperations {
    @inline(__always) func own(_ node: Node) -> EntityNode<T> { unsafeDowncast(node, to: EntityNode<T>.self) }
    return NodeOperations(
      patchDirtyChildren: { own($0).patchChildren() },
      captureState: { EntityState(own($0)) },
      exchange: { own($0).swapState(with: $1) },
      differs: { own($0).isOther(than: $1) },
      apply: { own($0).decide(&$1, in: $2) },
      walk: { own($0).meetChildren(of: $1, in: $2) },
      isUnchanged: { own($0).isSame(asStagedAt: $1) },
      noteGiven: { own($0).isNewGiven($1, in: $2) },
      readGivens: { own($0).readInside($1, with: $2) },
      takeOut: { own($0).removeOccurrences($1, in: $2) },
      leaveTable: { own($0).typedTable.remove(own($0)) },
      makeNearForm: { own($0).makeNear(asRoot: $1) },
      makeFarForm: { own($0).makeFar(leavingOut: $1) },
      required: { own($0).requiredOccurrences(among: $1) },
      dropForms: { $0.children?.forms = nil },
      logRelease: { own($0).releaseEntry(for: $1) },
      debugID: { own($0).value.map { "\($0.id)" } ?? "awaited" },
      entity: { own($0).value })
  }
}
