#if Tool
  import ConcordModel
  import Foundation

  /// A writer of rows as JSON, one line each. Numbers and text are JSON's own; other values are objects with one key:
  /// `{"$blob": base64}`, `{"$real": text}` for ∞ and for numbers that would be read as integers, `{"$bytes": base64}` for
  /// text that is not valid UTF-8.
  struct JSONLine {
    private(set) var bytes: [UInt8] = []

    /// Writes an object with the given members, in order.
    mutating func object(_ members: [(name: [UInt8], cell: Cell, type: String)]) {
      append("{")
      for (index, member) in members.enumerated() {
        if index > 0 { append(",") }
        bytes += member.name
        append(":")
        cell(member.cell, type: member.type)
      }
      append("}")
    }

    /// Returns a quoted name, to be written repeatedly.
    static func quoted(_ text: String) -> [UInt8] {
      var line = JSONLine()
      line.string(text)
      return line.bytes
    }

    mutating func append(_ text: StaticString) {
      text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    mutating func end() { bytes.append(10) }

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    private mutating func cell(_ cell: Cell, type: String) {
      switch cell {
      case .value(.null): append("null")
      case .value(.integer(let value)): bytes += String(value).utf8
      case .value(.real(let value)) where value.isFinite && (type == "REAL" || value.rounded() != value):
        bytes += value.description.utf8
      case .value(.real(let value)): tagged("$real", value.description)
      case .value(.text(let text)): string(text)
      case .value(.blob(let data)): tagged("$blob", data.base64EncodedString())
      case .brokenText(let data): tagged("$bytes", data.base64EncodedString())
      }
    }

    private mutating func tagged(_ tag: String, _ text: String) {
      append("{")
      string(tag)
      append(":")
      string(text)
      append("}")
    }

    mutating func string(_ text: String) {
      bytes.append(0x22)
      var previous: UInt8 = 0
      for byte in text.utf8 {
        defer { previous = byte }
        switch byte {
        // U+0080 to U+009F, which some terminals obey as well.
        case 0x80...0x9F where previous == 0xC2:
          bytes.removeLast()
          bytes += "\\u00\(hexadecimal(byte))".utf8
        case 0x22, 0x5C: bytes += [0x5C, byte]
        case 0x0A: append("\\n")
        case 0x0D: append("\\r")
        case 0x09: append("\\t")
        case 0..<0x20, 0x7F: bytes += "\\u00\(hexadecimal(byte))".utf8
        default: bytes.append(byte)
        }
      }
      bytes.append(0x22)
    }
  }
#endif
