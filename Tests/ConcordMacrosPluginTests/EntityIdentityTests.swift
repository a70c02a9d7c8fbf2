#if Macros
  import Testing

  @Suite("Where an entity's id comes from")
  struct EntityIdentityTests {
    @Test(
      "The struct's own id is left alone",
      arguments: [
        "@Entity struct Book { let id: String }",
        "@Entity struct Book { var id: String { isbn }; let isbn: String }",
        "@Entity struct Book { var title = \"\", id: Int }",
        "@Entity(id: \\.id) struct Book { let id: String }",
      ])
    func declared(source: String) {
      let expansion = Expansion(source)
      #expect(!expansion.members.contains("id"))
      #expect(expansion.added != nil)
      #expect(expansion.diagnostics.isEmpty)
    }

    @Test(
      "id: forwards to another property, of the type that one is declared with",
      arguments: [
        ("@Entity(id: \\.isbn) struct Book { let isbn: String }", "nonisolated var id: String { self.isbn }"),
        ("@Entity(id: \\.isbn) struct Book { let isbn: ISBN<Int> }", "nonisolated var id: ISBN<Int> { self.isbn }"),
        ("@Entity(id: \\.isbn) struct Book { var isbn = \"\" }", "nonisolated var id: Swift.String { self.isbn }"),
        ("@Entity(id: \\.isbn) struct Book { var isbn = 0 }", "nonisolated var id: Swift.Int { self.isbn }"),
        ("@Entity(id: \\.key) struct Book { var key: Int { 1 } }", "nonisolated var id: Int { self.key }"),
        ("@Entity(id: \\.b) struct Book { var (a, b): (Int, UUID) }", "nonisolated var id: UUID { self.b }"),
        (
          "@Entity(id: \\.author.id) struct AuthorBooks { var author: Author }",
          "nonisolated var id: Author.ID { self.author.id }"
        ),
        (
          "@Entity(id: \\.isbn) public struct Book { public let isbn: String }",
          "public nonisolated var id: String { self.isbn }"
        ),
      ])
    func forwarded(source: String, id: String) {
      let expansion = Expansion(source)
      #expect(expansion.member("id")?.split { $0.isWhitespace }.joined(separator: " ") == id)
      #expect(expansion.diagnostics.isEmpty)
    }

    @Test("No id is an error, and nothing is generated")
    func missing() {
      let expansion = Expansion("@Entity struct Book { static let id = 1; let isbn: String }")
      #expect(expansion.added == nil)
      #expect(
        expansion.diagnostics == [
          "1:9 error: 'Book' has no 'id': declare one, or name the property that identifies it, as in "
            + "'@Entity(id: \\.isbn)'. If an extension declares the id, let that extension conform to 'Identifiable'"
        ])
    }

    @Test("An id in an extension is seen by its conformance")
    func elsewhere() {
      let expansion = Expansion("@Entity struct Book { let isbn: String }", conforming: ["Identifiable"])
      #expect(expansion.conformances == ["Aggregate"])
      #expect(expansion.diagnostics.isEmpty)
    }

    @Test("Two ids are refused")
    func second() {
      let expansion = Expansion("@Entity(id: \\.isbn) struct Book { let id: Int; let isbn: String }")
      #expect(expansion.added == nil)
      #expect(expansion.fixIts == ["remove 'id:'"])
      #expect(
        expansion.diagnostics == [
          "1:13 error: 'Book' declares an 'id' already: remove it, or write '@Entity' without the argument 'id:'"
        ])
    }

    @Test(
      "A property whose type is not written in the struct is refused",
      arguments: [
        ("@Entity(id: \\.isbn) struct Book { let title: String }", "isbn"),
        ("@Entity(id: \\.isbn) struct Book { let isbn = ISBN() }", "isbn"),
        ("@Entity(id: \\.a.b) struct Book { let a: A }", "a.b"),
        ("@Entity(id: \\.a.id) struct Book { let a: [A] }", "a.id"),
      ])
    func unknownType(source: String, path: String) {
      let expansion = Expansion(source)
      #expect(expansion.added == nil)
      #expect(
        expansion.diagnostics == [
          "1:13 error: the type of 'id' is not known here: let 'Book' itself declare '\(path)' with its type, as in "
            + "'let \(path): String', or declare 'id' by hand"
        ])
    }

    @Test("Only a key path to a property will do", arguments: ["\"isbn\"", "\\.isbn?.text", "\\.list[0]", "path"])
    func notAKeyPath(argument: String) {
      let expansion = Expansion("@Entity(id: \(argument)) struct Book { let isbn: String }")
      #expect(expansion.added == nil)
      #expect(
        expansion.diagnostics == [
          "1:13 error: 'id:' takes a key path to a property of the struct, such as '\\.isbn'"
        ])
    }
  }
#endif
