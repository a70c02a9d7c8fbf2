extension ConsistentMerge {
  /// `value` with those properties set which this merge changes, or `nil` if there are none.
  ///
  /// Whether each was taken is checked by reading it again, since `setting(property:)` has no other way to say so.
  func setting<Value>(
    _ value: Value, _ properties: [Property],
    _ read: (Value) -> [Property], _ set: (Value, Property) -> Value
  ) -> Value? {
    var changes: [(label: String, value: Any)] = []
    for case (let label, let part?) in properties {
      if let newer = updated(dynamic: part) { changes.append((label, newer)) }
    }
    return changes.isEmpty ? nil : setting(changes, in: value, read, set)
  }

  func setting<Value>(
    _ changes: [(label: String, value: Any?)], in value: Value,
    _ read: (Value) -> [Property], _ set: (Value, Property) -> Value
  ) -> Value {
    var result = value
    for change in changes { result = set(result, (change.label, change.value)) }
    let taken = read(result)
    for (label, wanted) in changes {
      let found = taken.first { $0.label == label }
      if let found, isSame(found.value, wanted) { continue }
      ConsistencyProblem.valueNotTaken(
        type: String(reflecting: type(of: value as Any)), id: (value as? any ConsistentObject)?.id, label: label,
        value: wanted.map { String(reflecting: type(of: $0)) } ?? "nil"
      ).report()
    }
    return result
  }
}
