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

          extension Book: nonisolated Swift.Identifiable, nonisolated Concord.Aggregate, nonisolated \
          ConcordConsistency.ConsistentValue, nonisolated ConcordConsistency.ConsistentObject, nonisolated \
          ConcordConsistency.StaticallyConsistent {
            nonisolated var nestedEntitiesKeyPaths: [Concord.PartialIdentifiableKeyPath<Self>] {
              Self.fixedRelations ?? []
            }

            nonisolated static var fixedRelations: [Concord.PartialIdentifiableKeyPath<Self>]? {
              var relations = Concord.EntityRelations<Self>()
              relations.add(\\Self.id)
              relations.add(\\Self.title)
              relations.add(\\Self.author)
              return relations.keyPaths
            }

            nonisolated var properties: [ConcordConsistency.Property] {
              var properties: [ConcordConsistency.Property] = []
              properties.append(("id", self.id))
              properties.append(("title", self.title))
              properties.append(("author", self.author))
              return properties
            }

            nonisolated func setting(property: ConcordConsistency.Property) -> Self {
              var copy = self
              switch property.label {
              case "title":
                ConcordMacros._set(&copy.title, to: property.value)
              case "author":
                ConcordMacros._set(&copy.author, to: property.value)
              default:
                break
              }
              return copy
            }

            nonisolated static func declareConsistentParts(in types: inout ConcordConsistency.ConsistentTypes) {
              types.include(\\Self.id)
              types.include(\\Self.title)
              types.include(\\Self.author)
            }

            nonisolated func visitConsistentParts(_ visitor: ConcordConsistency.ConsistentVisitor) {
              visitor.visit(self.id)
              visitor.visit(self.title)
              visitor.visit(self.author)
            }

            nonisolated func mergingConsistentParts(_ merge: ConcordConsistency.ConsistentMerge) -> Self? {
              var copy: Self?
              if let part = merge.updated(self.title) {
                copy = copy ?? self
                copy?.title = part
              }
              if let part = merge.updated(self.author) {
                copy = copy ?? self
                copy?.author = part
              }
              return copy
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
      #expect(
        expansion.member("setting") == """
          nonisolated func setting(property: ConcordConsistency.Property) -> Self {
            self
          }
          """)
      #expect(expansion.diagnostics.isEmpty)
    }

    @Test("A type is not judged by its spelling: every stored property is offered")
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
      let names = ["id", "plain", "alias", "generic", "optional", "inferred", "function", "any"]
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
          "\\Self.id", "\\Self.first", "\\Self.second", "\\Self.left", "\\Self.right", "\\Self.unused",
          "\\Self.`default`",
        ])
      #expect(expansion.member("properties")?.contains("((\"default\", self.`default`))") == true)
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
      #expect(expansion.relations == ["\\Self.id", "\\Self.author"])
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
          @Clamped(0...5) var rating: Int
        }
        """)
      #expect(expansion.relations == ["\\Self.id", "\\Self.author", "\\Self.editor", "\\Self.rating"])
    }

    @Test("A property behind a wrapper may have no setter, which only the types tell")
    func wrappedSetter() {
      let expansion = Expansion("@Entity struct Book { let id: Int; @Fixed var rating: Int }")
      #expect(
        expansion.member("setting")?.contains(
          "copy = ConcordMacros._setting(\\Self.rating, of: copy, to: property.value)") == true)
      #expect(
        expansion.member("mergingConsistentParts")?.contains(
          "copy = ConcordMacros._setting(\\Self.rating, of: copy ?? self, to: part)") == true)
    }

    @Test("An ignored property is listed, but nothing in it is followed")
    func ignored() {
      let expansion = Expansion("@Entity struct Order { let id: Int; @EntityIgnored let sold: [Order]; var n: Int }")
      #expect(expansion.relations == ["\\Self.id", "\\Self.n"])
      #expect(expansion.member("visitConsistentParts")?.contains("sold") == false)
      #expect(expansion.member("properties")?.contains("(\"sold\", self.sold)") == true)
      #expect(expansion.diagnostics.isEmpty)
    }

    @Test("A lazy property is left out, with a warning")
    func lazyProperty() {
      let expansion = Expansion("@Entity struct Book {\n  let id: Int\n  lazy var author = Author()\n}")
      #expect(expansion.relations == ["\\Self.id"])
      #expect(expansion.member("properties")?.contains("author") == false)
      #expect(
        expansion.diagnostics == [
          "3:12 warning: 'author' is lazy, so it has no value to look into before it is first read: entities in it are "
            + "not followed; mark it '@EntityIgnored' if that is meant"
        ])
    }

    @Test("A parameter pack is left out: it can hold neither one entity nor several of one type")
    func pack() {
      let expansion = Expansion("@Entity struct Book<each T: Sendable> { let id: Int; var all: (repeat each T) }")
      #expect(expansion.relations == ["\\Self.id"])
      #expect(expansion.member("properties")?.contains("all") == false)
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
          "\\Self.id", "#if DEBUG && os(Linux)", "\\Self.trace", "#elseif os(macOS)", "#else", "#if swift(>=6)",
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
