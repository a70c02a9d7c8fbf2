extension PersistentValue where Self: FixedWidthInteger {
  public static var storageClass: StorageClass { .integer }
  public static var comparison: StoredComparison { .order }
  public var storedValue: StoredValue { .integer(Int64(self)) }

  public init(storedValue: StoredValue) throws {
    guard case .integer(let integer) = storedValue, let value = Self(exactly: integer) else {
      throw StoreError.unreadable(storedValue, as: Self.self)
    }
    self = value
  }

  @inlinable public init(from source: RowSource, at position: Int) throws {
    guard let integer = source.integer(at: position), let value = Self(exactly: integer) else {
      throw StoreError.unreadable(source.value(at: position), as: Self.self)
    }
    self = value
  }
}

extension Int: PersistentValue {}
extension Int8: PersistentValue {}
extension Int16: PersistentValue {}
extension Int32: PersistentValue {}
extension Int64: PersistentValue {}
extension UInt8: PersistentValue {}
extension UInt16: PersistentValue {}
extension UInt32: PersistentValue {}

// Integers above `Int64.max` are stored as text of 20 digits, which SQLite orders correctly, after all numbers. Those of 19
// digits, such as 2^63 (9223372036854775808), are padded with a leading 0.
extension PersistentValue where Self: FixedWidthInteger & UnsignedInteger {
  fileprivate var storedUnsigned: StoredValue {
    if let integer = Int64(exactly: self) { return .integer(integer) }
    let digits = String(self)
    return .text(String(repeating: "0", count: Swift.max(0, 20 - digits.count)) + digits)
  }

  fileprivate static func read(_ stored: StoredValue) throws -> Self {
    switch stored {
    case .integer(let integer): if let value = Self(exactly: integer) { return value }
    case .text(let digits): if let value = Self(digits), Int64(exactly: value) == nil { return value }
    default: break
    }
    throw StoreError.unreadable(stored, as: Self.self)
  }
}

extension UInt: PersistentValue {
  public static var storageClass: StorageClass { .any }
  public var storedValue: StoredValue { storedUnsigned }
  public init(storedValue: StoredValue) throws { self = try Self.read(storedValue) }
  public init(from source: RowSource, at position: Int) throws { self = try Self.read(source.value(at: position)) }
}

extension UInt64: PersistentValue {
  public static var storageClass: StorageClass { .any }
  public var storedValue: StoredValue { storedUnsigned }
  public init(storedValue: StoredValue) throws { self = try Self.read(storedValue) }
  public init(from source: RowSource, at position: Int) throws { self = try Self.read(source.value(at: position)) }
}

extension Bool: PersistentValue {
  public static var storageClass: StorageClass { .integer }
  public static var comparison: StoredComparison { .equality }
  public var storedValue: StoredValue { .integer(self ? 1 : 0) }

  public init(storedValue: StoredValue) throws {
    switch storedValue {
    case .integer(0): self = false
    case .integer(1): self = true
    default: throw StoreError.unreadable(storedValue, as: Bool.self)
    }
  }
}
