extension ConsistentMerge {
  /// Returns the properties that this merge changes, with their new values, `nil` for removed ones; returns `nil` if there
  /// are none.
  @usableFromInline
  func changes(in properties: [Property]) -> [Property]? {
    var changes: [Property] = []
    for case (let label, let value?) in properties {
      if removes {
        change(label, value, &changes)
      } else if let newer = updated(dynamic: value) {
        changes.append((label, newer))
      }
    }
    return changes.isEmpty ? nil : changes
  }

  /// Adds a property with its new value, if this merge changes it: `nil` if the value is removed.
  func change(_ label: String, _ value: Any, _ changes: inout [Property]) {
    switch withFate({ updated(dynamic: value) }) {
    case .stays: break
    case .changes(let newer): changes.append((label, newer))
    case .goes: changes.append((label, nil))
    }
  }

  /// Returns `value` with the changes made; `nil` if it requires a removed object, and so is removed itself.
  ///
  /// Each property is read again to find out whether it was set, since `setting(property:)` does not tell.
  @usableFromInline
  func setting<Value>(
    _ changes: [Property], in value: Value, _ read: (Value) -> [Property], _ set: (Value, Property) -> Value
  ) -> Value? {
    if changes.isEmpty { return value }
    let result = changes.reduce(value, set)
    let taken = read(result)
    for (label, wanted) in changes {
      let found = taken.first { $0.label == label }
      guard let wanted else {
        if found?.value != nil { goes() }
        continue
      }
      if let found, SameValue(whenUnknown: true)(found.value, wanted) { continue }
      ConsistencyProblem.valueNotTaken(
        type: String(reflecting: type(of: value as Any)), id: (value as? any ConsistentObject)?.id, label: label,
        value: String(reflecting: type(of: wanted))
      ).report()
    }
    return isGone ? nil : result
  }
}
