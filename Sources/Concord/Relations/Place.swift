/// A type of property in which entities can stand. Places compose: an optional place, a collection of places.
///
/// `walk`, `patch` and `takeOut` pass the same occurrences in the same order for the same value.
@usableFromInline protocol Place {
  associatedtype Value
  static func walk(_ value: UnsafePointer<Value>, _ walker: Walker)
  static func patch(_ value: UnsafeMutablePointer<Value>, _ cursor: inout PatchCursor)
  /// `false` if an occurrence to be taken out is required here; the value may be half changed then, and is thrown away.
  static func takeOut(_ value: UnsafeMutablePointer<Value>, _ cursor: inout RemovalCursor) -> Bool
  static func isIdentical(_ a: UnsafePointer<Value>, _ b: UnsafePointer<Value>) -> Bool
  static var order: PlaceOrder { get }
}

/// What the order in which a place is walked says of the value.
@usableFromInline enum PlaceOrder {
  /// Another order is another value.
  case elements
  /// The order may differ between equal values, but not what stands under which key.
  case keys
  /// The order says nothing.
  case none
}

extension Place {
  @inlinable static var order: PlaceOrder { .elements }

  @inlinable static func isIdentical(_ a: UnsafePointer<Value>, _ b: UnsafePointer<Value>) -> Bool {
    haveSameBits(a, b)
  }
}

/// Whether two values have the same bits, and are therefore the same; equal values may well have different ones.
@inlinable @inline(__always) func haveSameBits<T>(_ a: UnsafePointer<T>, _ b: UnsafePointer<T>) -> Bool {
  bitsAreEqual(a, b, MemoryLayout<T>.size)
}

/// An entity.
@usableFromInline enum EntityPlace<T: Identifiable & Sendable>: Place {
  @inlinable static func walk(_ value: UnsafePointer<T>, _ walker: Walker) {
    walker.visit(value, in: walker.table(T.self))
  }

  @inlinable static func patch(_ value: UnsafeMutablePointer<T>, _ cursor: inout PatchCursor) {
    cursor.pass(1, of: T.self) { value.pointee = $1 }
  }

  @inlinable static func takeOut(_ value: UnsafeMutablePointer<T>, _ cursor: inout RemovalCursor) -> Bool {
    let ordinal = cursor.position
    guard cursor.pass() else { return true }
    cursor.require(since: ordinal)
    return false
  }
}

/// An optional place. What is required inside makes it `nil`.
@usableFromInline enum OptionalPlace<Inner: Place>: Place {
  @inlinable static var order: PlaceOrder { Inner.order }

  @inlinable static func walk(_ value: UnsafePointer<Inner.Value?>, _ walker: Walker) {
    guard let inner = value.pointee else { return walker.passNil() }
    withUnsafePointer(to: inner) { Inner.walk($0, walker) }
  }

  @inlinable static func patch(_ value: UnsafeMutablePointer<Inner.Value?>, _ cursor: inout PatchCursor) {
    guard var inner = value.pointee else { return }
    value.pointee = nil  // so that a collection inside is not shared while it is written
    withUnsafeMutablePointer(to: &inner) { Inner.patch($0, &cursor) }
    value.pointee = inner
  }

  @inlinable static func takeOut(_ value: UnsafeMutablePointer<Inner.Value?>, _ cursor: inout RemovalCursor) -> Bool {
    guard var inner = value.pointee else { return true }
    let start = cursor.position
    if Inner.takeOut(&inner, &cursor) {
      value.pointee = inner
    } else {
      value.pointee = nil
      cursor.dropAll(since: start)
    }
    return true
  }
}

/// A wrapper: asked which entities are in this very value.
@usableFromInline enum WrapperPlace<W: EntityWrapper>: Place {
  @inlinable static func walk(_ value: UnsafePointer<W>, _ walker: Walker) {
    for relation in walker.withEngine({ $0.schema(of: value) }).relations { relation.walk(value, walker) }
  }

  @inlinable static func patch(_ value: UnsafeMutablePointer<W>, _ cursor: inout PatchCursor) {
    for relation in cursor.withEngine({ $0.schema(of: value) }).relations { relation.patch(value, &cursor) }
  }

  @inlinable static func takeOut(_ value: UnsafeMutablePointer<W>, _ cursor: inout RemovalCursor) -> Bool {
    var all = true
    for relation in cursor.engine.schema(of: value).relations where !relation.takeOut(value, &cursor) { all = false }
    return all
  }
}
