/// The place of a dictionary whose values are entities. Writing values keeps the dictionary's order.
@usableFromInline enum DictionaryPlace<Key: Hashable, T: Identifiable & Sendable>: Place {
  @usableFromInline static var order: PlaceOrder { .none }
  @usableFromInline static var canOmit: Omittability { .always }
  @usableFromInline static var canAlwaysRemove: Bool { true }
  @usableFromInline static var isFoundLater: Bool { isWrapper(T.self) }

  @inlinable static func visit(_ value: [Key: T], _ visitor: Visitor) {
    let table = visitor.table(T.self)
    for element in value.values { visitor.visit(element, in: table) }
  }

  @usableFromInline static func patch(_ value: inout [Key: T], _ cursor: inout PatchCursor) {
    var index = value.values.startIndex
    while index != value.values.endIndex {
      if let newer = cursor.newer(than: value.values[index]) { value.values[index] = newer }
      value.values.formIndex(after: &index)
    }
  }

  @usableFromInline static func remove(from value: inout [Key: T], _ cursor: RemovalCursor) -> Bool {
    value = value.filter { !cursor.isRemoved($0.value) }
    return true
  }

  @usableFromInline static func transplant(_ source: [Key: T], into value: inout [Key: T], _ graph: Graph) -> Bool {
    guard source.count == value.count else { return false }
    for key in value.keys {
      guard let element = source[key], let present = value[key], isSameEntity(element, present) else { return false }
      value[key] = element
    }
    return true
  }

  @usableFromInline static func omit(_ value: inout [Key: T], _ graph: Graph) {
    value = OmittedCollection<[Key: T]>.value ?? [:]
  }
  @usableFromInline static func forgetOmission(of value: inout [Key: T]) { value = [:] }
  @usableFromInline static func omission(of value: [Key: T]) -> Omission {
    OmittedCollection<[Key: T]>.omission(of: value)
  }
}
