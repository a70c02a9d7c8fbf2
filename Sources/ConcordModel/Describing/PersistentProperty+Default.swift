// For generated code only, which does not know the types of the properties that it describes.

extension PersistentProperty {
  /// Returns the property with a value for rows that were written before its column existed.
  ///
  /// An entity cannot be such a default, since no store has it. A collection of entities gets an empty one.
  public func _default<Value>(_ value: Value, at keyPath: KeyPath<Root, Value>) -> PersistentProperty {
    // A default that cannot be encoded is reported as missing when a file needs it.
    guard let stored = try? encodeDefault?(value), stored.count == columns.count else { return self }
    var property = self
    for (index, value) in stored.enumerated() where !value.isNull { property.columns[index].defaultValue = value }
    return property
  }
}
