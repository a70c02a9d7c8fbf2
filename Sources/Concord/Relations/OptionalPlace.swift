/// The place of an optional, which becomes `nil` when an entity that its value requires is removed.
@usableFromInline enum OptionalPlace<Inner: Place>: Place {
  @usableFromInline static var order: PlaceOrder { Inner.order }
  @usableFromInline static var isFoundLater: Bool { Inner.isFoundLater }
  @usableFromInline static var mayDependOnEntities: Bool { Inner.mayDependOnEntities }
  @usableFromInline static var canOmit: Omittability { .always }
  @usableFromInline static var canAlwaysRemove: Bool { true }

  @inlinable static func visit(_ value: Inner.Value?, _ visitor: Visitor) {
    if let value { Inner.visit(value, visitor) }
  }

  @inlinable static func patch(_ value: inout Inner.Value?, _ cursor: inout PatchCursor) {
    guard var inner = value else { return }
    value = nil  // so that a collection inside is not shared while it is written
    Inner.patch(&inner, &cursor)
    value = inner
  }

  @usableFromInline static func remove(from value: inout Inner.Value?, _ cursor: RemovalCursor) -> Bool {
    guard var inner = value else { return true }
    value = Inner.remove(from: &inner, cursor) ? inner : nil
    return true
  }

  @usableFromInline static func transplant(_ source: Inner.Value?, into value: inout Inner.Value?, _ graph: Graph)
    -> Bool
  {
    guard let source else { return value == nil }
    guard var inner = value, Inner.transplant(source, into: &inner, graph) else { return false }
    value = inner
    return true
  }

  @usableFromInline static func omit(_ value: inout Inner.Value?, _ graph: Graph) {
    guard Inner.canOmit == .always, var inner = value else { return value = nil }
    Inner.omit(&inner, graph)
    value = inner
  }

  @usableFromInline static func omission(of value: Inner.Value?) -> Omission {
    // An optional collection is omitted as an empty collection, so `nil` is a value like any other.
    value.map { Inner.omission(of: $0) } ?? (Inner.canOmit == .always ? .none : .absent)
  }

  @usableFromInline static func forgetOmission(of value: inout Inner.Value?) {
    guard var inner = value else { return }
    Inner.forgetOmission(of: &inner)
    value = inner
  }
}
