/// A calculation has no result: the number is too large for its type, or was divided by zero.
package struct ArithmeticFailure: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}

/// The operators of whole numbers, which throw where Swift's trap.
package enum CheckedArithmetic {
  case add, subtract, multiply, divide, remainder

  /// - Throws: ``ArithmeticFailure``.
  package func result<T: FixedWidthInteger>(_ a: T, _ b: T) throws -> T {
    let (value, hasNone) =
      switch self {
      case .add: a.addingReportingOverflow(b)
      case .subtract: a.subtractingReportingOverflow(b)
      case .multiply: a.multipliedReportingOverflow(by: b)
      case .divide: a.dividedReportingOverflow(by: b)
      case .remainder: a.remainderReportingOverflow(dividingBy: b)
      }
    if hasNone { throw failure(a, b) }
    return value
  }

  private func failure<T: FixedWidthInteger>(_ a: T, _ b: T) -> ArithmeticFailure {
    let isDivision = self == .divide || self == .remainder
    return ArithmeticFailure(
      "\(a) \(sign) \(b)" + (isDivision && b == 0 ? " is a division by zero" : " does not fit into \(T.self)"))
  }

  private var sign: String {
    switch self {
    case .add: "+"
    case .subtract: "-"
    case .multiply: "*"
    case .divide: "/"
    case .remainder: "%"
    }
  }
}
