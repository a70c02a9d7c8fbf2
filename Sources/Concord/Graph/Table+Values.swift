// Operations on values whose type the engine does not know. Not specialised, and so compiled once, and not for each user of
// the store.
extension Table {
  /// Returns the address of a pending value, which is valid until the call has ended.
  func place(_ slot: Int32) -> UnsafeMutablePointer<T>? { pending.address(slot)?.assumingMemoryBound(to: T.self) }

  func value(_ reference: ValueReference) -> T? {
    switch reference {
    case .own(let node): node.typed(T.self)?.value
    case .pending(let slot): place(slot)?.pointee
    }
  }

  func schema(of value: T) -> Schema<T>? { declared.schemas.fixed ?? declared.ofValue?(value) }

  /// Whether two values are the same, not counting the contents of the entities inside them, and relations that are `kept`.
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
