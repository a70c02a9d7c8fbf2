import ConcordConnect
public import Foundation

/// The value of a parameter of a subscription.
///
/// Two values are equal if they ask for the same: -0.0 equals 0.0, NaN equals NaN, and texts are equal as in Swift.
public enum SyncParameter: Sendable {
  /// A text.
  case text(String)
  /// A whole number.
  case integer(Int64)
  /// A number with a fraction.
  case number(Double)
  /// True or false.
  case bool(Bool)
  /// A date.
  case date(Date)
}

/// The parameters of a subscription, by name.
public typealias SyncParameters = [String: SyncParameter]

extension SyncParameter: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral
{
  public init(stringLiteral value: String) { self = .text(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .number(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }

  /// The text of the parameter; `nil` if its value is of another kind.
  public var text: String? { if case .text(let value) = self { value } else { nil } }
  /// The whole number of the parameter; `nil` if its value is of another kind.
  public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
  /// The number of the parameter, whole or with a fraction; `nil` if its value is of another kind.
  public var number: Double? {
    switch self {
    case .number(let value): value
    case .integer(let value): Double(value)
    default: nil
    }
  }
  /// The truth value of the parameter; `nil` if its value is of another kind.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  /// The date of the parameter; `nil` if its value is of another kind.
  public var date: Date? { if case .date(let value) = self { value } else { nil } }
}

extension SyncParameter: Hashable {
  public static func == (a: SyncParameter, b: SyncParameter) -> Bool {
    switch (a, b) {
    case (.text(let a), .text(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.number(let a), .number(let b)): a.isSame(as: b)
    case (.bool(let a), .bool(let b)): a == b
    case (.date(let a), .date(let b)):
      a.timeIntervalSinceReferenceDate.isSame(as: b.timeIntervalSinceReferenceDate)
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .text(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .number(let value): hasher.combine(value.canonical)
    case .bool(let value): hasher.combine(value)
    case .date(let value): hasher.combine(value.timeIntervalSinceReferenceDate.canonical)
    }
  }

  /// The one form of all values that are equal, to the bit.
  var canonical: SyncParameter {
    switch self {
    case .text(let value): .text(value.canonicallyComposed)
    case .number(let value): .number(value.canonical)
    case .date(let value):
      .date(Date(timeIntervalSinceReferenceDate: value.timeIntervalSinceReferenceDate.canonical))
    case .integer, .bool: self
    }
  }
}

extension Double {
  /// The one form of all numbers that are the same, as those of ids are.
  var canonical: Double { isNaN ? .nan : self == 0 ? 0 : self }

  fileprivate func isSame(as other: Double) -> Bool { self == other || isNaN && other.isNaN }
}
