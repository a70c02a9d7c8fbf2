/// The place of any other mutable collection, element by element.
@usableFromInline enum CollectionPlace<C: MutableCollection, Element: Place>: Place where Element.Value == C.Element {
  @usableFromInline static var order: PlaceOrder { Element.order == .elements ? .elements : .depends }
  @usableFromInline static var canOmit: Omittability {
    C.self is any RangeReplaceableCollection.Type ? .always : .never
  }
  @usableFromInline static var canAlwaysRemove: Bool { canOmit == .always || Element.canAlwaysRemove }

  @usableFromInline static var isFoundLater: Bool { Element.isFoundLater }
  @usableFromInline static var mayDependOnEntities: Bool { Element.mayDependOnEntities }

  @inlinable static func visit(_ value: C, _ visitor: Visitor) {
    for element in value { Element.visit(element, visitor) }
  }

  @inlinable static func patch(_ value: inout C, _ cursor: inout PatchCursor) {
    var index = value.startIndex
    while index != value.endIndex {
      Element.patch(&value[index], &cursor)
      value.formIndex(after: &index)
    }
  }

  @usableFromInline static func remove(from value: inout C, _ cursor: RemovalCursor) -> Bool {
    var kept: [C.Element] = []
    for var element in value where Element.remove(from: &element, cursor) { kept.append(element) }
    guard kept.count == value.count else { return replaceAll(in: &value, with: kept) }
    for (index, element) in zip(value.indices, kept) { value[index] = element }
    return true
  }

  /// Replaces all elements. Returns `false` for a collection of fixed length.
  private static func replaceAll(in value: inout C, with elements: [C.Element]) -> Bool {
    func open<R: RangeReplaceableCollection>(_ type: R.Type) -> C? {
      R(elements.lazy.compactMap { $0 as? R.Element }) as? C
    }
    guard let type = C.self as? any RangeReplaceableCollection.Type, let fresh = open(type) else { return false }
    value = fresh
    return true
  }

  @usableFromInline static func transplant(_ source: C, into value: inout C, _ graph: Graph) -> Bool {
    guard source.count == value.count else { return false }
    var from = source.startIndex
    var to = value.startIndex
    while from != source.endIndex {
      if !Element.isIdentical(source[from], value[to]) {
        guard Element.transplant(source[from], into: &value[to], graph) else { return false }
      }
      source.formIndex(after: &from)
      value.formIndex(after: &to)
    }
    return true
  }

  @usableFromInline static func omit(_ value: inout C, _ graph: Graph) {
    if let omitted = OmittedCollection<C>.value { value = omitted }
  }

  @usableFromInline static func forgetOmission(of value: inout C) { _ = replaceAll(in: &value, with: []) }
  @usableFromInline static func omission(of value: C) -> Omission { OmittedCollection<C>.omission(of: value) }
}
