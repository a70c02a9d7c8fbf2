import Foundation

/// An encoding of values as JSON in which equal sets and dictionaries give the same text. Their order in memory differs
/// between runs of the program.
enum OrderedJSON {
  static func text(_ value: some Encodable) throws -> String { try text(value, encoder()) }

  fileprivate static func text(_ value: some Encodable, _ encoder: JSONEncoder) throws -> String {
    if let unordered = value as? any Unordered { return try unordered.json(encoder) }
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  private static func encoder() -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    return encoder
  }

  /// Returns an array of the parts, sorted by their bytes.
  fileprivate static func array(_ parts: [String]) -> String {
    let sorted = parts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    return "[\(sorted.joined(separator: ","))]"
  }
}

private protocol Unordered { func json(_ encoder: JSONEncoder) throws -> String }

extension Set: Unordered where Element: Encodable {
  fileprivate func json(_ encoder: JSONEncoder) throws -> String {
    OrderedJSON.array(try map { try OrderedJSON.text($0, encoder) })
  }
}

extension Dictionary: Unordered where Key: Encodable, Value: Encodable {
  fileprivate func json(_ encoder: JSONEncoder) throws -> String {
    // Encoded as an object, whose keys the encoder sorts.
    if Key.self == String.self || Key.self == Int.self || Key.self is any CodingKeyRepresentable.Type {
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
    // Encoded as an array of alternating keys and values.
    return OrderedJSON.array(
      try map { key, value in
        try "\(OrderedJSON.text(key, encoder)),\(OrderedJSON.text(value, encoder))"
      })
  }
}
