public import Foundation

/// The value of a parameter of a subscription.
public enum SyncParameter: Sendable, Hashable {
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

  /// The text; `nil` if it is something else.
  public var text: String? { if case .text(let value) = self { value } else { nil } }
  /// The whole number; `nil` if it is something else.
  public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
  /// The number; `nil` if it is no number.
  public var number: Double? {
    switch self {
    case .number(let value): value
    case .integer(let value): Double(value)
    default: nil
    }
  }
  /// The truth value; `nil` if it is something else.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  /// The date; `nil` if it is something else.
  public var date: Date? { if case .date(let value) = self { value } else { nil } }
}
