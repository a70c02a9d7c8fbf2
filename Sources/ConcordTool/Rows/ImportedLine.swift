#if Tool
  import ConcordModel
  import Foundation

  /// A line of the output of `export`: the head, or a row.
  struct ImportedLine: Decodable {
    /// The version of the format, in the head only.
    let concord: Int?
    let table: String?
    let row: [String: ImportedCell]?
  }

  /// A value of a row. See ``JSONLine`` for its forms.
  struct ImportedCell: Decodable {
    let cell: Cell

    private struct Key: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }
      init?(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
      if let container = try? decoder.singleValueContainer() {
        if container.decodeNil() {
          cell = .value(.null)
          return
        }
        if let text = try? container.decode(String.self) {
          cell = .value(.text(text))
          return
        }
        if let integer = try? container.decode(Int64.self) {
          cell = .value(.integer(integer))
          return
        }
        if let real = try? container.decode(Double.self) {
          cell = .value(.real(real))
          return
        }
        if let isTrue = try? container.decode(Bool.self) {
          cell = .value(.integer(isTrue ? 1 : 0))
          return
        }
      }
      cell = try Self.tagged(decoder)
    }

    private static func tagged(_ decoder: any Decoder) throws -> Cell {
      let container = try decoder.container(keyedBy: Key.self)
      if let key = container.allKeys.first, container.allKeys.count == 1 {
        let text = try container.decode(String.self, forKey: key)
        switch key.stringValue {
        case "$real": if let value = Double(text), !value.isNaN { return .value(.real(value)) }
        case "$blob": if let data = Data(base64Encoded: text) { return .value(.blob(data)) }
        case "$bytes": if let data = Data(base64Encoded: text) { return .brokenText(data) }
        default: break
        }
      }
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: decoder.codingPath, debugDescription: "an object must be $real, $blob or $bytes with its text"))
    }
  }
#endif
