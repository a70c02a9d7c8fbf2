/// A value that is stored in one column.
///
/// The plain types of the standard library and of Foundation conform. Without conforming, a type with a raw value
/// (`RawRepresentable` and `Codable`) is stored as that, and any other `Codable` type as JSON. Conform to store another form:
///
/// ```swift
/// extension Price: PersistentValue {
///   static var storageClass: StorageClass { .integer }
///   var storedValue: StoredValue { .integer(Int64(cents)) }
///   init(storedValue: StoredValue) throws { self.init(cents: try Int(storedValue: storedValue)) }
/// }
/// ```
///
/// A value must be equal to itself after it was stored and read, and its stored form must not be `null`.
public protocol PersistentValue: Sendable {
  /// The storage class that the column is declared with.
  static var storageClass: StorageClass { get }

  /// The comparisons that a store may do on the stored form, because they give the same result as the type's own.
  static var comparison: StoredComparison { get }

  /// The stored form of the value.
  ///
  /// - Throws: any error for a value that cannot be stored.
  var storedValue: StoredValue { get throws }

  /// A stored form that is the same for all equal values, which an id needs. The default is ``storedValue``.
  ///
  /// - Throws: any error for a value that cannot be stored.
  var storedKey: StoredValue { get throws }

  /// Creates a value from its stored form.
  ///
  /// - Throws: ``StoreError/unreadable(_:as:)`` if something else is stored.
  init(storedValue: StoredValue) throws

  /// Creates a value from a column of a row. Implement it to avoid the intermediate ``StoredValue``.
  ///
  /// - Parameters:
  ///   - source: the row, which is valid during the call only.
  ///   - position: the index of the column, from 0.
  /// - Throws: ``StoreError/unreadable(_:as:)`` if something else is stored.
  init(from source: RowSource, at position: Int) throws
}

/// The comparisons of stored values that a store may do itself.
public enum StoredComparison: Sendable, Hashable {
  /// No comparison.
  case none
  /// Equality.
  case equality
  /// Equality and order.
  case order
  /// Texts, of which several forms are equal: canonical equivalence, and the order of `String`.
  case text
}

extension PersistentValue {
  public static var comparison: StoredComparison { .none }
  public var storedKey: StoredValue { get throws { try storedValue } }

  public init(from source: RowSource, at position: Int) throws {
    try self.init(storedValue: source.value(at: position))
  }
}
