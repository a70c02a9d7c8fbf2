/// The coding of a column's values: the Swift type, and the form in which its values are stored.
///
/// Two codings are equal if they have the same name, which is what a file keeps of them.
public struct ColumnCoding: Sendable {
  /// The name, such as `Int`, `String(Kind)` for raw values of a `Kind`, `JSON(Address)` or `reference(Author)`.
  public let name: String
  private let check: @Sendable (StoredValue) throws -> Void
  private let makeKey: @Sendable (StoredValue) throws -> StoredValue

  init(
    _ name: String, key: @escaping @Sendable (StoredValue) throws -> StoredValue = { $0 },
    check: @escaping @Sendable (StoredValue) throws -> Void
  ) {
    self.name = name
    self.check = check
    makeKey = key
  }

  init<C: ValueCoding & SendableMetatype>(_ coding: C.Type) {
    self.init(C.name, key: { try C.key(of: $0) }) { _ = try C.decode($0) }
  }

  /// Whether a value of the type can be read from a stored one.
  package func canRead(_ stored: StoredValue) -> Bool { (try? check(stored)) != nil }

  /// Checks that a value of the type can be read from a stored one.
  ///
  /// - Throws: ``StoreError/unreadable(_:as:)``; an error of a type of the program's own.
  func checkReadable(_ stored: StoredValue) throws { try check(stored) }

  /// Returns what the stored forms of equal values have in common; `nil` for `null`, and for a value that is equal to none, as NaN.
  package func key(of stored: StoredValue) -> StoredValue? {
    // What cannot be read is the same as itself.
    let key = (try? makeKey(stored)) ?? stored
    return key.isNull ? nil : key
  }

  // MARK: Carrying values over

  /// The codings that differ by what they allow only: values may be carried over if each of them can be read.
  package var family: String { Self.family(of: name) }

  /// Returns the family of a coding with a name.
  package static func family(of name: String) -> String {
    guard let parenthesis = name.firstIndex(of: "(") else {
      return switch name {
      case "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32": "Int"
      case "Float": "Double"
      case "Character": "String"
      default: name
      }
    }
    let form = String(name[..<parenthesis])
    // A reference to another entity, and a wrapper of another type, are something else.
    return ["reference", "case", "Optional"].contains(form) ? name : family(of: form)
  }
}

extension ColumnCoding: Hashable {
  public static func == (a: ColumnCoding, b: ColumnCoding) -> Bool { a.name == b.name }
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
