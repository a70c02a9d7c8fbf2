/// The place of a set of entities. Its order changes with its elements, so these are found by their ids, not by position.
@usableFromInline enum SetPlace<T: Identifiable & Hashable & Sendable>: Place {
  @usableFromInline static var order: PlaceOrder { .none }
  @usableFromInline static var canOmit: Omittability { .always }
  @usableFromInline static var canAlwaysRemove: Bool { true }
  @usableFromInline static var isFoundLater: Bool { isWrapper(T.self) }

  @inlinable static func visit(_ value: Set<T>, _ visitor: Visitor) {
    let table = visitor.table(T.self)
    for element in value { visitor.visit(element, in: table) }
  }

  @usableFromInline static func patch(_ value: inout Set<T>, _ cursor: inout PatchCursor) {
    var newer: [T.ID: T] = [:]
    for element in value { if let present = cursor.newer(than: element) { newer[element.id] = present } }
    guard !newer.isEmpty else { return }
    value = Set(value.map { newer[$0.id] ?? $0 })
    cursor.mustVisitAgain = true
  }

  @usableFromInline static func remove(from value: inout Set<T>, _ cursor: RemovalCursor) -> Bool {
    value = value.filter { !cursor.isRemoved($0) }
    return true
  }

  @usableFromInline static func transplant(_ source: Set<T>, into value: inout Set<T>, _ graph: Graph) -> Bool {
    guard source.count == value.count, Set(source.map(\.id)) == Set(value.map(\.id)) else { return false }
    guard Set(source.filter { isMissing($0.id) }) == Set(value.filter { isMissing($0.id) }) else { return false }
    value = source
    return true
  }

  @usableFromInline static func omit(_ value: inout Set<T>, _ graph: Graph) {
    value = OmittedCollection<Set<T>>.value ?? []
  }
  @usableFromInline static func forgetOmission(of value: inout Set<T>) { value = [] }
  @usableFromInline static func omission(of value: Set<T>) -> Omission {
    OmittedCollection<Set<T>>.omission(of: value)
  }
}
