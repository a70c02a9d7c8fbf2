#if Macros
  import Testing

  @Suite("Where @Entity may stand")
  struct EntityContextTests {
    @Test(
      "Generated members are as visible as the struct",
      arguments: [
        ("@Entity public struct Book { public let id: Int }", "public nonisolated var"),
        ("@Entity package struct Book { let id: Int }", "package nonisolated var"),
        ("@Entity struct Book { let id: Int }", "nonisolated var"),
        ("@Entity fileprivate struct Book { let id: Int }", "fileprivate nonisolated var"),
        ("@Entity private struct Book { let id: Int }", "fileprivate nonisolated var"),
        ("private enum Shop { struct A { @Entity struct Book { let id: Int } } }", "fileprivate nonisolated var"),
        ("fileprivate extension Shop { @Entity struct Book { let id: Int } }", "fileprivate nonisolated var"),
        ("public extension Shop { @Entity struct Book { let id: Int } }", "public nonisolated var"),
        ("public extension Shop { @Entity internal struct Book { let id: Int } }", "nonisolated var"),
        ("public struct Shop { @Entity struct Book { let id: Int } }", "nonisolated var"),
      ])
    func visibility(source: String, start: String) {
      let expansion = Expansion(source)
      #expect(expansion.member("nestedEntitiesKeyPaths")?.hasPrefix(start + " nested") == true)
      #expect(expansion.diagnostics.isEmpty)
    }

    @Test("A nested type is extended by its full name")
    func nested() {
      let expansion = Expansion("enum Shop { struct Back { @Entity struct Book { let id: Int } } }")
      #expect(expansion.type == "Shop.Back.Book")
    }

    @Test("A generic struct stores nothing static")
    func generic() {
      let expansion = Expansion("@Entity struct Page<Item: Identifiable & Sendable> { let id: Int; var items: [Item] }")
      #expect(expansion.type == "Page")
      #expect(expansion.relations == ["\\Self.items"])
      #expect(expansion.diagnostics.isEmpty)
    }

    @Test(
      "A property of a generic parameter is offered, whatever is known of the parameter",
      arguments: [
        ("Item", "", "Item"), ("Item: Sendable", "", "[Item]"), ("Item", " where Item: Hashable & Sendable", "Item?"),
        ("Key: Hashable, Item: Codable", "", "[Key: Item]"), ("Item: Identifiable & Sendable", "", "[[Item]]"),
        ("Source: Loader", "", "[Source.Item]"), ("Item", "", "Tagged<Item, Int>"),
      ])
    func parameters(parameters: String, clause: String, type: String) {
      let expansion = Expansion("@Entity struct Page<\(parameters)>\(clause) { let id: Int; var items: \(type) }")
      #expect(expansion.relations == ["\\Self.items"])
      #expect(expansion.diagnostics.isEmpty)
    }

    @Test("In an isolated struct the generated members belong to no actor")
    func isolated() {
      let expansion = Expansion("@MainActor @Entity struct Book { let id: Int; var author: Author }")
      for member in expansion.members { #expect(expansion.member(member)?.contains("nonisolated") == true) }
      #expect(expansion.diagnostics.isEmpty)
    }

    @Test(
      "What is no struct is refused",
      arguments: [
        (
          "@Entity final class Book { let id = 1 }",
          "1:15 error: '@Entity' needs a struct, and 'Book' is a class: an entity is a value that the store copies, "
            + "compares and shares between threads"
        ),
        (
          "@Entity actor Book { let id = 1 }",
          "1:9 error: '@Entity' needs a struct, and 'Book' is an actor: an entity is a value that the store copies, "
            + "compares and shares between threads"
        ),
        (
          "@Entity protocol Book { var id: Int { get } }",
          "1:9 error: '@Entity' needs a struct, and 'Book' is a protocol: an entity is a value that the store copies, "
            + "compares and shares between threads"
        ),
        (
          "@Entity enum Media { case book(Book) }",
          "1:9 error: '@Entity' needs a struct, and 'Media' is an enum: an enum has no identity: if it holds entities, "
            + "declare it '@EntityWrapper'"
        ),
      ])
    func refused(source: String, diagnostic: String) {
      let expansion = Expansion(source)
      #expect(expansion.added == nil)
      #expect(expansion.diagnostics == [diagnostic])
    }

    @Test(
      "A local type is refused: it cannot have an extension",
      arguments: [
        "func shop() { @Entity struct Book { let id: Int } }",
        "struct Shop { init() { @Entity struct Book { let id: Int } } }",
        "struct Shop { var size: Int { @Entity struct Book { let id: Int }; return 1 } }",
      ])
    func local(source: String) {
      let expansion = Expansion(source)
      #expect(expansion.added == nil)
      #expect(
        expansion.diagnostics.map { $0.drop { $0 != " " } } == [
          " error: '@Entity' adds an extension, and a type inside a function cannot have one: declare it outside of the "
            + "function"
        ])
    }

    @Test(
      "A private type inside another one is refused: the extension could not name it",
      arguments: [
        "struct Shop { @Entity private struct Book { let id: Int } }",
        "extension Shop { @Entity private struct Book { let id: Int } }",
        "enum Shop { private enum Back { @Entity struct Book { let id: Int } } }",
      ])
    func outOfReach(source: String) {
      let expansion = Expansion(source)
      #expect(expansion.added == nil)
      #expect(
        expansion.diagnostics.map { $0.drop { $0 != " " } } == [
          " error: '@Entity' adds an extension to the file, which cannot see a private type inside another one: declare it "
            + "'fileprivate'"
        ])
    }

    @Test("A struct that cannot be copied is refused")
    func noncopyable() {
      let expansion = Expansion("@Entity struct Book: ~Copyable { let id: Int }")
      #expect(expansion.added == nil)
      #expect(
        expansion.diagnostics == ["1:9 error: '@Entity' needs a copyable type: every observer gets a copy of the value"]
      )
    }

    @Test("The mark for ignored properties says when it stands before something else")
    func misplacedMark() {
      let expansion = Expansion("struct Book {\n  @EntityIgnored var id: Int { 1 }\n}")
      #expect(
        expansion.diagnostics == [
          "2:3 warning: '@EntityIgnored' stands before a stored property; nothing else needs it"
        ])
    }
  }
#endif
