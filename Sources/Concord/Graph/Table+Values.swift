// What the engine does with values whose type it does not know. Not specialised, and so no part of the code of whoever uses
// the store.
extension Table {
  /// Where a pending value lies, until the call has ended.
  func place(_ slot: Int32) -> UnsafeMutablePointer<T>? { pending.address(slot)?.assumingMemoryBound(to: T.self) }

  func value(_ reference: ValueReference) -> T? {
    switch reference {
    case .own(let node): node.typed(T.self)?.value
    case .pending(let slot): place(slot)?.pointee
    }
  }

  func schema(of value: T) -> Schema<T>? { declared.schemas.fixed ?? declared.ofValue?(value) }

  /// Whether two values are the same but for what is inside the entities they contain, and for relations that are `kept`.
  func haveSameFields(_ value: T, _ other: T, keeping kept: [Bool], _ graph: Graph) -> Bool {
    guard let schema = schema(of: other) else { return isSame(value, other) }
    guard schema === self.schema(of: value) else { return false }
    var value = value
    for k in schema.indices {
      let relation = schema[k]
      if relation.isIdentical(value, other) { continue }
      if kept.indices.contains(k), kept[k] {
        relation.copy(other, into: &value)
      } else if relation.isOmitted(in: value) != relation.isOmitted(in: other)
        || !relation.transplant(other, into: &value, graph)
      {
        return false
      }
    }
    return isSame(value, other)
  }
}
