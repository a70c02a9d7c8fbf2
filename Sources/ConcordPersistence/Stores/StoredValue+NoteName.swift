package import ConcordModel
import Foundation

extension StoredValue {
  /// A name of a note for the value. Different values have different names.
  package var noteName: String {
    switch self {
    case .null: "n"
    case .integer(let value): "i\(value)"
    case .real(let value): "r\(value.bitPattern)"
    case .text(let value): "t\(value)"
    case .blob(let data): "b\(data.base64EncodedString())"
    }
  }

  /// Reads the name; `nil` if it is none.
  package init?(noteName: Substring) {
    // Not by characters: a text may begin with a mark that combines with the letter before it.
    let rest = Substring(noteName.unicodeScalars.dropFirst())
    switch noteName.unicodeScalars.first {
    case "n": self = .null
    case "i":
      guard let value = Int64(rest) else { return nil }
      self = .integer(value)
    case "r":
      guard let bits = UInt64(rest) else { return nil }
      self = .real(Double(bitPattern: bits))
    case "t": self = .text(String(rest))
    case "b":
      guard let data = Data(base64Encoded: String(rest)) else { return nil }
      self = .blob(data)
    default: return nil
    }
  }
}
