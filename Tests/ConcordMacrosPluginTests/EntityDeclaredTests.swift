#if Macros
  import Testing

  @Suite("What the user wrote is not written again")
  struct EntityDeclaredTests {
    @Test("A conformance that is only stated gets its members")
    func stated() {
      let expansion = Expansion(
        "@Entity struct Book: Aggregate { let id: Int }", conforming: ["Identifiable", "Aggregate"])
      #expect(expansion.conformances.isEmpty)
      #expect(expansion.members == ["nestedEntitiesKeyPaths", "fixedRelations"])
    }

    @Test("So does one through a protocol of the user's")
    func refined() {
      let expansion = Expansion(
        "@Entity struct Book: Hashable, Model { let id: Int }", conforming: ["Identifiable", "Aggregate"])
      #expect(expansion.members.starts(with: ["nestedEntitiesKeyPaths", "fixedRelations"]))
    }

    @Test("One in an extension has its own members there")
    func inAnExtension() {
      let expansion = Expansion(
        "@Entity struct Book: Hashable { let id: Int }", conforming: ["Identifiable", "Aggregate"])
      #expect(expansion.added == nil)
    }

    @Test("Relations listed by hand are all there are")
    func relationsByHand() {
      let expansion = Expansion(
        """
        @Entity struct Book {
          let id: Int
          var author: Author
          var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [] }
        }
        """)
      #expect(!expansion.members.contains("nestedEntitiesKeyPaths"))
      #expect(!expansion.members.contains("fixedRelations"))
      #expect(expansion.conformances.contains("Aggregate"))
    }

    @Test("fixedRelations by hand is used")
    func fixedByHand() {
      let expansion = Expansion(
        """
        @Entity struct Book {
          let id: Int
          static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { [] }
        }
        """)
      #expect(expansion.members.contains("nestedEntitiesKeyPaths"))
      #expect(!expansion.members.contains("fixedRelations"))
    }

    @Test("Who conforms to everything already gets nothing")
    func everything() {
      let expansion = Expansion(
        "@Entity struct Book { let id: String }",
        conforming: ["Identifiable", "Aggregate"])
      #expect(expansion.added == nil)
      #expect(expansion.diagnostics.isEmpty)
    }
  }
#endif
