public import ConcordSync
import Foundation

/// A row of a store as JSON: what stands in its columns, and in its lists.
public struct RowRecord: Codable, Hashable, Sendable {
  public var entity: String
  public var id: RowValue
  /// `nil` if the row was removed.
  public var row: [String: RowValue]?

  public init(_ key: EntityKey, _ stored: StoredRow?) {
    (entity, id) = (key.entity.name, RowValue(key.id))
    guard let stored else { return }
    var row: [String: RowValue] = [:]
    for (column, value) in zip(key.entity.columns, stored.values) { row[column.name] = RowValue(value) }
    for (list, elements) in zip(key.entity.collections, stored.collections) {
      row[list.name] = .list(elements.map { .list($0.map(RowValue.init)) })
    }
    self.row = row
  }

  /// The row as a text: JSON without spaces, with the keys in their order.
  public var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// All rows of a store.
  public static func all(_ reading: any RowReading, _ model: Model) throws -> [RowRecord] {
    var records: [RowRecord] = []
    try each(reading, model) { records.append(RowRecord($0, $1)) }
    return records
  }

  /// Calls a closure for each row of a store.
  public static func each(_ reading: any RowReading, _ model: Model, _ body: (EntityKey, StoredRow) -> Void) throws {
    for entity in model.entities {
      try reading.rows(RowQuery(entity)) { id, source in
        let row = StoredRow(
          values: entity.columns.indices.map { source.value(at: $0) },
          collections: try entity.collections.indices.map { try source.collection($0) }, stamp: source.stamp)
        body(EntityKey(entity, id), row)
        return true
      }
    }
  }

  /// A digest of rows in any order: FNV-1a of 64 bits over the UTF-8 of their sorted texts, each with a line feed, as 16 digits.
  public static func digest(_ rows: some Sequence<RowRecord>) -> String {
    digest(texts: rows.map { Array($0.text.utf8) })
  }

  /// The digest of rows of which the texts are known.
  public static func digest(texts: [[UInt8]]) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for text in texts.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      for byte in text + [0x0A] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

/// A value of a column as JSON. Bytes are base64.
public enum RowValue: Codable, Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case list([RowValue])

  init(_ value: StoredValue) {
    switch value {
    case .null: self = .null
    case .integer(let number): self = .integer(number)
    case .real(let number): self = .real(number)
    case .text(let text): self = .text(text)
    case .blob(let data): self = .text(data.base64EncodedString())
    }
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let number = try? container.decode(Int64.self) {
      self = .integer(number)
    } else if let number = try? container.decode(Double.self) {
      self = .real(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else {
      self = .list(try container.decode([RowValue].self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .integer(let number): try container.encode(number)
    case .real(let number): try container.encode(number)
    case .text(let text): try container.encode(text)
    case .list(let values): try container.encode(values)
    }
  }
}
