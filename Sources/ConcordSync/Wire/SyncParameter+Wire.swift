import ConcordConnect
import Foundation

extension SyncParameter {
  /// The form on the wire. A date is the seconds since 2001, as Swift counts them.
  package var wire: WireValue {
    switch self {
    case .text(let value): .text(value)
    case .integer(let value): .number("\(value)")
    case .number(let value): .object(["number": .double(value)])
    case .bool(let value): .bool(value)
    case .date(let value): .object(["date": .double(value.timeIntervalSinceReferenceDate)])
    }
  }

  /// Reads the form on the wire, as ``canonical``.
  package init(_ wire: WireValue) throws {
    switch wire {
    case .text(let value): self = .text(value.canonicallyComposed)
    case .bool(let value): self = .bool(value)
    case .number: self = .integer(try wire.integer())
    case .object(let parts) where parts.count == 1 && parts["number"] != nil:
      self = .number(try wire["number"].double().canonical)
    case .object(let parts) where parts.count == 1 && parts["date"] != nil:
      self = .date(Date(timeIntervalSinceReferenceDate: try wire["date"].double().canonical))
    default: throw WireError("no parameter")
    }
  }
}
