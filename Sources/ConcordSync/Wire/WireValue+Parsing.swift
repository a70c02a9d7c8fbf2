import Foundation

extension WireValue {
  /// The deepest nesting that is read.
  private static let maximumDepth = 64

  /// Reads a JSON text (RFC 8259).
  ///
  /// - Parameter depth: the number of values that it is nested in where it is sent.
  /// - Throws: ``WireError``, whatever the bytes are.
  package init(parsing bytes: some Collection<UInt8>, at depth: Int = 0) throws {
    func parsed(_ buffer: UnsafeBufferPointer<UInt8>) throws -> WireValue {
      var parser = WireParser(bytes: buffer)
      let value = try parser.value(depth: Self.maximumDepth - depth)
      try parser.end()
      return value
    }
    if let value = try bytes.withContiguousStorageIfAvailable(parsed) {
      self = value
    } else {
      self = try Array(bytes).withUnsafeBufferPointer(parsed)
    }
  }
}

/// Reads one JSON text. The buffer outlives it.
private struct WireParser {
  let bytes: UnsafeBufferPointer<UInt8>
  var position = 0

  init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    skipSpace()
    guard next == byte else { return false }
    position += 1
    return true
  }

  private func failure(_ what: String) -> WireError { WireError("\(what) at byte \(position)") }

  mutating func end() throws {
    skipSpace()
    if position < bytes.count { throw failure("something follows the value") }
  }

  mutating func value(depth: Int) throws -> WireValue {
    if depth == 0 { throw failure("too deep") }
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): return try object(depth)
    case UInt8(ascii: "["): return try array(depth)
    case UInt8(ascii: "\""): return .text(try text())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return .number(try number())
    }
  }

  private mutating func word(_ word: StaticString, _ value: WireValue) throws -> WireValue {
    let end = position + word.utf8CodeUnitCount
    let isWord = word.withUTF8Buffer { buffer in
      end <= bytes.count && buffer.elementsEqual(bytes[position..<end])
    }
    guard isWord else { throw failure("no value") }
    position = end
    return value
  }

  private mutating func object(_ depth: Int) throws -> WireValue {
    position += 1
    var members: [String: WireValue] = [:]
    if take(UInt8(ascii: "}")) { return .object(members) }
    repeat {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw failure("no name") }
      let name = try text()
      guard take(UInt8(ascii: ":")) else { throw failure("no colon") }
      members[name] = try value(depth: depth - 1)
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "}")) else { throw failure("an object does not end") }
    return .object(members)
  }

  private mutating func array(_ depth: Int) throws -> WireValue {
    position += 1
    var values: [WireValue] = []
    if take(UInt8(ascii: "]")) { return .array(values) }
    repeat { values.append(try value(depth: depth - 1)) } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "]")) else { throw failure("an array does not end") }
    return .array(values)
  }

  private mutating func digits() -> Int {
    let start = position
    while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
    return position - start
  }

  private mutating func number() throws -> String {
    let start = position
    if next == UInt8(ascii: "-") { position += 1 }
    let first = next
    let count = digits()
    guard count > 0, first != UInt8(ascii: "0") || count == 1 else { throw failure("no value") }
    if next == UInt8(ascii: ".") {
      position += 1
      guard digits() > 0 else { throw failure("a number does not end") }
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      position += 1
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
      guard digits() > 0 else { throw failure("a number does not end") }
    }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private mutating func text() throws -> String {
    position += 1
    let start = position
    while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { position += 1 }
    // Most texts have no escapes.
    if next == UInt8(ascii: "\"") {
      defer { position += 1 }
      return try string(bytes[start..<position])
    }
    var found = Array(bytes[start..<position])
    while let byte = next {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return try string(found)
      case UInt8(ascii: "\\"): try escape(&found)
      case 0..<0x20: throw failure("a control character in a text")
      default: found.append(byte)
      }
    }
    throw failure("a text does not end")
  }

  private func string(_ bytes: some Collection<UInt8>) throws -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw failure("a text is not UTF-8") }
    return text
  }

  private mutating func escape(_ found: inout [UInt8]) throws {
    guard let byte = next else { throw failure("a text does not end") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): found.append(byte)
    case UInt8(ascii: "b"): found.append(0x08)
    case UInt8(ascii: "f"): found.append(0x0C)
    case UInt8(ascii: "n"): found.append(0x0A)
    case UInt8(ascii: "r"): found.append(0x0D)
    case UInt8(ascii: "t"): found.append(0x09)
    case UInt8(ascii: "u"): try unicode(&found)
    default: throw failure("an unknown escape")
    }
  }

  private mutating func unicode(_ found: inout [UInt8]) throws {
    var code = UInt32(try unit())
    if (0xD800..<0xDC00).contains(code) {
      guard next == UInt8(ascii: "\\") else { throw failure("half a surrogate pair") }
      position += 1
      guard next == UInt8(ascii: "u") else { throw failure("half a surrogate pair") }
      position += 1
      let low = UInt32(try unit())
      guard (0xDC00..<0xE000).contains(low) else { throw failure("half a surrogate pair") }
      code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(code) else { throw failure("half a surrogate pair") }
    found += Array(String(Character(scalar)).utf8)
  }

  private mutating func unit() throws -> UInt16 {
    guard position + 4 <= bytes.count,
      let unit = UInt16(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16)
    else { throw failure("no code of four digits") }
    position += 4
    return unit
  }
}
