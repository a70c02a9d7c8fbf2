// Overloads that no storable type selects. Their messages are shorter than the compiler's own.

extension PersistentProperty {
  @available(
    *, unavailable,
    message: """
      a property of this type has no column: let the type conform to 'Codable', or mark the property '@Transient'; \
      an entity in it is a 'PersistentEntity' in a 'var', and what wraps entities a 'PersistentWrapper'
      """
  )
  @_disfavoredOverload
  public init<V>(
    _ name: String, _ keyPath: any KeyPath<Root, V> & Sendable, _ options: AttributeOption...,
    originalName: String? = nil, default defaultValue: V? = nil
  ) {
    self.init(name, keyPath, originalName: originalName, columns: [])
  }

  @available(*, unavailable, message: "only a type that conforms to 'Codable' is kept as JSON")
  @_disfavoredOverload
  public init<V>(
    _ name: String, json keyPath: any KeyPath<Root, V> & Sendable, _ options: AttributeOption...,
    originalName: String? = nil, default defaultValue: V? = nil
  ) {
    self.init(name, keyPath, originalName: originalName, columns: [])
  }
}

// The overloads of the row exist so that the compiler reports one error, at the description.

extension RowReader {
  /// Throws: values of the type have no column.
  @_disfavoredOverload
  public mutating func read<V>(_ type: V.Type = V.self) throws -> V { throw unstorable(V.self) }

  /// Throws: values of the type cannot be stored as JSON.
  @_disfavoredOverload
  public mutating func readJSON<V>(_ type: V.Type = V.self) throws -> V { throw unstorable(V.self) }
}

extension RowWriter {
  /// Throws: values of the type have no column.
  @_disfavoredOverload
  public mutating func write<V>(_ value: V) throws { throw unstorable(V.self) }

  /// Throws: values of the type cannot be stored as JSON.
  @_disfavoredOverload
  public mutating func write<V>(json value: V) throws { throw unstorable(V.self) }
}

private func unstorable(_ type: Any.Type) -> StoreError {
  .misdescribed(entity: "an entity", reason: "there is no column for a \(type)")
}
