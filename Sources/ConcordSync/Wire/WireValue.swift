import Foundation

/// A JSON value. Numbers keep their text, so that nothing is lost between the two ends.
package enum WireValue: Sendable, Hashable {
  case null
  case bool(Bool)
  case number(String)
  case text(String)
  case array([WireValue])
  case object([String: WireValue])
}

/// A message that is not what the wire format says.
package struct WireError: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}

extension WireValue {
  package static func integer(_ value: some BinaryInteger) -> WireValue { .number("\(value)") }

  /// A number; a text where JSON has no number for it.
  package static func double(_ value: Double) -> WireValue {
    value.isFinite ? .number("\(value)") : .text("\(value)")
  }

  /// The member of an object; `null` if there is none.
  package subscript(name: String) -> WireValue {
    if case .object(let members) = self { members[name] ?? .null } else { .null }
  }

  package var isNull: Bool { self == .null }

  package func text(_ what: @autoclosure () -> String = "value") throws -> String {
    guard case .text(let value) = self else { throw WireError("a \(what()) is no text") }
    return value
  }

  package func integer(_ what: @autoclosure () -> String = "value") throws -> Int64 {
    guard case .number(let text) = self, let value = Int64(text) else { throw WireError("a \(what()) is no integer") }
    return value
  }

  package func double(_ what: @autoclosure () -> String = "value") throws -> Double {
    switch self {
    case .number(let text): if let value = Double(text) { return value }
    // NaN has a sign and bits in some spellings.
    case .text(let text): if let value = Double(text), value.isNaN || text == "inf" || text == "-inf" { return value }
    default: break
    }
    throw WireError("a \(what()) is no number")
  }

  /// An integer that counts something.
  package func count(_ what: @autoclosure () -> String) throws -> Int64 {
    let count = try integer(what())
    guard count >= 0 else { throw WireError("a \(what()) is negative") }
    return count
  }

  package func bool(_ what: @autoclosure () -> String = "value") throws -> Bool {
    guard case .bool(let value) = self else { throw WireError("a \(what()) is neither true nor false") }
    return value
  }

  package func array(_ what: @autoclosure () -> String = "value") throws -> [WireValue] {
    guard case .array(let values) = self else { throw WireError("a \(what()) is no array") }
    return values
  }

  package func object(_ what: @autoclosure () -> String = "value") throws -> [String: WireValue] {
    guard case .object(let members) = self else { throw WireError("a \(what()) is no object") }
    return members
  }
}

// MARK: Writing

extension WireValue {
  /// The JSON text, with the members of objects in order.
  package var json: String { String(decoding: bytes, as: UTF8.self) }

  /// The bytes of the JSON text.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    write(to: &bytes)
    return bytes
  }

  package func write(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes += "null".utf8
    case .bool(let value): bytes += (value ? "true" : "false").utf8
    case .number(let text): bytes += text.utf8
    case .text(let text): Self.write(text, to: &bytes)
    case .array(let values):
      bytes.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        value.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      for (index, name) in members.keys.sorted().enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        Self.write(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        (members[name] ?? .null).write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  static func write(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { utf8 in
      // Most texts have nothing to escape.
      if utf8.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
        bytes.append(contentsOf: utf8)
      } else {
        for byte in utf8 { write(byte, to: &bytes) }
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func write(_ byte: UInt8, to bytes: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      bytes.append(UInt8(ascii: "\\"))
      bytes.append(byte)
    case 0x0A: bytes += "\\n".utf8
    case 0x00..<0x20:
      let digits = String(byte, radix: 16)
      bytes += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
    default: bytes.append(byte)
    }
  }
}
