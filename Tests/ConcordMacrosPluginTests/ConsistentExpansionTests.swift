#if Macros
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxMacrosGenericTestSupport
  import Testing

  @Suite("What @Consistent writes")
  struct ConsistentExpansionTests {
    @Test("Everything, for a struct with a constant, a value and an object")
    func whole() {
      assertMacroExpansion(
        """
        @Consistent struct Book {
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

          extension Book: nonisolated Swift.Identifiable, nonisolated ConcordConsistency.ConsistentValue, \
          nonisolated ConcordConsistency.ConsistentObject, nonisolated ConcordConsistency.StaticallyConsistent {
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
                ConcordConsistencyMacros._set(&copy.title, to: property.value)
              case "author":
                ConcordConsistencyMacros._set(&copy.author, to: property.value)
              default: break
              }
              return copy
            }

            nonisolated static func declareConsistentParts(in types: inout ConcordConsistency.ConsistentTypes) {
              ConcordConsistencyMacros._leaveOut(String.self)
              types.include(\\Self.author)
            }

            nonisolated func visitConsistentParts(_ visitor: ConcordConsistency.ConsistentVisitor) {
              visitor.visit(self.author)
            }

            nonisolated func mergingConsistentParts(_ merge: ConcordConsistency.ConsistentMerge) -> Self? {
              let part2 = merge.updated(self.author)
              var isChanged = false
              if part2 != nil { isChanged = true }
              if !isChanged { return nil }
              var copy = self
              if let part = part2 { copy.author = part }
              return copy
            }
          }
          """,
        macroSpecs: Expansion.specs(), indentationWidth: .spaces(2), failureHandler: record)
    }

    @Test("Everything, for an enum with cases of one payload, of two, and of none")
    func wholeEnum() {
      assertMacroExpansion(
        """
        @Consistent enum Media {
          case book(Book)
          case pair(first: Book, Int), none
        }
        """,
        expandedSource: """
          enum Media {
            case book(Book)
            case pair(first: Book, Int), none
          }

          extension Media: nonisolated ConcordConsistency.ConsistentValue {
            nonisolated static func declareConsistentTypes(in types: inout ConcordConsistency.ConsistentTypes) {
              ConcordConsistencyMacros._leaveOut(Int.self)
              types.include(\\ConcordConsistencyMacros._Payload<Book>.value)
              types.include(\\ConcordConsistencyMacros._Payload<Book>.value)
            }

            nonisolated func visitConsistentObjects(_ visitor: ConcordConsistency.ConsistentVisitor) {
              switch self {
              case .book(let value0):
                visitor.visit(value0)
              case .pair(let value0, _):
                visitor.visit(value0)
              case .none:
                break
              }
            }

            nonisolated func merged(by merge: ConcordConsistency.ConsistentMerge) -> Self? {
              switch self {
              case .book(let value0):
                let part0 = merge.updated(value0)
                if part0 == nil { return nil }
                return .book(part0 ?? value0)
              case .pair(let value0, let value1):
                let part0 = merge.updated(value0)
                if part0 == nil { return nil }
                return .pair(first: part0 ?? value0, value1)
              case .none:
                return nil
              }
            }
          }
          """,
        macroSpecs: Expansion.specs(), indentationWidth: .spaces(2), failureHandler: record)
    }

    @Test("An entity has its identity from its other attribute, and so has a wrapper none")
    func besides() {
      let source = "@Entity(id: \\.isbn) @Consistent struct Book { let isbn: String }"
      #expect(Expansion(source).conformances == ["ConsistentValue", "ConsistentObject", "StaticallyConsistent"])
      let wrapper = Expansion("@EntityWrapper @Consistent struct Page { var books: [Book] }")
      #expect(wrapper.conformances == ["ConsistentValue"])
      #expect(wrapper.members == ["declareConsistentTypes", "visitConsistentObjects", "merged"])
    }

    @Test("An object without identity is refused")
    func missingID() {
      let expansion = Expansion("@Consistent struct Book { let isbn: String }")
      #expect(expansion.added == nil)
      #expect(
        expansion.diagnostics == [
          "1:13 error: 'Book' has no 'id': declare one, or name the property that identifies it, as in "
            + "'@Entity(id: \\.isbn) @Consistent'. A struct without identity is declared '@EntityWrapper @Consistent'"
        ])
    }

    @Test("A class is refused")
    func refused() {
      let expansion = Expansion("@Consistent final class Book { let id = 1 }")
      #expect(expansion.added == nil)
      #expect(
        expansion.diagnostics == [
          "1:19 error: '@Consistent' needs a struct or an enum, and 'Book' is a class: write the conformance to "
            + "'ConsistentObject' by hand"
        ])
    }

    @Test("properties and setting(property:) by hand stay")
    func byHand() {
      let expansion = Expansion(
        """
        @Consistent struct Book: ConsistentObject {
          let id: String
          var properties: [Property] { [("id", id)] }
          func setting(property: Property) -> Book { self }
        }
        """, conforming: ["ConsistentValue", "ConsistentObject"])
      #expect(expansion.conformances == ["Identifiable", "StaticallyConsistent"])
      #expect(expansion.members == ["declareConsistentParts", "visitConsistentParts", "mergingConsistentParts"])
    }

    @Test("What only has the name of a requirement keeps it")
    func takenNames() {
      let expansion = Expansion(
        """
        @Consistent struct Agent {
          let id: String
          var properties: [House]
          func setting(_ house: House) -> House { house }
        }
        """)
      #expect(
        expansion.member("_consistentProperties")?.hasPrefix(
          "@_implements(ConcordConsistency.ConsistentObject, properties) @_disfavoredOverload nonisolated var") == true)
      #expect(expansion.members.contains("setting"))
      #expect(expansion.member("visitConsistentParts")?.contains("self.properties") == true)
      #expect(expansion.diagnostics.isEmpty)
    }

    @Test("A conformance in an extension stays as it is")
    func inAnExtension() {
      let all: Set<String> = ["Identifiable", "ConsistentValue", "ConsistentObject", "StaticallyConsistent"]
      #expect(Expansion("@Consistent struct Book { let id: String }", conforming: all).added == nil)
      #expect(Expansion("@Consistent enum Media { case book(Book) }", conforming: all).added == nil)
    }

    @Test("Nothing to look into: the smallest conformance there is")
    func empty() {
      let expansion = Expansion("@Consistent struct Token { var id: Int { 1 } }")
      #expect(
        expansion.member("setting") == """
          nonisolated func setting(property: ConcordConsistency.Property) -> Self {
            self
          }
          """)
      #expect(expansion.diagnostics.isEmpty)
    }

    @Test("A property behind a wrapper may have no setter, and may belong to an actor")
    func wrappedProperty() {
      let expansion = Expansion("@Consistent struct Book { let id: Int; @Fixed var rating: Rating }")
      #expect(
        expansion.member("setting")?.contains(
          "copy = ConcordConsistencyMacros._setting(Concord._keyPath({ \\Self.rating }), of: copy, to: property.value)")
          == true)
      #expect(
        expansion.member("visitConsistentParts")?.contains(
          "visitor.visit(self[keyPath: Concord._keyPath({ \\Self.rating })])") == true)
    }

    @Test("An ignored property is listed, but nothing in it is followed; a lazy one and a pack are not even listed")
    func leftOut() {
      let expansion = Expansion(
        """
        @Entity @Consistent struct Order<each T: Sendable> {
          let id: Int
          @EntityIgnored let sold: [Order]
          @EntityIgnored lazy var author = Author()
          var all: (repeat each T)
        }
        """)
      #expect(expansion.member("visitConsistentParts")?.contains("sold") == false)
      #expect(expansion.member("properties")?.contains("(\"sold\", self.sold)") == true)
      #expect(expansion.member("properties")?.contains("author") == false)
      #expect(expansion.member("properties")?.contains("all") == false)
    }

    @Test("Cases that are unavailable or deprecated are mentioned only where they can be")
    func availability() {
      let expansion = Expansion(
        """
        @Consistent enum Media {
          case media(book: Book), media(author: Author)
          @available(*, unavailable) case game(Game)
          @available(iOS, unavailable) case film(Film)
          @available(*, deprecated) case disc(Disc)
        }
        """)
      let merged = expansion.member("merged")
      #expect(merged?.hasPrefix("@available(*, deprecated)") == true)
      #expect(
        merged?.contains("if let value0 = Concord._payload(0, as: (Author).self, of: self, case: \"media\"") == true)
      #expect(merged?.contains("game") == false)
      #expect(merged?.contains("#if !os(iOS)\n  case .film(let value0):") == true)
    }
  }
#endif
