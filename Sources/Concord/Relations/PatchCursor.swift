/// Hands out children's newest values, occurrence by occurrence, to the places of one value.
@usableFromInline struct PatchCursor {
  /// Which form of a child is wanted; see `Engine+Cycles`.
  @usableFromInline enum Form { case whole, near, far }

  @usableFromInline let ordinals: ContiguousArray<Int32>
  @usableFromInline var next = 0
  @usableFromInline var position: Int32 = 0
  @usableFromInline let engineReference: Unmanaged<Engine>
  @usableFromInline unowned(unsafe) let parent: Node?
  @usableFromInline unowned(unsafe) let children: ChildList?
  @usableFromInline let form: Form
  /// Where the tables have the values to write, if they are not the children's own.
  @usableFromInline let values: ContiguousArray<Given>
  /// A place does not have its occurrences in the same order as before.
  @usableFromInline var didReorder = false

  @inlinable init(_ ordinals: ContiguousArray<Int32>, of parent: Node, children: ChildList, form: Form = .whole) {
    self.ordinals = ordinals
    engineReference = parent.withTable { $0.engineReference }
    self.parent = parent
    self.children = children
    self.form = form
    values = []
  }

  /// Writes these values, one for each occurrence.
  @inlinable init(values: ContiguousArray<Given>, in engine: Engine) {
    ordinals = ContiguousArray(0..<Int32(truncatingIfNeeded: values.count))
    engineReference = Unmanaged.passUnretained(engine)
    parent = nil
    children = nil
    form = .whole
    self.values = values
  }

  /// Works with the engine without counting the reference.
  @inlinable @inline(__always) func withEngine<R>(_ body: (Engine) -> R) -> R {
    engineReference._withUnsafeGuaranteedRef(body)
  }

  @inlinable func hasWork(before end: Int32) -> Bool { next < ordinals.count && ordinals[next] < end }

  /// Goes to where a relation begins.
  @inlinable mutating func move(to position: Int32) {
    self.position = position
    while next < ordinals.count, ordinals[next] < position { next += 1 }
  }

  /// Passes `count` occurrences of `T`, calling `write` with the index among them and the value for each that needs one.
  @inlinable @inline(__always)
  mutating func pass<T: Identifiable & Sendable>(
    _ count: Int, of type: T.Type = T.self, write: (Int, T) -> Void
  ) {
    let end = position + Int32(truncatingIfNeeded: count)
    while next < ordinals.count, ordinals[next] < end {
      let ordinal = ordinals[next]
      next += 1
      if let children, let parent {
        children.edges[Int(ordinal)].reference.with {
          let child = unsafeDowncast($0, to: EntityNode<T>.self)
          if let value = child.shown(in: form, at: ordinal, of: parent) { write(Int(ordinal - position), value) }
        }
      } else {
        let given = values[Int(ordinal)]
        let node = unsafeDowncast(given.node.node, to: EntityNode<T>.self)
        if let value = given.staged < 0 ? node.value : node.typedTable.staged[given.staged].pointee {
          write(Int(ordinal - position), value)
        }
      }
    }
    position = end
  }
}
