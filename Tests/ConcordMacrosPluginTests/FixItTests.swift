#if Macros
  import SwiftDiagnostics
  import SwiftParser
  import SwiftSyntax
  import Testing

  @Suite("What can be put right has a fix-it")
  struct FixItTests {
    @Test(
      "Each writes what it says",
      arguments: [
        (
          "@Entity enum Media { case book(Book) }", "write '@EntityWrapper'",
          "@EntityWrapper enum Media { case book(Book) }"
        ),
        (
          "@Entity(id: \\.isbn) struct Book { let id: Int; let isbn: Int }", "remove 'id:'",
          "@Entity struct Book { let id: Int; let isbn: Int }"
        ),
        (
          "struct Shop { @Entity private struct Book { let id: Int } }", "declare it 'fileprivate'",
          "struct Shop { @Entity fileprivate struct Book { let id: Int } }"
        ),
        (
          "@Entity struct Page<Item> { let id: Int; public let items: [Page] }", "mark it '@EntityIgnored'",
          "@Entity struct Page<Item> { let id: Int; @EntityIgnored public let items: [Page] }"
        ),
        (
          "@Entity struct Book {\n  let id: Int\n  // later\n  lazy var author = Author()\n}",
          "mark it '@EntityIgnored'",
          "@Entity struct Book {\n  let id: Int\n  // later\n  @EntityIgnored lazy var author = Author()\n}"
        ),
        (
          "@EntityWrapper enum Row: Sendable, Hashable { case a(Book); static func == (a: Row, b: Row) -> Bool { true } }",
          "write 'extension Row: Hashable {}'",
          "@EntityWrapper enum Row: Sendable { case a(Book); static func == (a: Row, b: Row) -> Bool { true } }\n"
            + "extension Row: Hashable {}"
        ),
        (
          "@EntityWrapper struct Row: Equatable { static func == (a: Row, b: Row) -> Bool { true } }",
          "write 'extension Row: Equatable {}'",
          "@EntityWrapper struct Row { static func == (a: Row, b: Row) -> Bool { true } }\nextension Row: Equatable {}"
        ),
        (
          "struct Book {\n  @EntityIgnored var id: Int { 1 }\n}", "remove '@EntityIgnored'",
          "struct Book {\n  var id: Int { 1 }\n}"
        ),
      ])
    func fixed(source: String, title: String, result: String) {
      #expect(Expansion(source).fixed[title] == result)
    }
  }
#endif
