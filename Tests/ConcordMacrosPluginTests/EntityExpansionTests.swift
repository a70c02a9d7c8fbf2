#if Macros
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxMacrosGenericTestSupport
  import Testing

  @Suite("What @Entity writes")
  struct EntityExpansionTests {
    @Test("Everything, for a struct with a constant, a value and a relation")
    func whole() {
      assertMacroExpansion(
        """
        @Entity struct Book {
          let id: String
          var title: String
          var author: Author
        }
        """,
        expandedSource: """
          struct Book {
            let id: String
            var title: String
            var author: Author
          }

          extension Book: nonisolated Swift.Identifiable, nonisolated Concord.Aggregate {
            nonisolated var nestedEntitiesKeyPaths: [Concord.PartialIdentifiableKeyPath<Self>] {
              Self.fixedRelations ?? []
            }

            nonisolated static var fixedRelations: [Concord.PartialIdentifiableKeyPath<Self>]? {
              var relations = Concord.EntityRelations<Self>()
          #sourceLocation(file: "test.swift", line: 1)
              relations
               .leaveOut(String.self)
          #sourceLocation()
          #sourceLocation(file: "test.swift", line: 3)
              relations
               .add(\\Self.author)
          #sourceLocation()
              return relations.keyPaths
            }
          }
          """,
        macroSpecs: Expansion.specs(), indentationWidth: .spaces(2), failureHandler: record)
    }

    @Test("Nothing to look into: the smallest conformance there is")
    func empty() {
      let expansion = Expansion("@Entity struct Token { var id: Int { 1 } }")
      #expect(
        expansion.member("fixedRelations") == """
          nonisolated static var fixedRelations: [Concord.PartialIdentifiableKeyPath<Self>]? {
            []
          }
          """)
      #expect(expansion.diagnostics.isEmpty)
    }

    @Test("What is no plain type is not judged by its spelling")
    func everyType() {
      let expansion = Expansion(
        """
        @Entity struct Shelf {
          let id: Int
          var plain: String
          var alias: Authors
          var generic: Box<Author>
          var optional: [Author]?
          var inferred = Author.nobody
          var function: @Sendable () -> Void
          var any: any Sendable
        }
        """)
      let names = ["alias", "generic", "optional", "inferred", "any"]
      #expect(expansion.relations == names.map { "\\Self.\($0)" })
      #expect(expansion.diagnostics.isEmpty)
    }

    @Test("Several names in one declaration are several properties")
    func severalNames() {
      let expansion = Expansion(
        """
        @Entity struct Duel {
          var id: Int, first, second: Author
          var (left, right): (Author, Int), unused = 1
          var `default`: Author
        }
        """)
      #expect(
        expansion.relations == [
          "\\Self.first", "\\Self.second", "\\Self.left", "\\Self.`default`",
        ])
    }

    @Test("Computed and static properties are no places in the value")
    func computed() {
      let expansion = Expansion(
        """
        @Entity struct Book {
          let id: Int
          static let first: Book? = nil
          static var all: [Book] { [] }
          var short: Author { author }
          var long: Author { get { author } set { author = newValue } }
          var author: Author { willSet { print(newValue) } didSet {} }
        }
        """)
      #expect(expansion.relations == ["\\Self.author"])
      #expect(expansion.diagnostics.isEmpty)
    }

    @Test("Private properties and property wrappers are relations as any other")
    func privateAndWrapped() {
      let expansion = Expansion(
        """
        @Entity struct Book {
          let id: Int
          private var author: Author
          fileprivate private(set) var editor: Author?
          @Clamped(0...5) var rating: Rating
        }
        """)
      #expect(
        expansion.relations == ["\\Self.author", "\\Self.editor", "Concord._relationPath { \\Self.rating }"])
    }

    @Test("An ignored property is not followed")
    func ignored() {
      let expansion = Expansion("@Entity struct Order { let id: Int; @EntityIgnored let sold: [Order]; var n: Kind }")
      #expect(expansion.relations == ["\\Self.n"])
      #expect(expansion.diagnostics.isEmpty)
    }

    @Test("The names of ignored properties are said, each once, and only if there are any")
    func ignoredNames() {
      let source = """
        @Entity public struct Order {
          let id: Int
          @EntityIgnored let sold: [Order], `in`: Order?
          #if DEBUG
            @EntityIgnored var draft: Order?
          #else
            @EntityIgnored var draft: [Order]
          #endif
        }
        """
      #expect(
        Expansion(source).member("ignoredEntityProperties") == """
          public nonisolated static var ignoredEntityProperties: Swift.Set<Swift.String> {
            ["sold", "in", "draft"]
          }
          """)
      #expect(Expansion(source).conformances.contains("EntityIgnoring"))
      let part = Expansion("@EntityWrapper struct Part { @EntityIgnored var sold: Order; var n: Kind }")
      #expect(part.conformances == ["EntityWrapper", "EntityIgnoring"])
      let plain = Expansion("@Entity struct Order { let id: Int; var n: Kind }")
      #expect(!plain.members.contains("ignoredEntityProperties") && !plain.conformances.contains("EntityIgnoring"))
      let declared = Expansion(
        """
        @Entity struct Order { let id: Int; @EntityIgnored var n: Kind; static let ignoredEntityProperties = ["n"] }
        """)
      #expect(!declared.members.contains("ignoredEntityProperties"))
    }

    @Test("The elements of a tuple are offered one by one")
    func tuples() {
      let expansion = Expansion(
        """
        @Entity struct Pair {
          let id: Int
          var both: (Book, n: Int, (a: Author, [Book])), one: (Book)
          let old: (Int, Book)
        }
        """)
      #expect(
        expansion.relations == [
          "\\Self.both.0", "\\Self.both.2.0", "\\Self.both.2.1", "\\Self.one", "\\Self.old.1",
        ])
    }

    @Test("Plain types are left out, each named once for the compiler to check")
    func plain() {
      let expansion = Expansion(
        """
        @Entity struct Book {
          let id: UUID
          var title: String, subtitle: String?
          var keywords: [String]
          var sold: [Book: Date]
          var price = 5, isNew = true
          var onSale: @Sendable () -> Void
          var scores: Set<Int>
        }
        """)
      #expect(expansion.relations.isEmpty)
      let checks = expansion.member("fixedRelations")?.split(separator: "\n").filter { $0.contains("leaveOut") } ?? []
      #expect(
        checks.map { $0.drop { $0 == " " } } == [
          ".leaveOut(UUID.self)", ".leaveOut(String.self)", ".leaveOut(Date.self)", ".leaveOut(Int.self)",
        ])
    }

    @Test("What mentions a deprecated property is deprecated, so that nobody is warned")
    func deprecated() {
      let expansion = Expansion("@Entity struct Book { let id: Int; @available(*, deprecated) var author: Author }")
      #expect(expansion.relations == ["\\Self.author"])
      #expect(expansion.member("fixedRelations")?.hasPrefix("@available(*, deprecated)") == true)
      #expect(expansion.member("nestedEntitiesKeyPaths")?.hasPrefix("@available(*, deprecated)") == true)
      let plain = Expansion("@Entity struct Book { let id: Int; @available(*, deprecated) var name: String }")
      #expect(plain.member("fixedRelations")?.contains("deprecated") == false)
    }

    @Test("A lazy property is left out, with a warning")
    func lazyProperty() {
      let expansion = Expansion("@Entity struct Book {\n  let id: Int\n  lazy var author = Author()\n}")
      #expect(expansion.relations.isEmpty)
      #expect(expansion.fixIts == ["mark it '@EntityIgnored'"])
      #expect(
        expansion.diagnostics == [
          "3:12 warning: 'author' is lazy, so it has no value to look into before it is first read: entities in it are "
            + "not followed; mark it '@EntityIgnored' if that is meant"
        ])
    }

    @Test(
      "A parameter pack is left out, with a warning, since no key path leads to its elements; functions of one hold none"
    )
    func pack() {
      let source = "@Entity struct Book<each T: Sendable> {\n  let id: Int\n  var all: (repeat each T)\n}"
      let expansion = Expansion(source)
      #expect(expansion.relations.isEmpty)
      #expect(expansion.fixIts == ["mark it '@EntityIgnored'"])
      #expect(
        expansion.diagnostics == [
          "3:7 warning: 'all' is a parameter pack, to whose elements no key path leads: entities in it are not followed; "
            + "hold them in an array of an enum declared '@EntityWrapper', or mark it '@EntityIgnored' if that is meant"
        ])
      let fixed = expansion.fixed["mark it '@EntityIgnored'"] ?? ""
      #expect(fixed.contains("@EntityIgnored var all") && Expansion(fixed).diagnostics.isEmpty)
      let function = "@Entity struct Book<each T> { let id: Int; var f: @Sendable (repeat each T) -> Void }"
      #expect(Expansion(function).diagnostics.isEmpty)
    }

    @Test("What stands in an #if is generated in the same #if")
    func conditional() {
      let expansion = Expansion(
        """
        @Entity struct Book {
          let id: Int
          #if DEBUG && os(Linux)
            var trace: Trace
          #elseif os(macOS)
            static let x = 1
          #else
            #if swift(>=6)
              var author: Author
            #endif
            var editor: Author
          #endif
          #if os(Windows)
            func f() {}
          #endif
        }
        """)
      #expect(
        expansion.relations == [
          "#if DEBUG && os(Linux)", "\\Self.trace", "#elseif os(macOS)", "#else", "#if swift(>=6)",
          "\\Self.author", "#endif", "\\Self.editor", "#endif",
        ])
    }
  }

  /// Records a failure of `assertMacroExpansion` where it was called.
  func record(_ failure: TestFailureSpec) {
    Issue.record(
      "\(failure.message)",
      sourceLocation: SourceLocation(
        fileID: failure.location.fileID, filePath: failure.location.filePath, line: failure.location.line,
        column: failure.location.column))
  }
#endif
