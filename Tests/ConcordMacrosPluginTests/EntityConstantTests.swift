#if Macros
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxMacrosGenericTestSupport
  import Testing

  @Suite("A relation declared with let")
  struct EntityConstantTests {
    @Test(
      "Where the spelling is proof, the warning is at the property, with a fix-it",
      arguments: [
        "[Part]", "[Part]?", "[String: Part]", "Optional<Part>", "Array<Part>", "Dictionary<Int, [Part]>", "Set<Self>",
        "[Kind]", "Self?",
      ])
    func certain(type: String) {
      let expansion = Expansion(
        """
        @Entity struct Part {
          @EntityWrapper enum Kind { case part(Part) }
          let id: Int
          let parts: \(type)
        }
        """)
      #expect(expansion.fixIts == ["declare it with 'var'", "mark it '@EntityIgnored'"])
      #expect(
        expansion.diagnostics == [
          "4:7 warning: 'parts' holds an entity: declare it with 'var', so that the store can put that entity's newer "
            + "values in it; a 'let' keeps the value it was created with"
        ])
      #expect(expansion.relations.isEmpty, "the types would give the same warning once more")
    }

    @Test(
      "Where it is not, the overloads decide",
      arguments: ["Author", "[Author]", "Tree<Part>", "[Part: Kind]", "Parts", "Part.ID"])
    func uncertain(type: String) {
      let expansion = Expansion("@Entity struct Part { let id: Int; let parts: \(type) }")
      #expect(expansion.diagnostics.isEmpty)
      #expect(expansion.relations == ["\\Self.parts"])
    }

    @Test(
      "One that holds values the store never touches is left out by its name", arguments: ["Int", "[String: Date]?"])
    func plain(type: String) {
      let expansion = Expansion("@Entity struct Part { let id: Int; let parts: \(type) }")
      #expect(expansion.relations.isEmpty)
      #expect(expansion.diagnostics.isEmpty)
    }

    private static let page = """
      @EntityWrapper struct Page {
        let /* in order */ pages: [Page]
      }
      """

    private static let expanded = """
      struct Page {
        let /* in order */ pages: [Page]
      }

      extension Page: nonisolated Concord.EntityWrapper {
        nonisolated func wrappedEntitiesKeyPaths<Root>(
          relativeTo parent: Swift.WritableKeyPath<Root, Self>
        ) -> [Concord.PartialIdentifiableKeyPath<Root>] {
          (Self.fixedRelations ?? []).map { $0._appended(to: parent) }
        }

        nonisolated static var fixedRelations: [Concord.PartialIdentifiableKeyPath<Self>]? {
          []
        }
      }
      """

    @Test(
      "The fix-its write what they say",
      arguments: [
        ("declare it with 'var'", "  var /* in order */ pages: [Page]"),
        ("mark it '@EntityIgnored'", "  @EntityIgnored let /* in order */ pages: [Page]"),
      ])
    func fixIt(title: String, line: String) {
      assertMacroExpansion(
        Self.page, expandedSource: Self.expanded,
        diagnostics: [
          DiagnosticSpec(
            message: "'pages' holds an entity: declare it with 'var', so that the store can put that entity's newer "
              + "values in it; a 'let' keeps the value it was created with",
            line: 2, column: 22, severity: .warning,
            fixIts: [FixItSpec(message: "declare it with 'var'"), FixItSpec(message: "mark it '@EntityIgnored'")])
        ],
        macroSpecs: Expansion.specs(), applyFixIts: [title],
        fixedSource: """
          @EntityWrapper struct Page {
          \(line)
          }
          """,
        indentationWidth: .spaces(2), failureHandler: record)
    }
  }
#endif
