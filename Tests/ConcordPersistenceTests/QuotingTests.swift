import Testing

@testable import ConcordPersistence

@Suite("Texts within quotes")
struct QuotingTests {
  @Test("Each quote is doubled, also one that a combining mark stands behind", arguments: ["", "\u{301}", "\u{200D}"])
  func combiningMarks(mark: String) {
    let doubled = "\"\(mark)a\"\"\(mark)".doubling(UInt8(ascii: "\""))
    #expect(Array(doubled.unicodeScalars) == Array("\"\"\(mark)a\"\"\"\"\(mark)".unicodeScalars))
    #expect("a\(mark)".doubling(UInt8(ascii: "\"")) == "a\(mark)")
  }
}
