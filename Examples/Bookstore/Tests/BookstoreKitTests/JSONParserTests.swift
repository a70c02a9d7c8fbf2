import Testing

@testable import BookstoreKit

@Suite("JSON")
struct JSONParserTests {
  private func text(_ json: String) throws -> String? {
    guard case .string(let text) = try JSONParser.parse(json.utf8).content else { return nil }
    return text
  }

  @Test("Escapes, also of characters in two halves, read as what they stand for")
  func escapes() throws {
    #expect(try text(#""a\"\\\/\n\t\u00e9\ud83d\ude00é""#) == "a\"\\/\n\té😀é")
  }

  @Test("A value knows its line")
  func lines() throws {
    let value = try JSONParser.parse("\n{\n\n\"a\": [1,\n2]}".utf8)
    #expect(value.line == 2)
    #expect(try value.list("a", of: "it").map(\.line) == [4, 5])
  }

  @Test("Numbers read as they are written")
  func numbers() throws {
    for (json, number) in [("0", 0), ("-1.5", -1.5), ("2e3", 2000), ("1E-2", 0.01)] {
      guard case .number(let read) = try JSONParser.parse(json.utf8).content else {
        Issue.record("\(json) is no number")
        continue
      }
      #expect(read == number)
    }
  }

  @Test(
    "What is not JSON is refused",
    arguments: [
      "", "  ", "{", "[1", "[1,]", "{\"a\"}", "{\"a\":1,}", "{a:1}", "\"", "\"\\x\"", "\"\\ud800\"", "\"\\udc00\"",
      "\"\\ud800\\u0041\"", "\"\\u12g4\"", "01", "-", "1.", "1e", "1e999", "tru", "nul", "1 2", "{\"a\":1,\"a\":2}",
      "\"a\nb\"", "\u{FEFF}1",
    ])
  func refused(json: String) {
    #expect(throws: JSONProblem.self) { try JSONParser.parse(json.utf8) }
  }

  @Test("Bytes that are not UTF-8 are refused")
  func encoding() {
    #expect(throws: JSONProblem(line: 1, reason: "a string that is not valid UTF-8")) {
      try JSONParser.parse([0x22, 0xC3, 0x28, 0x22])
    }
  }

  @Test("A text nested a million deep is refused, and does not exhaust the stack")
  func depth() {
    #expect(throws: JSONProblem(line: 1, reason: "nested deeper than 64 levels")) {
      try JSONParser.parse(repeatElement(UInt8(ascii: "["), count: 1_000_000))
    }
  }
}
