/// A value that is kept in one column.
///
/// The plain types of the standard library and of Foundation conform. Any other `Codable` type is kept as JSON, an enum or a
/// struct with a raw value (`RawRepresentable` and `Codable`) as that, without conforming. Conform for another form:
///
/// ```swift
/// extension Price: PersistentValue {
///   static var storageClass: StorageClass { .integer }
///   var storedValue: StoredValue { .integer(Int64(cents)) }
///   init(storedValue: StoredValue) throws { self.init(cents: try Int(storedValue: storedValue)) }
/// }
/// ```
///
/// What is stored must come back the same, and must not be `null`.
public protocol PersistentValue: Sendable {
  /// What the column is declared as.
  static var storageClass: StorageClass { get }

  /// Whether values are equal exactly if they are stored the same, and are ordered as SQLite orders what is stored. Only
  /// then a store may compare instead of the type itself.
  static var comparison: StoredComparison { get }

  /// The value, as it is stored.
  var storedValue: StoredValue { get throws }

  /// The same for all equal values, as an id needs it. It is what is stored, unless said otherwise.
  var storedKey: StoredValue { get throws }

  /// Reads the value back.
  ///
  /// - Throws: ``StoreError/unreadable(_:as:)`` if something else is stored.
  init(storedValue: StoredValue) throws

  /// Reads the value from a row. A type that reads often may do without the intermediate ``StoredValue``.
  init(from source: RowSource, at position: Int) throws
}

/// What a store may compare itself.
public enum StoredComparison: Sendable, Hashable {
  /// Nothing.
  case none
  /// Whether two are equal.
  case equality
  /// Which of two is the smaller, too.
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
