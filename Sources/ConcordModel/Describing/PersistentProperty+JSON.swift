import Concord

// What is kept as JSON although it has another form: `@EntityIgnored let bookAsSold: Book` is the book as it was, and no
// reference to the one that there is now.

extension PersistentProperty {
  /// A `Codable` value as JSON, with all that is in it, whatever else it is.
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

  public init<V: Codable & SendableMetatype>(
    _ name: String, json keyPath: any KeyPath<Root, V?> & Sendable, _ options: AttributeOption...,
    originalName: String? = nil, default defaultValue: V?? = nil
  ) {
    self.init(
      OptionalCoding<JSONCoding<V>>.self, name, keyPath, options, originalName, defaultValue, mayHoldEntities: true)
  }
}

extension RowReader {
  /// What was written as JSON, whatever else it is.
  public mutating func readJSON<V: Codable>(_ type: V.Type = V.self) throws -> V { try next(JSONCoding<V>.self) }
  public mutating func readJSON<V: Codable>(_ type: V?.Type = V?.self) throws -> V? {
    try next(OptionalCoding<JSONCoding<V>>.self)
  }
}

extension RowWriter {
  /// A `Codable` value as JSON, whatever else it is.
  public mutating func write<V: Codable>(json value: V) throws { try put(JSONCoding<V>.self, value) }
  public mutating func write<V: Codable>(json value: V?) throws { try put(OptionalCoding<JSONCoding<V>>.self, value) }
}

/// Why a property of a type has no column of its own.
func columnProblem(of type: Any.Type, _ name: String, mayHoldEntities: Bool) -> String? {
  if !mayHoldEntities, holdsEntities(type) {
    return "'\(name)' holds entities, which would be stored as plain values: declare it with 'var', without options"
  }
  // A column tells `nil` from `.some(nil)`, and no more.
  return optionalDepth(of: type) > 2
    ? "'\(name)' is optional more than twice, which is not told apart when it is read" : nil
}

private func optionalDepth(of type: Any.Type) -> Int {
  (type as? any OptionalType.Type).map { 1 + optionalDepth(of: $0.wrapped) } ?? 0
}

private protocol OptionalType { static var wrapped: Any.Type { get } }

extension Optional: OptionalType { fileprivate static var wrapped: Any.Type { Wrapped.self } }

/// Whether entities that have rows of their own are in values of a type, as far as the type says.
func holdsEntities(_ type: Any.Type) -> Bool {
  if let container = type as? any EntityHolding.Type { return container.heldTypes.contains(where: holdsEntities) }
  return type is any PersistentEntity.Type || type is any PersistentWrapper.Type
}

private protocol EntityHolding { static var heldTypes: [Any.Type] { get } }

extension Optional: EntityHolding { static var heldTypes: [Any.Type] { [Wrapped.self] } }
extension Array: EntityHolding { static var heldTypes: [Any.Type] { [Element.self] } }
extension Set: EntityHolding { static var heldTypes: [Any.Type] { [Element.self] } }
extension Dictionary: EntityHolding { static var heldTypes: [Any.Type] { [Value.self] } }
