/// The place of an entity, which is required there.
@usableFromInline enum EntityPlace<T: Identifiable & Sendable>: Place {
  @usableFromInline static var isFoundLater: Bool { isWrapper(T.self) }

  @inlinable static func visit(_ value: T, _ visitor: Visitor) { visitor.visit(value, in: visitor.table(T.self)) }

  @inlinable static func patch(_ value: inout T, _ cursor: inout PatchCursor) {
    if let newer = cursor.newer(than: value) { value = newer }
  }

  @usableFromInline static func remove(from value: inout T, _ cursor: RemovalCursor) -> Bool {
    !cursor.isRemoved(value)
  }

  @usableFromInline static func transplant(_ source: T, into value: inout T, _ graph: Graph) -> Bool {
    guard isSameEntity(source, value) else { return false }
    value = source
    return true
  }
}
