/// The type that a column is declared with.
public enum StorageClass: String, Sendable, Hashable {
  case integer = "INTEGER"
  case real = "REAL"
  case text = "TEXT"
  case blob = "BLOB"
  /// A column without a type, which keeps each value as it is, such as integers that may be too large for an `INTEGER`.
  case any = ""
}
