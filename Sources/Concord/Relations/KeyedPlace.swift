/// The place of a dictionary whose values are wrappers or containers, such as `[String: [Book]]`. Writing values keeps the
/// dictionary's order. A value that requires a removed entity is removed with its key.
@usableFromInline enum KeyedPlace<Key: Hashable, Inner: Place>: Place {
  @usableFromInline static var order: PlaceOrder { .depends }
  @usableFromInline static var canOmit: Omittability { .always }
  @usableFromInline static var canAlwaysRemove: Bool { true }
  @usableFromInline static var isFoundLater: Bool { Inner.isFoundLater }
  @usableFromInline static var mayDependOnEntities: Bool { Inner.mayDependOnEntities }

  @inlinable static func visit(_ value: [Key: Inner.Value], _ visitor: Visitor) {
    for element in value.values { Inner.visit(element, visitor) }
  }

  @inlinable static func patch(_ value: inout [Key: Inner.Value], _ cursor: inout PatchCursor) {
    var index = value.values.startIndex
    while index != value.values.endIndex {
      Inner.patch(&value.values[index], &cursor)
      value.values.formIndex(after: &index)
    }
  }

  @usableFromInline static func remove(from value: inout [Key: Inner.Value], _ cursor: RemovalCursor) -> Bool {
    var lost: [Key] = []
    for (key, var element) in value {
      if Inner.remove(from: &element, cursor) { value[key] = element } else { lost.append(key) }
    }
    for key in lost { value[key] = nil }
    return true
  }

  @usableFromInline static func transplant(
    _ source: [Key: Inner.Value], into value: inout [Key: Inner.Value], _ graph: Graph
  ) -> Bool {
    guard source.count == value.count else { return false }
    for index in value.indices {
      guard let element = source[value[index].key], Inner.transplant(element, into: &value.values[index], graph)
      else { return false }
    }
    return true
  }

  @usableFromInline static func omit(_ value: inout [Key: Inner.Value], _ graph: Graph) {
    value = OmittedCollection<[Key: Inner.Value]>.value ?? [:]
  }
  @usableFromInline static func forgetOmission(of value: inout [Key: Inner.Value]) { value = [:] }
  @usableFromInline static func omission(of value: [Key: Inner.Value]) -> Omission {
    OmittedCollection<[Key: Inner.Value]>.omission(of: value)
  }
}
