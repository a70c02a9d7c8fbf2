/// Reads JSON (RFC 8259) and remembers lines.
///
/// Whatever the bytes are, the worst is a ``JSONProblem``: nesting is limited, so that no text can exhaust the stack.
struct JSONParser {
  private let bytes: [UInt8]
  private var position = 0
  private var line: Int
  private let deepest = 64

  private init(_ bytes: [UInt8], firstLine: Int) {
    self.bytes = bytes
    self.line = firstLine
  }

  /// The one value that `bytes` hold.
  static func parse(_ bytes: some Sequence<UInt8>, firstLine: Int = 1) throws(JSONProblem) -> JSONValue {
    var parser = JSONParser(Array(bytes), firstLine: firstLine)
    let value = try parser.value(depth: 0)
    parser.skipBlanks()
    guard parser.current == nil else { throw parser.problem("more after the end of the JSON text") }
    return value
  }

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  private func problem(_ reason: String) -> JSONProblem { JSONProblem(line: line, reason: reason) }

  private func unexpected(_ wanted: String) -> JSONProblem {
    guard let byte = current else { return problem("\(wanted) expected, but the text ends") }
    let found = (0x21...0x7E).contains(byte) ? "'\(Character(Unicode.Scalar(byte)))'" : "byte \(byte)"
    return problem("\(wanted) expected, found \(found)")
  }

  private mutating func skipBlanks() {
    while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      if byte == 0x0A { line += 1 }
      position += 1
    }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard current == byte else { return false }
    position += 1
    return true
  }

  private mutating func value(depth: Int) throws(JSONProblem) -> JSONValue {
    skipBlanks()
    guard depth < deepest else { throw problem("nested deeper than \(deepest) levels") }
    let start = line
    guard let byte = current else { throw unexpected("a JSON value") }
    switch byte {
    case UInt8(ascii: "{"): return JSONValue(line: start, content: .object(try object(depth: depth)))
    case UInt8(ascii: "["): return JSONValue(line: start, content: .array(try array(depth: depth)))
    case UInt8(ascii: "\""): return JSONValue(line: start, content: .string(try string()))
    case UInt8(ascii: "t"): return JSONValue(line: start, content: try word("true", .bool(true)))
    case UInt8(ascii: "f"): return JSONValue(line: start, content: try word("false", .bool(false)))
    case UInt8(ascii: "n"): return JSONValue(line: start, content: try word("null", .null))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      return JSONValue(line: start, content: .number(try number()))
    default: throw unexpected("a JSON value")
    }
  }

  private mutating func object(depth: Int) throws(JSONProblem) -> [String: JSONValue] {
    position += 1
    var fields: [String: JSONValue] = [:]
    skipBlanks()
    if take(UInt8(ascii: "}")) { return fields }
    while true {
      skipBlanks()
      guard current == UInt8(ascii: "\"") else { throw unexpected("a name in double quotes") }
      let name = try string()
      guard fields[name] == nil else { throw problem("\"\(name)\" appears twice in one object") }
      skipBlanks()
      guard take(UInt8(ascii: ":")) else { throw unexpected("':' after \"\(name)\"") }
      fields[name] = try value(depth: depth + 1)
      skipBlanks()
      if take(UInt8(ascii: "}")) { return fields }
      guard take(UInt8(ascii: ",")) else { throw unexpected("',' or '}'") }
    }
  }

  private mutating func array(depth: Int) throws(JSONProblem) -> [JSONValue] {
    position += 1
    var values: [JSONValue] = []
    skipBlanks()
    if take(UInt8(ascii: "]")) { return values }
    while true {
      values.append(try value(depth: depth + 1))
      skipBlanks()
      if take(UInt8(ascii: "]")) { return values }
      guard take(UInt8(ascii: ",")) else { throw unexpected("',' or ']'") }
    }
  }

  private mutating func word(_ word: String, _ content: JSONValue.Content) throws(JSONProblem) -> JSONValue.Content {
    for byte in word.utf8 where !take(byte) { throw unexpected("a JSON value") }
    return content
  }

  private mutating func number() throws(JSONProblem) -> Double {
    let start = position
    _ = take(UInt8(ascii: "-"))
    if !take(UInt8(ascii: "0")) { try digits() }
    if take(UInt8(ascii: ".")) { try digits() }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      try digits()
    }
    guard let number = Double(String(decoding: bytes[start..<position], as: UTF8.self)), number.isFinite else {
      throw problem("a number too large to hold")
    }
    return number
  }

  private mutating func digits() throws(JSONProblem) {
    let start = position
    while let byte = current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
    guard position > start else { throw unexpected("a digit") }
  }

  private mutating func string() throws(JSONProblem) -> String {
    position += 1
    var text: [UInt8] = []
    while let byte = current {
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        guard let string = String(validating: text, as: UTF8.self) else {
          throw problem("a string that is not valid UTF-8")
        }
        return string
      case UInt8(ascii: "\\"):
        position += 1
        text.append(contentsOf: String(try escaped()).utf8)
      case 0..<0x20: throw unexpected("the end of a string")
      default:
        text.append(byte)
        position += 1
      }
    }
    throw unexpected("the end of a string")
  }

  private mutating func escaped() throws(JSONProblem) -> Unicode.Scalar {
    guard let byte = current else { throw unexpected("the end of a string") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try unicodeEscape()
    default:
      position -= 1
      throw unexpected("an escape that JSON knows")
    }
  }

  private mutating func unicodeEscape() throws(JSONProblem) -> Unicode.Scalar {
    let first = try fourHexDigits()
    if let scalar = Unicode.Scalar(first) { return scalar }
    // Half of a surrogate pair: the other half must follow.
    guard (0xD800..<0xDC00).contains(first), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
      throw problem("a \\u escape that is half a character")
    }
    let second = try fourHexDigits()
    guard (0xDC00..<0xE000).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { throw problem("a \\u escape that is half a character") }
    return scalar
  }

  private mutating func fourHexDigits() throws(JSONProblem) -> UInt32 {
    var code: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = current, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw unexpected("a hexadecimal digit")
      }
      code = code << 4 + UInt32(digit)
      position += 1
    }
    return code
  }
}
