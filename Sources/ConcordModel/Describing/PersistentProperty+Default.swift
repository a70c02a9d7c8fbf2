// For generated code only, which does not know the types of the properties that it describes.

extension PersistentProperty {
  /// The property with a value for rows that were written before there was its column.
  ///
  /// Entities cannot be given so: nobody would have stored them. A collection is empty then.
  public func _default<Value>(_ value: Value, at keyPath: KeyPath<Root, Value>) -> PersistentProperty {
    // One that cannot be encoded is found missing when a file needs it.
    guard let stored = try? encodeDefault?(value), stored.count == columns.count else { return self }
    var property = self
    for (index, value) in stored.enumerated() where !value.isNull { property.columns[index].defaultValue = value }
    return property
  }
}
