#if Tool
  import ConcordModel
  import ConcordPersistence
  import Foundation

  /// A value exactly as the file has it.
  enum Cell: Equatable {
    case value(StoredValue)
    /// Text that is not valid UTF-8, which only another program can have written.
    case brokenText(Data)

    init(_ statement: RowStatement, at position: Int32) {
      let value = statement.value(at: position)
      // Repaired text contains this character.
      if case .text(let text) = value, text.unicodeScalars.contains("\u{FFFD}") {
        let bytes = statement.bytes(at: position)
        if bytes != Data(text.utf8) {
          self = .brokenText(bytes)
          return
        }
      }
      self = .value(value)
    }

    func bind(to statement: RowStatement, at position: Int32) throws {
      switch self {
      case .value(let value): try statement.bind(value, at: position)
      case .brokenText(let bytes): try statement.bind(textBytes: bytes, at: position)
      }
    }

    /// The value in a form for people.
    var description: String {
      switch self {
      case .value(.text(let text)): text
      case .value(.blob(let data)):
        "x'\(data.prefix(64).map { hexadecimal($0) }.joined())'\(data.count > 64 ? "…" : "")"
      case .value(let value): value.description
      case .brokenText(let bytes): String(decoding: bytes, as: UTF8.self)
      }
    }

    var isNull: Bool { self == .value(.null) }
    var isNumber: Bool {
      switch self {
      case .value(.integer), .value(.real): true
      default: false
      }
    }
  }

  func hexadecimal(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }
#endif
