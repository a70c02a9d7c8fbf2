import Foundation

/// A way to store the values of a type in one column. Overload resolution selects one for each property.
public protocol ValueCoding {
  /// The type of the values.
  associatedtype Value
  /// The storage class of the column.
  static var storageClass: StorageClass { get }
  /// The comparisons that a store may do on the stored form.
  static var comparison: StoredComparison { get }
  /// Whether the stored form may be `null`.
  static var isOptional: Bool { get }
  /// The name of the coding, as a ``ColumnCoding`` has it.
  static var name: String { get }
  /// Returns what the stored forms of equal values have in common; `null` for a value that is equal to none, as NaN.
  ///
  /// - Throws: ``StoreError/unreadable(_:as:)`` if it is not the stored form of a value.
  static func key(of stored: StoredValue) throws -> StoredValue
  /// Returns the stored form of a value.
  ///
  /// - Throws: an error if the value cannot be stored.
  static func encode(_ value: Value) throws -> StoredValue
  /// Returns the value that has a stored form.
  ///
  /// - Throws: ``StoreError/unreadable(_:as:)`` if it is not the stored form of a value.
  static func decode(_ stored: StoredValue) throws -> Value
  /// Reads a value from a column of a row.
  ///
  /// - Parameters:
  ///   - source: the row, which is valid during the call only.
  ///   - position: the index of the column, from 0.
  /// - Throws: ``StoreError/unreadable(_:as:)`` if something else is stored.
  static func read(_ source: RowSource, at position: Int) throws -> Value
}

extension ValueCoding {
  /// Whether the stored form may be `null`. The default is `false`.
  public static var isOptional: Bool { false }
  /// Returns the key that the stored forms of equal values share: the stored form itself.
  ///
  /// - Throws: no error.
  public static func key(of stored: StoredValue) throws -> StoredValue { stored }
  /// Reads a value from a column of a row, through its stored form.
  ///
  /// - Throws: what ``decode(_:)`` throws.
  public static func read(_ source: RowSource, at position: Int) throws -> Value {
    try decode(source.value(at: position))
  }
}

/// The coding of a ``PersistentValue``.
public enum PlainCoding<Value: PersistentValue>: ValueCoding {
  public static var storageClass: StorageClass { Value.storageClass }
  public static var comparison: StoredComparison { Value.comparison }
  public static var name: String { String(describing: Value.self) }
  public static func key(of stored: StoredValue) throws -> StoredValue {
    let value = try decode(stored)
    // Of what is kept as a number, only what SQLite does not take for one may differ from itself.
    if storageClass == .real, case .blob = stored, let value = value as? any Equatable, !isEqualToItself(value) {
      return .null
    }
    return try value.storedKey
  }
  private static func isEqualToItself<T: Equatable>(_ value: T) -> Bool { value == value }
  @inlinable public static func encode(_ value: Value) throws -> StoredValue { try value.storedValue }
  @inlinable public static func decode(_ stored: StoredValue) throws -> Value { try Value(storedValue: stored) }
  @inlinable public static func read(_ source: RowSource, at position: Int) throws -> Value {
    try Value(from: source, at: position)
  }
}

/// The coding of a value as its raw value.
public enum RawCoding<Value: RawRepresentable>: ValueCoding where Value.RawValue: PersistentValue {
  public static var storageClass: StorageClass { Value.RawValue.storageClass }
  public static var comparison: StoredComparison { .none }
  public static var name: String { "\(Value.RawValue.self)(\(Value.self))" }
  public static func key(of stored: StoredValue) throws -> StoredValue {
    try PlainCoding<Value.RawValue>.key(of: stored)
  }
  public static func encode(_ value: Value) throws -> StoredValue { try value.rawValue.storedValue }

  public static func decode(_ stored: StoredValue) throws -> Value {
    guard let value = Value(rawValue: try Value.RawValue(storedValue: stored)) else {
      throw StoreError.unreadable(stored, as: Value.self)
    }
    return value
  }
}

/// The coding of a value as JSON with sorted keys and sorted elements of sets.
///
/// The bits of a NaN and the extremes of the basic types are kept where `Codable` allows it.
public enum JSONCoding<Value: Codable>: ValueCoding {
  public static var storageClass: StorageClass { .text }
  public static var comparison: StoredComparison { .none }
  public static var name: String { "JSON(\(Value.self))" }
  public static func key(of stored: StoredValue) throws -> StoredValue { try PlainCoding<String>.key(of: stored) }

  public static func encode(_ value: Value) throws -> StoredValue { .text(try OrderedJSON.text(value)) }

  public static func decode(_ stored: StoredValue) throws -> Value {
    guard case .text(let text) = stored else { throw StoreError.unreadable(stored, as: Value.self) }
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    do {
      return try decoder.decode(Value.self, from: Data(text.utf8))
    } catch { throw StoreError.unreadable(stored, as: Value.self) }
  }
}

/// The coding of an optional: `nil` is `NULL`. Of nested optionals, `.some(nil)` is a mark that no other value has.
public enum OptionalCoding<Wrapped: ValueCoding>: ValueCoding {
  public typealias Value = Wrapped.Value?

  public static var storageClass: StorageClass { Wrapped.storageClass }
  public static var comparison: StoredComparison { Wrapped.isOptional ? .none : Wrapped.comparison }
  public static var isOptional: Bool { true }
  public static var name: String { Wrapped.isOptional ? "Optional(\(Wrapped.name))" : Wrapped.name }
  public static func key(of stored: StoredValue) throws -> StoredValue {
    stored.isNull || Wrapped.isOptional && stored == mark ? stored : try Wrapped.key(of: stored)
  }

  /// The mark for `.some(nil)`: text where the values are blobs, otherwise a blob.
  static var mark: StoredValue { storageClass == .blob ? .text("nil") : .blob(Data("nil".utf8)) }

  @inlinable public static func encode(_ value: Wrapped.Value?) throws -> StoredValue {
    guard let value else { return .null }
    let stored = try Wrapped.encode(value)
    return stored.isNull ? try marked() : stored
  }

  @inlinable public static func decode(_ stored: StoredValue) throws -> Wrapped.Value? {
    if stored.isNull { return .none }
    return .some(try Wrapped.decode(Wrapped.isOptional ? unmarked(stored) : stored))
  }

  @inlinable public static func read(_ source: RowSource, at position: Int) throws -> Wrapped.Value? {
    if Wrapped.isOptional { return try decode(source.value(at: position)) }
    return source.isNull(at: position) ? .none : .some(try Wrapped.read(source, at: position))
  }

  @usableFromInline static func marked() throws -> StoredValue {
    guard Wrapped.isOptional else { throw StoreError.unreadable(.null, as: Wrapped.Value.self) }
    return mark
  }

  @usableFromInline static func unmarked(_ stored: StoredValue) -> StoredValue { stored == mark ? .null : stored }
}
