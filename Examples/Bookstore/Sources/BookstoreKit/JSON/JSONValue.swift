/// A JSON value that knows the line it begins on, so that a mistake in a file can be pointed at.
///
/// Foundation's decoder names the key of a mistake, but not its line.
struct JSONValue {
  enum Content {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])
  }

  let line: Int
  let content: Content

  /// The kind of value, as one says it in a message.
  var kind: String {
    switch content {
    case .null: "null"
    case .bool: "true or false"
    case .number: "a number"
    case .string: "a string"
    case .array: "a list"
    case .object: "an object"
    }
  }
}
