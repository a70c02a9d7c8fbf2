/// What the engine does with a node whose type it does not know.
///
/// Functions rather than overridden methods: they are made where the type is known, and so they are specialised for it.
@usableFromInline struct NodeOperations {
  /// Puts the children's newest values where they stand, and forgets which were old.
  @usableFromInline let patchDirtyChildren: (Node) -> Void
  /// The whole state, to come back to.
  @usableFromInline let captureState: (Node) -> NodeState
  /// Goes back to a state; gives the one that was.
  @usableFromInline let exchange: (Node, NodeState) -> NodeState
  /// Whether the present state is another, as observers see it.
  @usableFromInline let differs: (Node, NodeState) -> Bool
  /// Decides about a value that won in its call, and takes it if it is newer.
  @usableFromInline let apply: (Node, inout WriteCall.Item, WriteCall) -> Void
  /// Meets the entities inside an item's value.
  @usableFromInline let walk: (Node, WriteCall.Item, WriteCall) -> Void
  /// Whether the value is still the one staged at this index, although it was written.
  @usableFromInline let isUnchanged: (Node, Int32) -> Bool
  /// Notes a value that a closure was given; `false` if it is known already.
  @usableFromInline let noteGiven: (Node, Int32, WriteCall) -> Bool
  /// Meets what is inside a value that a closure was given.
  @usableFromInline let readGivens: (Node, Int32, GivenReader) -> Void
  /// Takes occurrences out of the value; `false`, and nothing changed, if one is required.
  @usableFromInline let takeOut: (Node, [Int32], Engine) -> Bool
  /// Leaves the table for good.
  @usableFromInline let leaveTable: (Node) -> Void
  /// Makes the shape with all relations, for inside a cycle or as the root; see `CycleSearch`.
  @usableFromInline let makeNearForm: (Node, Bool) -> Void
  /// Makes the shape without these occurrences.
  @usableFromInline let makeFarForm: (Node, [Int32]) -> Void
  /// Those among the occurrences that cannot be left out.
  @usableFromInline let required: (Node, [Int32]) -> [Int32]
  /// Forgets the shapes.
  @usableFromInline let dropForms: (Node) -> Void
  /// What to tell a logger when the entity is let go.
  @usableFromInline let logRelease: (Node, any EntityStoreLogger) -> (() -> Void)?
  /// The id, for messages to the store's own developers.
  @usableFromInline let debugID: (Node) -> String
  /// Forgets the values that waited in the table to be applied.
  @usableFromInline let endCall: (AnyTable) -> Void
  /// The value, whatever its type.
  @usableFromInline let entity: (Node) -> (any Identifiable & Sendable)?

  @inlinable init(
    patchDirtyChildren: @escaping (Node) -> Void,
    captureState: @escaping (Node) -> NodeState,
    exchange: @escaping (Node, NodeState) -> NodeState,
    differs: @escaping (Node, NodeState) -> Bool,
    apply: @escaping (Node, inout WriteCall.Item, WriteCall) -> Void,
    walk: @escaping (Node, WriteCall.Item, WriteCall) -> Void,
    isUnchanged: @escaping (Node, Int32) -> Bool,
    noteGiven: @escaping (Node, Int32, WriteCall) -> Bool,
    readGivens: @escaping (Node, Int32, GivenReader) -> Void,
    takeOut: @escaping (Node, [Int32], Engine) -> Bool,
    leaveTable: @escaping (Node) -> Void,
    makeNearForm: @escaping (Node, Bool) -> Void,
    makeFarForm: @escaping (Node, [Int32]) -> Void,
    required: @escaping (Node, [Int32]) -> [Int32],
    dropForms: @escaping (Node) -> Void,
    logRelease: @escaping (Node, any EntityStoreLogger) -> (() -> Void)?,
    debugID: @escaping (Node) -> String,
    endCall: @escaping (AnyTable) -> Void,
    entity: @escaping (Node) -> (any Identifiable & Sendable)?
  ) {
    self.patchDirtyChildren = patchDirtyChildren
    self.captureState = captureState
    self.exchange = exchange
    self.differs = differs
    self.apply = apply
    self.walk = walk
    self.isUnchanged = isUnchanged
    self.noteGiven = noteGiven
    self.readGivens = readGivens
    self.takeOut = takeOut
    self.leaveTable = leaveTable
    self.makeNearForm = makeNearForm
    self.makeFarForm = makeFarForm
    self.required = required
    self.dropForms = dropForms
    self.logRelease = logRelease
    self.debugID = debugID
    self.endCall = endCall
    self.entity = entity
  }
}

extension Node {
  @usableFromInline func patchDirtyChildren() { table.operations.patchDirtyChildren(self) }
  @usableFromInline func captureState() -> NodeState { table.operations.captureState(self) }
  @usableFromInline func exchange(_ state: NodeState) -> NodeState { table.operations.exchange(self, state) }
  @usableFromInline func differs(from state: NodeState) -> Bool { table.operations.differs(self, state) }
  @usableFromInline func apply(_ item: inout WriteCall.Item, in call: WriteCall) {
    table.operations.apply(self, &item, call)
  }
  @usableFromInline func walk(_ item: WriteCall.Item, in call: WriteCall) { table.operations.walk(self, item, call) }
  @usableFromInline func isUnchanged(since previous: Int32) -> Bool { table.operations.isUnchanged(self, previous) }
  @usableFromInline func note(givenAt staged: Int32, in call: WriteCall) -> Bool {
    table.operations.noteGiven(self, staged, call)
  }
  @usableFromInline func readGivens(at staged: Int32, with reader: GivenReader) {
    table.operations.readGivens(self, staged, reader)
  }
  @usableFromInline func takeOut(_ ordinals: [Int32], in engine: Engine) -> Bool {
    table.operations.takeOut(self, ordinals, engine)
  }
  @usableFromInline func leaveTable() { table.operations.leaveTable(self) }
  @usableFromInline func makeNearForm(asRoot: Bool) { table.operations.makeNearForm(self, asRoot) }
  @usableFromInline func makeFarForm(leavingOut ordinals: [Int32]) { table.operations.makeFarForm(self, ordinals) }
  @usableFromInline func required(among ordinals: [Int32]) -> [Int32] { table.operations.required(self, ordinals) }
  @usableFromInline func dropForms() { table.operations.dropForms(self) }
  @usableFromInline func logRelease(to logger: any EntityStoreLogger) -> (() -> Void)? {
    table.operations.logRelease(self, logger)
  }
  @usableFromInline var debugID: String { table.operations.debugID(self) }
  @usableFromInline var entity: (any Identifiable & Sendable)? { table.operations.entity(self) }
}

extension EntityNode {
  /// The operations on nodes of this type.
  @inlinable static func operations() -> NodeOperations {
    @inline(__always) func own(_ node: Node) -> EntityNode<T> { unsafeDowncast(node, to: EntityNode<T>.self) }
    return NodeOperations(
      patchDirtyChildren: { own($0).patchChildren() },
      captureState: { EntityState(own($0)) },
      exchange: { own($0).swapState(with: $1) },
      differs: { own($0).isOther(than: $1) },
      apply: { own($0).decide(&$1, in: $2) },
      walk: { own($0).meetChildren(of: $1, in: $2) },
      isUnchanged: { own($0).isEqual(asStagedAt: $1) },
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
      endCall: { unsafeDowncast($0, to: Table<T>.self).staged.removeAll() },
      entity: { own($0).value })
  }
}
