#if Persistence
  import ConcordModel
  import Foundation

  /// Values as SQLite's function `quote` writes them, separated by commas; a text with a zero byte as its bytes after a `T`.
  struct SQLImage {
    private var bytes: Substring.UTF8View

    static func values(_ text: String) throws -> [StoredValue] {
      var image = SQLImage(bytes: text[...].utf8)
      var values: [StoredValue] = []
      while !image.bytes.isEmpty {
        values.append(try image.value())
        if image.bytes.first == UInt8(ascii: ",") { image.bytes.removeFirst() }
      }
      return values
    }

    private mutating func value() throws -> StoredValue {
      switch next {
      case UInt8(ascii: "'"): return .text(String(decoding: try quoted(), as: UTF8.self))
      case UInt8(ascii: "X"):
        bytes.removeFirst()
        return .blob(try hex())
      case UInt8(ascii: "T"):
        bytes.removeFirst()
        guard next == UInt8(ascii: "X") else { throw Self.unreadable }
        bytes.removeFirst()
        return .text(String(decoding: try hex(), as: UTF8.self))
      default:
        let end = bytes.firstIndex(of: UInt8(ascii: ",")) ?? bytes.endIndex
        let word = String(Substring(bytes[..<end]))
        bytes = bytes[end...]
        if word == "NULL" { return .null }
        if let number = Int64(word) { return .integer(number) }
        if let number = Double(word) { return .real(number) }
        throw Self.unreadable
      }
    }

    private var next: UInt8 { bytes.first ?? 0 }

    private mutating func quoted() throws -> [UInt8] {
      guard next == UInt8(ascii: "'") else { throw Self.unreadable }
      var found: [UInt8] = []
      bytes.removeFirst()
      while let byte = bytes.popFirst() {
        if byte == UInt8(ascii: "'") {
          guard bytes.first == byte else { return found }
          bytes.removeFirst()
        }
        found.append(byte)
      }
      throw Self.unreadable
    }

    private mutating func hex() throws -> Data {
      let digits = try quoted()
      var data = Data(capacity: digits.count / 2)
      for index in stride(from: 0, to: digits.count - 1, by: 2) {
        guard let byte = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) else {
          throw Self.unreadable
        }
        data.append(byte)
      }
      return data
    }

    private static var unreadable: StoreError {
      .storeFailed(store: "SQLite", reason: "concord_changes holds a row that this program has not written")
    }
  }
#endif
