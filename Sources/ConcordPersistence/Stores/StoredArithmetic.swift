import Concord
import ConcordModel

extension StoredArithmetic {
  /// The result as it is stored; `null` if a side is.
  ///
  /// - Throws: ``/Concord/ArithmeticFailure`` where Swift would trap.
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
    return .integer(Int64(try checked.result(a, b)))
  }

  private var checked: CheckedArithmetic {
    switch self {
    case .add: .add
    case .subtract: .subtract
    case .multiply: .multiply
    case .divide: .divide
    case .remainder: .remainder
    }
  }
}
