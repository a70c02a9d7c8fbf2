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
  /// Refuses to read a value of a type that has no column. The compiler selects it for such a type, and reports the
  /// error at the description.
  ///
  /// - Throws: ``StoreError/misdescribed(entity:reason:)``, always.
  @_disfavoredOverload
  public mutating func read<V>(_ type: V.Type = V.self) throws -> V { throw unstorable(V.self) }

  /// Refuses to read a value of a type that is not `Codable`, and so has no form in JSON.
  ///
  /// - Throws: ``StoreError/misdescribed(entity:reason:)``, always.
  @_disfavoredOverload
  public mutating func readJSON<V>(_ type: V.Type = V.self) throws -> V { throw unstorable(V.self) }
}

extension RowWriter {
  /// Refuses to write a value of a type that has no column. The compiler selects it for such a type, and reports the
  /// error at the description.
  ///
  /// - Throws: ``StoreError/misdescribed(entity:reason:)``, always.
  @_disfavoredOverload
  public mutating func write<V>(_ value: V) throws { throw unstorable(V.self) }

  /// Refuses to write a value of a type that is not `Codable`, and so has no form in JSON.
  ///
  /// - Throws: ``StoreError/misdescribed(entity:reason:)``, always.
  @_disfavoredOverload
  public mutating func write<V>(json value: V) throws { throw unstorable(V.self) }
}

private func unstorable(_ type: Any.Type) -> StoreError {
  .misdescribed(entity: "an entity", reason: "there is no column for a \(type)")
}
