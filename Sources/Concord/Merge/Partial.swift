// Partial values: what an incoming value lacks stays as it is stored.
extension Merge {
  /// Stores with a rule.
  func withPartialValues<R>(_ fields: Any, _ store: () -> R) -> R {
    partialFields = fields
    defer { partialFields = nil }
    return store()
  }

  /// Whether a relation of an incoming value has nothing in it, and so the stored one stays.
  func isMissing(_ k: Int, of item: Occurrence, _ schema: AnySchema) -> Bool {
    guard partialFields != nil, base == nil, !item.node.table.isInternal, schema.canOmit[k] != .never else {
      return false
    }
    return item.node.table.lacks(in: item.value, relation: k, of: schema)
  }

  /// Puts stored fields into an incoming value where it has `nil`.
  func fillIn(_ i: Int, _ node: Node) {
    guard let partialFields, base == nil, !node.table.isInternal else { return }
    let filled = node.table.fillIn(occurrences.items[i].pending, from: node, partialFields)
    if filled.isFilled { occurrences.items[i].state.insert(.isOtherThanShown) }
    if filled.showsInRelations { occurrences.items[i].state.insert(.isOtherThanVisited) }
  }

  /// A field that was put into a value may be a part of a relation, which was visited without it.
  func visitFilled(_ i: Int, _ node: Node) {
    if occurrences.items[i].state.contains(.isOtherThanVisited) { refresher.didReshape(node) }
  }
}

extension Table {
  /// A value in which stored fields stand where it had `nil`; `nil` if it lacks nothing that is stored.
  func filled(_ value: T, from node: EntityNode<T>, _ fields: Any) -> T? {
    guard let stored = node.value else { return nil }
    let own = fields as? [OptionalField<T>] ?? []
    let declared = (T.self as? any PartialEntity.Type).flatMap { declaredFields(of: $0) as? [OptionalField<T>] } ?? []
    var (result, isFilled) = (value, false)
    for field in own + declared where field.fill(&result, stored) { isFilled = true }
    // Where the id is made of these fields, it is another entity that has them all.
    return isFilled && result.id == value.id ? result : nil
  }
}

private func declaredFields<E: PartialEntity>(of type: E.Type) -> Any { E.optionalFields }
