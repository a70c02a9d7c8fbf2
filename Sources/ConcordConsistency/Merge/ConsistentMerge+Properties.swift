extension ConsistentMerge {
  /// Those properties that this merge changes, with their new values; `nil` if there are none.
  @usableFromInline
  func changes(in properties: [Property]) -> [Property]? {
    var changes: [Property]?
    for index in properties.indices {
      guard let value = properties[index].value, let newer = updated(dynamic: value) else { continue }
      changes = (changes ?? []) + [(properties[index].label, newer)]
    }
    return changes
  }

  /// `value` with the changes made.
  ///
  /// Whether each was taken is checked by reading it again, since `setting(property:)` has no other way to say so.
  @usableFromInline
  func setting<Value>(
    _ changes: [Property], in value: Value, _ read: (Value) -> [Property], _ set: (Value, Property) -> Value
  ) -> Value {
    var result = value
    for change in changes { result = set(result, change) }
    let taken = read(result)
    for (label, wanted) in changes {
      let found = taken.first { $0.label == label }
      if let found, SameValue(whenUnknown: true)(found.value, wanted) { continue }
      ConsistencyProblem.valueNotTaken(
        type: String(reflecting: type(of: value as Any)), id: (value as? any ConsistentObject)?.id, label: label,
        value: wanted.map { String(reflecting: type(of: $0)) } ?? "nil"
      ).report()
    }
    return result
  }
}
