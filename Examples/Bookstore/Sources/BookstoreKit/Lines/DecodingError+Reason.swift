import Foundation

extension Error {
  /// Why a JSON text could not be decoded, in one line: the place in it, and what is wrong there.
  package var decodingReason: String {
    guard let error = self as? DecodingError else { return "\(self)" }
    switch error {
    case .keyNotFound(let key, let context): return "\((context.codingPath + [key]).quoted) is missing"
    case .valueNotFound(let type, let context), .typeMismatch(let type, let context):
      return "\(context.codingPath.quoted) must be \(name(of: type))"
    case .dataCorrupted(let context) where context.codingPath.isEmpty: return context.debugDescription
    case .dataCorrupted(let context): return "\(context.codingPath.quoted): \(context.debugDescription)"
    @unknown default: return "\(error)"
    }
  }

  private func name(of type: Any.Type) -> String {
    switch type {
    case is String.Type: "a string"
    case is Int.Type: "a whole number"
    case is Double.Type: "a number"
    case is [Any].Type: "a list"
    case is [String: Any].Type: "an object"
    default: "\(type)"
    }
  }
}

extension [any CodingKey] {
  /// As it is written in Swift: `books[2].year`.
  fileprivate var quoted: String {
    if isEmpty { return "the line" }
    let path = reduce(into: "") { path, key in
      path += key.intValue.map { "[\($0)]" } ?? (path.isEmpty ? key.stringValue : ".\(key.stringValue)")
    }
    return "\"\(path)\""
  }
}

extension KeyedDecodingContainer {
  /// A string that says something: an empty one is refused.
  func text(_ key: Key) throws -> String {
    let text = try decode(String.self, forKey: key)
    if text.contains(where: { !$0.isWhitespace }) { return text }
    throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "must not be empty")
  }

  func integer(_ key: Key, in range: ClosedRange<Int>) throws -> Int {
    let integer = try decode(Int.self, forKey: key)
    if range.contains(integer) { return integer }
    let (low, high) = (range.lowerBound, range.upperBound)
    throw DecodingError.dataCorruptedError(
      forKey: key, in: self, debugDescription: "must be between \(low) and \(high), found \(integer)")
  }
}
