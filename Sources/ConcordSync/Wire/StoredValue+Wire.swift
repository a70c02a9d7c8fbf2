import ConcordConnect
import Foundation

extension StoredValue {
  /// The form on the wire: `null`, an integer, a text; `{"real": 1.5}` and `{"bytes": "base64"}` for all others.
  package var wire: WireValue {
    switch self {
    case .null: .null
    case .integer(let value): .integer(value)
    case .text(let value): .text(value)
    case .real(let value): .object(["real": .double(value)])
    case .blob(let data): .object(["bytes": .text(data.base64EncodedString())])
    }
  }

  /// Writes the same.
  func write(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes += "null".utf8
    case .integer(let value): bytes += "\(value)".utf8
    case .text(let value): WireValue.write(value, to: &bytes)
    case .real, .blob: wire.write(to: &bytes)
    }
  }

  package init(_ wire: WireValue) throws {
    switch wire {
    case .null: self = .null
    case .number: self = .integer(try wire.integer())
    case .text(let value): self = .text(value)
    case .object(let members) where members["real"] != nil: self = .real(try wire["real"].double())
    case .object(let members) where members["bytes"] != nil:
      guard let data = Data(base64Encoded: try wire["bytes"].text()) else {
        throw WireError("bytes that are no base64")
      }
      self = .blob(data)
    default: throw WireError("no stored value")
    }
  }
}

extension EntityKey {
  /// The name of a note about the entity.
  package var noteName: String { "\(entity.name)\n\(id.noteName)" }

  package init?(noteName: String, in model: Model) {
    guard let end = noteName.firstIndex(of: "\n"), let entity = model.entity(named: String(noteName[..<end])),
      let id = StoredValue(noteName: noteName[noteName.index(after: end)...])
    else { return nil }
    self.init(entity, id)
  }
}
