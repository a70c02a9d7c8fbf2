/// The place of a set of wrappers or containers, such as `Set<Media>`. Its order changes with its elements, so each change
/// makes a new set. An element that requires a removed entity is removed.
@usableFromInline enum HashedPlace<Inner: Place>: Place where Inner.Value: Hashable {
  @usableFromInline static var order: PlaceOrder { .depends }
  @usableFromInline static var canOmit: Omittability { .always }
  @usableFromInline static var canAlwaysRemove: Bool { true }
  @usableFromInline static var isFoundLater: Bool { Inner.isFoundLater }
  @usableFromInline static var mayDependOnEntities: Bool { Inner.mayDependOnEntities }

  @usableFromInline static func visit(_ value: Set<Inner.Value>, _ visitor: Visitor) {
    for element in value { Inner.visit(element, visitor) }
  }

  @usableFromInline static func patch(_ value: inout Set<Inner.Value>, _ cursor: inout PatchCursor) {
    var isChanged = false
    let elements = value.map { element in
      var newer = element
      Inner.patch(&newer, &cursor)
      if !haveSameBits(element, newer) { isChanged = true }
      return newer
    }
    guard isChanged else { return }
    value = Set(elements)
    cursor.mustVisitAgain = true
  }

  @usableFromInline static func remove(from value: inout Set<Inner.Value>, _ cursor: RemovalCursor) -> Bool {
    value = Set(
      value.compactMap { element in
        var element = element
        return Inner.remove(from: &element, cursor) ? element : nil
      })
    return true
  }

  @usableFromInline static func transplant(
    _ source: Set<Inner.Value>, into value: inout Set<Inner.Value>, _ graph: Graph
  ) -> Bool {
    guard source.count == value.count else { return false }
    // Each element that differs takes over the entities of one in the other set that has the same shape.
    var open = Array(source.subtracting(value))
    for element in value.subtracting(source) {
      var element = element
      guard let match = open.firstIndex(where: { Inner.transplant($0, into: &element, graph) }) else { return false }
      open.remove(at: match)
    }
    value = source
    return true
  }

  @usableFromInline static func omit(_ value: inout Set<Inner.Value>, _ graph: Graph) {
    value = OmittedCollection<Set<Inner.Value>>.value ?? []
  }
  @usableFromInline static func forgetOmission(of value: inout Set<Inner.Value>) { value = [] }
  @usableFromInline static func omission(of value: Set<Inner.Value>) -> Omission {
    OmittedCollection<Set<Inner.Value>>.omission(of: value)
  }
}
