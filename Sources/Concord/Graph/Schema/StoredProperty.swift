// Relies on: `MemoryLayout.offset(of:)` gives an offset only for a property that is stored directly in the value, without
// observers, through any depth of structs; at that offset lies a value of the key path's type. The pointers live for the
// call only.

/// A property that is stored directly in its value: read and written in place, without walking the key path.
@usableFromInline struct StoredProperty<Root, Value> {
  @usableFromInline let offset: Int

  /// `nil` for a property that is computed or observed.
  @inlinable init?(_ keyPath: WritableKeyPath<Root, Value>) {
    guard let offset = MemoryLayout<Root>.offset(of: keyPath) else { return nil }
    self.offset = offset
  }

  /// At an offset that was found before for the key path.
  @inlinable init(offset: Int) { self.offset = offset }

  @inlinable func read<R>(_ root: Root, _ body: (Value) -> R) -> R {
    withUnsafeBytes(of: root) { bytes in
      bytes.baseAddress.map { body(($0 + offset).assumingMemoryBound(to: Value.self).pointee) }.unsafelyUnwrapped
    }
  }

  @inlinable func modify(_ root: inout Root, _ body: (inout Value) -> Void) {
    withUnsafeMutableBytes(of: &root) { bytes in
      if let start = bytes.baseAddress { body(&(start + offset).assumingMemoryBound(to: Value.self).pointee) }
    }
  }

  /// Whether the property has the same bits in both.
  func hasSameBits(_ a: Root, _ b: Root) -> Bool {
    let range = offset..<offset + MemoryLayout<Value>.size
    return withUnsafeBytes(of: a) { a in
      withUnsafeBytes(of: b) { bytesAreEqual(.init(rebasing: a[range]), .init(rebasing: $0[range])) }
    }
  }
}
