#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacrosGenericTestSupport
  import Testing

  @Suite("What @Projection writes")
  struct ProjectionExpansionTests {
    @Test("All that it shares, but the id and what is ignored")
    func whole() {
      assertMacroExpansion(
        """
        @Projection(of: Shop.Book.self) public struct Summary {
          public let id: String
          public var title: String
          @EntityIgnored var isExpanded = false
          var count: Int { 1 }
        }
        """,
        expandedSource: """
          public struct Summary {
            public let id: String
            public var title: String
            var isExpanded = false
            var count: Int { 1 }
          }

          extension Summary: nonisolated Concord.EntityProjection {
            public typealias Whole = Shop.Book

            public nonisolated static var sharedFields: [Concord.SharedField<Self, Shop.Book>] {
              var fields: [Concord.SharedField<Self, Shop.Book>] = []
          #sourceLocation(file: "test.swift", line: 2)
              fields
                      .append(Concord.SharedField(\\Self.title, \\Shop.Book.title))
          #sourceLocation()
              return fields
            }
          }
          """,
        macroSpecs: Expansion.specs(), indentationWidth: .spaces(2), failureHandler: record)
    }

    @Test("A constant is warned of, and what is no struct is refused")
    func problems() {
      let constant = Expansion("@Projection(of: Book.self) struct Summary {\n  let id: Int\n  let title: String\n}")
      #expect(constant.diagnostics.count == 1)
      #expect(constant.diagnostics[0].hasPrefix("3:7 warning: 'title' is shared with 'Book': declare it with 'var'"))
      #expect(constant.fixIts.count == 2)
      let notAStruct = Expansion("@Projection(of: Book.self) final class Summary { let id = 0 }")
      #expect(notAStruct.diagnostics.count == 1)
      #expect(notAStruct.diagnostics[0].hasPrefix("1:34 error: '@Projection' needs a struct, "))
      let noType = Expansion("@Projection(of: book) struct Summary { let id: Int }")
      #expect(noType.diagnostics.count == 1)
      #expect(noType.diagnostics[0].hasPrefix("1:1 error: 'of:' takes the type"))
    }
  }
#endif
