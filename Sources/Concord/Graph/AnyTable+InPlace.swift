// Invariant: a stored property of a class has the same offset in each of its instances, and an optional with a value has it
// at its own address. Callers hold the lock, so no other thread writes the node meanwhile, and an existing node has a value,
// except while it is compared, asked for its relations, or replaced. Debug builds check that.

/// The layout of a type's values, for code that does not know the type, which would have to ask the runtime each time.
struct ValueLayout {
  /// The offset of the value in a node of the type.
  private(set) var offset = 0
  private(set) var size = 0

  init() {}

  init<T: Identifiable & Sendable>(_ node: EntityNode<T>) {
    let start = UnsafeRawPointer(Unmanaged.passUnretained(node).toOpaque())
    offset = withUnsafeMutablePointer(to: &node.value) { UnsafeRawPointer($0) - start }
    size = MemoryLayout<T>.size
  }
}

extension AnyTable {
  /// Returns the address of a value, which is valid until the next write; `nil` if there is none.
  @inline(__always) final func address(of value: ValueReference) -> UnsafeMutableRawPointer? {
    switch value {
    case .own(let node):
      guard node.table.valueType == valueType, node.exists || hasValue(node) else { return nil }
      assert(hasValue(node), "the value is taken out")
      return Unmanaged.passUnretained(node).toOpaque() + layout.offset
    case .pending(let slot): return pending.address(slot)
    }
  }

  /// Visits the entities in one relation of a value.
  final func visit(_ value: ValueReference, relation k: Int, of schema: AnySchema, _ visitor: Visitor) {
    guard let visit = schema.places[k].visitAt else { return visitComputed(value, relation: k, of: schema, visitor) }
    if let address = address(of: value) { visit(address + schema.places[k].offset, visitor) }
  }

  /// Writes newer values into one relation of a node's value, whose property is stored.
  final func patchStored(_ node: Node, relation k: Int, of schema: AnySchema, _ cursor: inout PatchCursor) {
    guard let patch = schema.places[k].patchAt, let address = address(of: .own(node)) else { return }
    patch(address + schema.places[k].offset, &cursor)
  }

  /// Whether two values are the same: by `==` if there is one, else by their bits. What is not equal to itself, as NaN is not, is
  /// compared by its bits, too.
  final func isSame(_ a: ValueReference, _ b: ValueReference) -> Bool {
    guard let a = address(of: a), let b = address(of: b) else { return false }
    return isSame(at: a, b)
  }

  private func isSame(at a: UnsafeRawPointer, _ b: UnsafeRawPointer) -> Bool {
    isEqualAt(a, b) || haveSameBytes(a, b, layout.size)
  }

  final func haveSameBits(_ a: ValueReference, _ b: ValueReference) -> Bool {
    guard let a = address(of: a), let b = address(of: b) else { return false }
    return haveSameBytes(a, b, layout.size)
  }

  /// Whether two values of a schema are the same, if the very same stands in all of their relations; otherwise `nil`.
  final func isSameBesideIdentical(_ a: ValueReference, _ b: ValueReference, _ schema: AnySchema) -> Bool? {
    guard let a = address(of: a), let b = address(of: b) else { return nil }
    for k in schema.indices {
      let relation = schema.places[k]
      guard relation.visitAt != nil, haveSameBytes(a + relation.offset, b + relation.offset, relation.size) else {
        return nil
      }
    }
    return isSame(at: a, b)
  }
}

func haveSameBytes(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, _ count: Int) -> Bool {
  bytesAreEqual(UnsafeRawBufferPointer(start: a, count: count), UnsafeRawBufferPointer(start: b, count: count))
}
