#if Macros
  import Testing

  @Suite("What the user wrote is not written again")
  struct EntityDeclaredTests {
    @Test("A conformance that is only stated gets its members")
    func stated() {
      let expansion = Expansion(
        "@Entity struct Book: Aggregate { let id: Int }", conforming: ["Identifiable", "Aggregate"])
      #expect(expansion.conformances == ["ConsistentValue", "ConsistentObject", "StaticallyConsistent"])
      #expect(expansion.members.starts(with: ["nestedEntitiesKeyPaths", "fixedRelations"]))
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
      #expect(!expansion.members.contains("nestedEntitiesKeyPaths"))
      #expect(!expansion.members.contains("fixedRelations"))
      #expect(expansion.members.contains("mergingConsistentParts"))
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

    @Test("properties and setting(property:) by hand stay")
    func consistencyByHand() {
      let expansion = Expansion(
        """
        @Entity struct Book: ConsistentObject {
          let id: String
          var properties: [Property] { [("id", id)] }
          func setting(property: Property) -> Book { self }
        }
        """, conforming: ["ConsistentValue", "ConsistentObject"])
      #expect(expansion.conformances == ["Identifiable", "Aggregate", "StaticallyConsistent"])
      #expect(!expansion.members.contains("properties"))
      #expect(!expansion.members.contains("setting"))
      #expect(expansion.members.contains("visitConsistentParts"))
    }

    @Test("A ConsistentObject by an extension stays as it is")
    func consistentInAnExtension() {
      let expansion = Expansion(
        "@Entity struct Book { let id: String }", conforming: ["ConsistentValue", "ConsistentObject"])
      #expect(expansion.conformances == ["Identifiable", "Aggregate"])
      #expect(expansion.members == ["nestedEntitiesKeyPaths", "fixedRelations"])
    }

    @Test("Who conforms to everything already gets nothing")
    func everything() {
      let expansion = Expansion(
        "@Entity struct Book { let id: String }",
        conforming: ["Identifiable", "Aggregate", "ConsistentValue", "ConsistentObject", "StaticallyConsistent"])
      #expect(expansion.added == nil)
      #expect(expansion.diagnostics.isEmpty)
    }

    @Test("A stored property called properties keeps the struct out of the consistency manager, with a warning")
    func propertiesIsTaken() {
      let expansion = Expansion("@Entity struct Agent { let id: Int; var properties: [House] }")
      #expect(expansion.conformances == ["Identifiable", "Aggregate"])
      #expect(expansion.relations == ["\\Self.id", "\\Self.properties"])
      #expect(
        expansion.diagnostics == [
          "1:41 warning: 'Agent' stores something in 'properties', which is the name 'ConsistentObject' needs: it "
            + "becomes an 'Aggregate' only, and takes no part in a 'ConsistencyManager'"
        ])
    }
  }
#endif
