// Partial values: stored parts that an incoming value lacks are kept.
extension Merge {
  /// Runs a closure that stores values which may lack some fields.
  func withPartialValues<R>(_ fields: Any, _ store: () -> R) -> R {
    partialFields = fields
    defer { partialFields = nil }
    return store()
  }

  /// Whether a relation of an incoming value is empty, so that the stored one is kept.
  func isMissing(_ k: Int, of item: Occurrence, _ schema: AnySchema) -> Bool {
    guard partialFields != nil, base == nil, !item.node.table.isInternal, schema.canOmit[k] != .never else {
      return false
    }
    return item.node.table.lacks(in: item.value, relation: k, of: schema)
  }

  /// Copies stored fields into an incoming value that lacks them.
  func fillIn(_ i: Int, _ node: Node) {
    guard let partialFields, base == nil, !node.table.isInternal else { return }
    let filled = node.table.fillIn(occurrences.items[i].pending, from: node, partialFields)
    if filled.isFilled { occurrences.items[i].state.insert(.isOtherThanShown) }
    if filled.showsInRelations { occurrences.items[i].state.insert(.isOtherThanVisited) }
  }

  /// Visits the relations of a value again whose copied fields may be parts of relations.
  func visitFilled(_ i: Int, _ node: Node) {
    if occurrences.items[i].state.contains(.isOtherThanVisited) { refresher.didReshape(node) }
  }
}

extension Table {
  /// Returns a value completed by stored fields; `nil` if it lacks none of them.
  func filled(_ value: T, from node: EntityNode<T>, _ fields: Any) -> T? {
    guard let stored = node.value else { return nil }
    let own = fields as? [OptionalField<T>] ?? []
    let declared = (T.self as? any PartialEntity.Type).flatMap { declaredFields(of: $0) as? [OptionalField<T>] } ?? []
    var (result, isFilled) = (value, false)
    for field in own + declared where field.fill(&result, stored) { isFilled = true }
    // If the id depends on these fields, the completed value is another entity.
    return isFilled && result.id == value.id ? result : nil
  }
}

private func declaredFields<E: PartialEntity>(of type: E.Type) -> Any { E.optionalFields }
