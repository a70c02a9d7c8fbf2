import ConcordModel

/// A calculation has no result: the number is too large for its type, or was divided by zero.
struct ArithmeticFailure: Error, CustomStringConvertible {
  let description: String
}

extension StoredArithmetic {
  /// The result as it is stored; `null` if a side is.
  ///
  /// - Throws: ``ArithmeticFailure`` where Swift would trap.
  func result(_ a: StoredValue, _ b: StoredValue, _ type: StoredNumber) throws -> StoredValue {
    if a.isNull || b.isNull { return .null }
    switch type {
    case .double: return try result(a, b) { Double($0) }
    case .float: return try result(a, b) { Float($0) }
    case .int8: return try integer(a, b, Int8.self)
    case .int16: return try integer(a, b, Int16.self)
    case .int32: return try integer(a, b, Int32.self)
    case .int64: return try integer(a, b, Int64.self)
    case .uint8: return try integer(a, b, UInt8.self)
    case .uint16: return try integer(a, b, UInt16.self)
    case .uint32: return try integer(a, b, UInt32.self)
    }
  }

  private func result<T: BinaryFloatingPoint & PersistentValue>(
    _ a: StoredValue, _ b: StoredValue, _ make: (Double) -> T
  ) throws -> StoredValue {
    guard let a = a.number.map(make), let b = b.number.map(make) else { return .null }
    return switch self {
    case .add: try (a + b).storedValue
    case .subtract: try (a - b).storedValue
    case .multiply: try (a * b).storedValue
    case .divide: try (a / b).storedValue
    case .remainder: .null
    }
  }

  private func integer<T: FixedWidthInteger>(_ a: StoredValue, _ b: StoredValue, _ type: T.Type) throws -> StoredValue {
    guard case .integer(let first) = a, case .integer(let second) = b, let a = T(exactly: first),
      let b = T(exactly: second)
    else { return .null }
    let (value, overflow) =
      switch self {
      case .add: a.addingReportingOverflow(b)
      case .subtract: a.subtractingReportingOverflow(b)
      case .multiply: a.multipliedReportingOverflow(by: b)
      case .divide: a.dividedReportingOverflow(by: b)
      case .remainder: a.remainderReportingOverflow(dividingBy: b)
      }
    if overflow { throw ArithmeticFailure(description: "the result of a calculation does not fit into \(T.self)") }
    return .integer(Int64(value))
  }
}
