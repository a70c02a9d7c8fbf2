public import Foundation

/// One value as a store keeps it, in one of SQLite's storage classes.
///
/// Two values are equal if all of their bits are: text is compared by its bytes, not by canonical equivalence.
public enum StoredValue: Sendable {
  /// The absence of a value.
  case null
  /// An integer.
  case integer(Int64)
  /// A number with a fraction. NaN and -0.0 are stored as blobs of their bits.
  case real(Double)
  /// A text, in UTF-8.
  case text(String)
  /// Bytes.
  case blob(Data)
}

extension StoredValue: Hashable {
  public static func == (a: StoredValue, b: StoredValue) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.integer(let a), .integer(let b)): a == b
    case (.real(let a), .real(let b)): a == b
    // Fast path: the first comparison is cheap, and false for most values that differ.
    case (.text(let a), .text(let b)): a == b && a.hasSameBytes(as: b)
    case (.blob(let a), .blob(let b)): a == b
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .integer(let value): hasher.combine(value)
    case .real(let value): hasher.combine(value)
    case .text(let value): hasher.combine(value)
    case .blob(let value): hasher.combine(value)
    }
  }
}

extension StoredValue {
  /// Whether the value is `null`.
  public var isNull: Bool { if case .null = self { true } else { false } }
}

extension StoredValue: CustomStringConvertible {
  public var description: String {
    switch self {
    case .null: "NULL"
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .text(let value): "'\(value)'"
    case .blob(let value): value.count.of("byte")
    }
  }
}
