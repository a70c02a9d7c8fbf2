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
          "@PersistentEntity enum Media { case book(Book) }", "write '@PersistentWrapper'",
          "@PersistentWrapper enum Media { case book(Book) }"
        ),
        (
          "@Entity @PersistentEntity struct Book { let id: Int }", "remove '@Entity'",
          "@PersistentEntity struct Book { let id: Int }"
        ),
        (
          "@PersistentEntity struct Book { let id: Int; @Transient var isOpen: Bool }", "write '= false'",
          "@PersistentEntity struct Book { let id: Int; @Transient var isOpen: Bool = false }"
        ),
        (
          "@PersistentEntity struct Book { let id: Int; @Transient let cover: Cover? }", "write '= nil'",
          "@PersistentEntity struct Book { let id: Int; @Transient let cover: Cover? = nil }"
        ),
        (
          "@PersistentEntity struct Book { let id: Int; @Transient var a: Int, b: Cover { didSet {} } }",
          "write '= <#value#>'",
          "@PersistentEntity struct Book { let id: Int; @Transient var a: Int, b: Cover = <#value#> { didSet {} } }"
        ),
        (
          "@PersistentEntity struct Book { @Transient var id = 1; var n: Int }", "remove '@Transient'",
          "@PersistentEntity struct Book { var id = 1; var n: Int }"
        ),
        (
          "@PersistentEntity struct Book { let id: Int; @Attribute(.unique) @Transient var n = 1 }",
          "remove '@Attribute'", "@PersistentEntity struct Book { let id: Int; @Transient var n = 1 }"
        ),
        (
          "@PersistentEntity struct Book { let id = UUID() }", "declare it with 'var'",
          "@PersistentEntity struct Book { var id = UUID() }"
        ),
        (
          "@PersistentEntity struct Book { let id: Int; let n = 1 }", "mark it '@Transient'",
          "@PersistentEntity struct Book { let id: Int; @Transient let n = 1 }"
        ),
        (
          "struct Book {\n  @Attribute(.unique) var id: Int { 1 }\n}", "remove '@Attribute'",
          "struct Book {\n  var id: Int { 1 }\n}"
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
