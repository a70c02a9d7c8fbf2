import Concord

// Values that are stored as JSON although their type has another stored form: `@EntityIgnored let bookAsSold: Book` is a copy
// of the book at that time, not a reference to the stored book.

extension PersistentProperty {
  /// Creates a property that is stored as JSON, with all that its value contains, also where its type has another stored form.
  ///
  /// ```swift
  /// .init("bookAsSold", json: \.bookAsSold)
  /// ```
  public init<V: Codable & SendableMetatype>(
    _ name: String, json keyPath: any KeyPath<Root, V> & Sendable, _ options: AttributeOption...,
    originalName: String? = nil, default defaultValue: V? = nil
  ) {
    self.init(JSONCoding<V>.self, name, keyPath, options, originalName, defaultValue, mayHoldEntities: true)
  }

  /// Creates a property that holds an optional value, as JSON, also where its type has another stored form.
  public init<V: Codable & SendableMetatype>(
    _ name: String, json keyPath: any KeyPath<Root, V?> & Sendable, _ options: AttributeOption...,
    originalName: String? = nil, default defaultValue: V?? = nil
  ) {
    self.init(
      OptionalCoding<JSONCoding<V>>.self, name, keyPath, options, originalName, defaultValue, mayHoldEntities: true)
  }
}

extension RowReader {
  /// Reads a value that was written with `write(json:)`.
  ///
  /// - Throws: ``StoreError/unreadable(_:as:)`` if the column holds no JSON of such a value.
  public mutating func readJSON<V: Codable>(_ type: V.Type = V.self) throws -> V { try next(JSONCoding<V>.self) }
  /// Reads an optional value that was written with `write(json:)`.
  ///
  /// - Throws: ``StoreError/unreadable(_:as:)`` if the column holds neither `NULL` nor JSON of such a value.
  public mutating func readJSON<V: Codable>(_ type: V?.Type = V?.self) throws -> V? {
    try next(OptionalCoding<JSONCoding<V>>.self)
  }
}

extension RowWriter {
  /// Writes a `Codable` value as JSON, also where its type has another stored form.
  ///
  /// - Throws: what the encoding of the value throws.
  public mutating func write<V: Codable>(json value: V) throws { try put(JSONCoding<V>.self, value) }
  /// Writes an optional `Codable` value as JSON, also where its type has another stored form.
  ///
  /// - Throws: what the encoding of the value throws.
  public mutating func write<V: Codable>(json value: V?) throws { try put(OptionalCoding<JSONCoding<V>>.self, value) }
}

/// Returns the reason why a property of a type has no column of its own; `nil` if it has one.
func columnProblem(of type: Any.Type, _ name: String, mayHoldEntities: Bool) -> String? {
  if !mayHoldEntities, holdsEntities(type) {
    return "'\(name)' holds entities, which would be stored as plain values: declare it with 'var', without options"
  }
  // A column distinguishes `nil` from `.some(nil)`, and no deeper nesting.
  return optionalDepth(of: type) > 2
    ? "'\(name)' is optional more than twice, which is not told apart when it is read" : nil
}

private func optionalDepth(of type: Any.Type) -> Int {
  (type as? any OptionalType.Type).map { 1 + optionalDepth(of: $0.wrapped) } ?? 0
}

private protocol OptionalType { static var wrapped: Any.Type { get } }

extension Optional: OptionalType { fileprivate static var wrapped: Any.Type { Wrapped.self } }

/// Whether values of a type may contain entities that have rows of their own, as far as the type tells.
func holdsEntities(_ type: Any.Type) -> Bool {
  if let container = type as? any EntityHolding.Type { return container.heldTypes.contains(where: holdsEntities) }
  return type is any PersistentEntity.Type || type is any PersistentWrapper.Type
}

private protocol EntityHolding { static var heldTypes: [Any.Type] { get } }

extension Optional: EntityHolding { static var heldTypes: [Any.Type] { [Wrapped.self] } }
extension Array: EntityHolding { static var heldTypes: [Any.Type] { [Element.self] } }
extension Set: EntityHolding { static var heldTypes: [Any.Type] { [Element.self] } }
extension Dictionary: EntityHolding { static var heldTypes: [Any.Type] { [Value.self] } }
