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
      #expect(
        expansion.diagnostics == [
          "4:7 warning: 'parts' holds an entity: declare it with 'var', so that the store can put that entity's newer "
            + "values in it; a 'let' keeps the value it was created with"
        ])
      #expect(expansion.relations == ["\\Self.id"], "the types would give the same warning once more")
    }

    @Test(
      "Where it is not, the overloads decide",
      arguments: ["Author", "[Author]", "Tree<Part>", "[Part: Int]", "Parts", "Part.ID"])
    func uncertain(type: String) {
      let expansion = Expansion("@Entity struct Part { let id: Int; let parts: \(type) }")
      #expect(expansion.diagnostics.isEmpty)
      #expect(expansion.relations == ["\\Self.id", "\\Self.parts"])
    }

    @Test("The fix-it writes var")
    func fixIt() {
      assertMacroExpansion(
        """
        @EntityWrapper struct Page {
          let /* in order */ pages: [Page]
        }
        """,
        expandedSource: """
          struct Page {
            let /* in order */ pages: [Page]
          }

          extension Page: nonisolated Concord.EntityWrapper, nonisolated ConcordConsistency.ConsistentValue {
            nonisolated func wrappedEntitiesKeyPaths<Root>(
              relativeTo parent: Swift.WritableKeyPath<Root, Self>
            ) -> [Concord.PartialIdentifiableKeyPath<Root>] {
              []
            }

            nonisolated static var fixedRelations: [Concord.PartialIdentifiableKeyPath<Self>]? {
              []
            }

            nonisolated static func declareConsistentTypes(in types: inout ConcordConsistency.ConsistentTypes) {
              types.include(\\Self.pages)
            }

            nonisolated func visitConsistentObjects(_ visitor: ConcordConsistency.ConsistentVisitor) {
              visitor.visit(self.pages)
            }

            nonisolated func merged(by merge: ConcordConsistency.ConsistentMerge) -> Self? {
              nil
            }
          }
          """,
        diagnostics: [
          DiagnosticSpec(
            message: "'pages' holds an entity: declare it with 'var', so that the store can put that entity's newer "
              + "values in it; a 'let' keeps the value it was created with",
            line: 2, column: 22, severity: .warning, fixIts: [FixItSpec(message: "declare it with 'var'")])
        ],
        macroSpecs: Expansion.specs(),
        fixedSource: """
          @EntityWrapper struct Page {
            var /* in order */ pages: [Page]
          }
          """,
        indentationWidth: .spaces(2), failureHandler: record)
    }
  }
#endif
