public import Foundation

// SQLite turns NaN into NULL and -0.0 into 0.0, so these are stored as their bits, the most significant byte first.

extension StoredValue {
  fileprivate static func bits(_ bits: some FixedWidthInteger) -> StoredValue {
    .blob(Data(stride(from: bits.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bits >> $0) }))
  }

  fileprivate func readBits<Bits: FixedWidthInteger & UnsignedInteger>(_ type: Bits.Type) -> Bits? {
    guard case .blob(let data) = self, data.count * 8 == Bits.bitWidth else { return nil }
    return data.reduce(0) { $0 << 8 | Bits($1) }
  }
}

extension Double: PersistentValue {
  public static var storageClass: StorageClass { .real }

  public var storedValue: StoredValue {
    isNaN || (self == 0 && sign == .minus) ? .bits(bitPattern) : .real(self)
  }

  // 0.0 and -0.0 are equal.
  public var storedKey: StoredValue { self == 0 ? .real(0) : storedValue }

  public init(storedValue: StoredValue) throws {
    switch storedValue {
    case .real(let value): self = value
    case .integer(let value): self = Double(value)
    default:
      guard let bits = storedValue.readBits(UInt64.self) else {
        throw StoreError.unreadable(storedValue, as: Double.self)
      }
      self.init(bitPattern: bits)
    }
  }

  @inlinable public init(from source: RowSource, at position: Int) throws {
    if let value = source.real(at: position) {
      self = value
    } else {
      try self.init(storedValue: source.value(at: position))
    }
  }
}

extension Float: PersistentValue {
  public static var storageClass: StorageClass { .real }

  public var storedValue: StoredValue {
    isNaN || (self == 0 && sign == .minus) ? .bits(bitPattern) : .real(Double(self))
  }

  public var storedKey: StoredValue { self == 0 ? .real(0) : storedValue }

  public init(storedValue: StoredValue) throws {
    if let bits = storedValue.readBits(UInt32.self) {
      self.init(bitPattern: bits)
      return
    }
    let double = try Double(storedValue: storedValue)
    // No NaN is converted exactly.
    guard let value = double.isNaN ? .nan : Float(exactly: double) else {
      throw StoreError.unreadable(storedValue, as: Float.self)
    }
    self = value
  }
}

extension Date: PersistentValue {
  public static var storageClass: StorageClass { .real }

  /// The seconds since the reference date (2001-01-01, UTC), exact to the bit.
  public var storedValue: StoredValue { timeIntervalSinceReferenceDate.storedValue }
  public var storedKey: StoredValue { timeIntervalSinceReferenceDate.storedKey }

  public init(storedValue: StoredValue) throws {
    do {
      self.init(timeIntervalSinceReferenceDate: try Double(storedValue: storedValue))
    } catch { throw StoreError.unreadable(storedValue, as: Date.self) }
  }

  @inlinable public init(from source: RowSource, at position: Int) throws {
    if let value = source.real(at: position) {
      self.init(timeIntervalSinceReferenceDate: value)
    } else {
      try self.init(storedValue: source.value(at: position))
    }
  }
}
