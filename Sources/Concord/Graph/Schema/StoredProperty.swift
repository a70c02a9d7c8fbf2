// Invariant: `MemoryLayout.offset(of:)` returns an offset only for a property that is stored directly in the value, without
// observers, through any depth of structs, and at that offset is a value of the key path's type. Pointers are used during the
// call only.

/// A property that is stored directly in its value, and so is read and written in place, without evaluating the key path.
@usableFromInline struct StoredProperty<Root, Value> {
  @usableFromInline let offset: Int

  /// Creates a stored property; `nil` if the property is computed or has observers.
  @inlinable init?(_ keyPath: WritableKeyPath<Root, Value>) {
    guard let offset = MemoryLayout<Root>.offset(of: keyPath) else { return nil }
    self.offset = offset
  }

  /// Returns a function that visits the entities of a property at an address, specialised for its type.
  @inlinable static func visit<P: Place>(_: P.Type) -> (UnsafeRawPointer, Visitor) -> Void where P.Value == Value {
    { P.visit($0.assumingMemoryBound(to: Value.self).pointee, $1) }
  }

  /// Returns a function that writes newer values into a property at an address, specialised for its type.
  @inlinable static func patch<P: Place>(
    _: P.Type
  ) -> (UnsafeMutableRawPointer, inout PatchCursor) -> Void where P.Value == Value {
    { P.patch(&$0.assumingMemoryBound(to: Value.self).pointee, &$1) }
  }

  /// Returns the address of the property in the value at an address.
  func pointer(in root: UnsafePointer<Root>) -> UnsafePointer<Value> {
    (UnsafeRawPointer(root) + offset).assumingMemoryBound(to: Value.self)
  }

  /// Whether the property has the same bits in the values at two addresses.
  func hasSameBits(at a: UnsafePointer<Root>, _ b: UnsafePointer<Root>) -> Bool {
    let size = MemoryLayout<Value>.size
    return bytesAreEqual(
      UnsafeRawBufferPointer(start: UnsafeRawPointer(a) + offset, count: size),
      UnsafeRawBufferPointer(start: UnsafeRawPointer(b) + offset, count: size))
  }
}

extension Relation {
  /// Visits each entity in the place of the value at an address, in a fixed order.
  @inlinable @inline(__always) final func visit(at root: UnsafePointer<Root>, _ visitor: Visitor) {
    if let visitAt { visitAt(UnsafeRawPointer(root) + offset, visitor) } else { visitComputed(root.pointee, visitor) }
  }

  @inlinable final func visit(_ root: Root, _ visitor: Visitor) {
    withUnsafePointer(to: root) { visit(at: $0, visitor) }
  }

  /// Walks through the place in the same order, and writes the newer values that the cursor has.
  @inlinable final func patch(_ root: inout Root, _ cursor: inout PatchCursor) {
    guard let patchAt else { return patchComputed(&root, &cursor) }
    withUnsafeMutablePointer(to: &root) { patchAt(UnsafeMutableRawPointer($0) + offset, &cursor) }
  }

  /// Whether two values are known, at little cost, to have the same in the place.
  @inline(__always) final func isIdentical(_ a: Root, _ b: Root) -> Bool {
    withUnsafePointer(to: a) { a in withUnsafePointer(to: b) { isIdentical(at: a, $0) } }
  }
}
