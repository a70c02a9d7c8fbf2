/// The type that a column is declared with.
public enum StorageClass: String, Sendable, Hashable {
  /// A column of integers.
  case integer = "INTEGER"
  /// A column of numbers with a fraction.
  case real = "REAL"
  /// A column of texts.
  case text = "TEXT"
  /// A column of bytes.
  case blob = "BLOB"
  /// A column without a type, which keeps each value as it is, such as integers that may be too large for an `INTEGER`.
  case any = ""
}
