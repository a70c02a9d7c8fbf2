// Operations on values whose type the engine does not know. Not specialised, and so compiled once, and not for each user of
// the store.
extension Table {
  /// Returns the address of a pending value, which is valid until the call has ended.
  func place(_ slot: Int32) -> UnsafeMutablePointer<T>? { pending.address(slot)?.assumingMemoryBound(to: T.self) }

  /// Returns the address of a value, which is valid until the next write. Unlike an optional of the type, it needs no metadata
  /// that would have to be asked of the runtime each time, and no copy.
  func place(_ reference: ValueReference) -> UnsafeMutablePointer<T>? {
    address(of: reference)?.assumingMemoryBound(to: T.self)
  }

  func value(_ reference: ValueReference) -> T? {
    switch reference {
    case .own(let node): node.typed(T.self)?.value
    case .pending(let slot): place(slot)?.pointee
    }
  }

  func schema(of value: T) -> Schema<T>? { declared.schemas.fixed ?? declared.ofValue?(value) }

  /// Whether two values are the same, not counting the contents of the entities inside them, and relations that are `kept`.
  /// `known` is the schema of both, if it is known that they have the same.
  func haveSameFields(
    _ value: UnsafePointer<T>, _ other: UnsafePointer<T>, of known: Schema<T>?, keeping kept: [Bool], _ graph: Graph
  ) -> Bool {
    guard let schema = known ?? schema(of: other.pointee) else { return isSame(value.pointee, other.pointee) }
    guard known != nil || schema === self.schema(of: value.pointee) else { return false }
    // Fast path: usually all relations contain identical values, so that the values can be compared as they are.
    if schema.indices.allSatisfy({ schema[$0].isIdentical(at: value, other) }) {
      return isSame(value.pointee, other.pointee)
    }
    var copy = value.pointee
    for k in schema.indices {
      let relation = schema[k]
      if relation.isIdentical(copy, other.pointee) { continue }
      if kept.indices.contains(k), kept[k] {
        relation.copy(other.pointee, into: &copy)
      } else if relation.isOmitted(in: copy) != relation.isOmitted(in: other.pointee)
        || !relation.transplant(other.pointee, into: &copy, graph)
      {
        return false
      }
    }
    return isSame(copy, other.pointee)
  }
}
