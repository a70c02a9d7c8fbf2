/// What a column holds: the type that it is declared with.
public enum StorageClass: String, Sendable, Hashable {
  case integer = "INTEGER"
  case real = "REAL"
  case text = "TEXT"
  case blob = "BLOB"
  /// Values of several classes, each as it is: whole numbers that may be too large for an `INTEGER`.
  case any = ""
}
