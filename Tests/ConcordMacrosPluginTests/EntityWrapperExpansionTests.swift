#if Macros
  import Foundation
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxMacrosGenericTestSupport
  import Testing

  @Suite("What @EntityWrapper writes")
  struct EntityWrapperExpansionTests {
    @Test("Everything, for an enum with cases of one payload, of two, and of none")
    func whole() {
      assertMacroExpansion(
        """
        @EntityWrapper enum MediaType {
          case book(Book)
          case pair(first: Book, Game), none
        }
        """,
        expandedSource: """
          enum MediaType {
            case book(Book)
            case pair(first: Book, Game), none
          }

          extension MediaType: nonisolated Concord.EntityWrapper {
            nonisolated var book: Book? {
              get {
                if case .book(let value0) = self { value0 } else { nil }
              }
              set {
                if let newValue {
                  self = .book(newValue)
                } else if case .book = self {
                  self = .none
                }
              }
            }
            nonisolated var pairFirst: Book? {
              get {
                if case .pair(let value0, _) = self { value0 } else { nil }
              }
              set {
                if let newValue, case .pair(_, let value1) = self {
                  self = .pair(first: newValue, value1)
                } else if newValue == nil, case .pair = self {
                  self = .none
                }
              }
            }
            nonisolated var pair1: Game? {
              get {
                if case .pair(_, let value1) = self { value1 } else { nil }
              }
              set {
                if let newValue, case .pair(let value0, _) = self {
                  self = .pair(first: value0, newValue)
                } else if newValue == nil, case .pair = self {
                  self = .none
                }
              }
            }

            nonisolated func wrappedEntitiesKeyPaths<Root>(
              relativeTo parent: Swift.WritableKeyPath<Root, Self>
            ) -> [Concord.PartialIdentifiableKeyPath<Root>] {
              (Self.fixedRelations ?? []).map { $0._appended(to: parent) }
            }

            nonisolated static var fixedRelations: [Concord.PartialIdentifiableKeyPath<Self>]? {
              var relations = Concord.EntityRelations<Self>()
          #sourceLocation(file: "test.swift", line: 1)
              relations
                .add(\\Self.book)
          #sourceLocation()
          #sourceLocation(file: "test.swift", line: 2)
              relations
                .add(\\Self.pairFirst)
          #sourceLocation()
          #sourceLocation(file: "test.swift", line: 2)
              relations
                .add(\\Self.pair1)
          #sourceLocation()
              return relations.keyPaths
            }
          }
          """,
        macroSpecs: Expansion.specs(), indentationWidth: .spaces(2), failureHandler: record)
    }

    @Test("Without an empty case, nil changes nothing: the entity is required")
    func required() {
      let setter = Expansion("@EntityWrapper enum Media { case book(Book), game(Game) }").setter(of: "book")
      #expect(setter == "if let newValue { self = .book(newValue) }")
    }

    @Test("An optional payload is made optional once, and stays in its case")
    func optionalPayload() {
      for type in ["Book?", "Optional<Book>"] {
        let expansion = Expansion("@EntityWrapper enum Media { case book(\(type)), none }")
        #expect(expansion.member("book")?.contains("var book: \(type) {") == true)
        #expect(
          expansion.setter(of: "book")
            == "if newValue != nil { self = .book(newValue) } else if case .book = self { self = .book(nil) }")
      }
      let pair = Expansion("@EntityWrapper enum Media { case pair(Book?, Int) }")
      #expect(
        pair.setter(of: "pair0") == "if case .pair(_, let value1) = self { self = .pair(newValue, value1) }")
    }

    @Test(
      "Payloads of any type",
      arguments: [
        ("[Book]", "[Book]?"), ("[String: Book]", "[String: Book]?"), ("Set<Book>", "Set<Book>?"),
        ("Shop.Book", "Shop.Book?"), ("(Book, Int)", "(Book, Int)?"),
        ("any Model", "(any Model)?"), ("A & B", "(A & B)?"),
      ])
    func payloadTypes(type: String, accessorType: String) {
      let expansion = Expansion("@EntityWrapper enum Media { case content(\(type)) }")
      #expect(expansion.member("content")?.contains("var content: \(accessorType) {") == true)
      #expect(expansion.relations == ["\\Self.content"])
    }

    @Test("Labels are kept; of one payload they do not name the accessor")
    func labels() {
      let expansion = Expansion(
        "@EntityWrapper enum Media { case book(value: Book), `default`(_ book: Book), pair(in: Book, _ b: Game) }")
      #expect(expansion.relations == ["\\Self.book", "\\Self.`default`", "\\Self.pairIn", "\\Self.pair1"])
      #expect(expansion.setter(of: "book") == "if let newValue { self = .book(value: newValue) }")
      #expect(
        expansion.setter(of: "pairIn")
          == "if let newValue, case .pair(_, let value1) = self { self = .pair(in: newValue, value1) }")
    }

    @Test("Cases that differ by their labels have accessors that do")
    func overloaded() {
      let expansion = Expansion(
        "@EntityWrapper enum Media { case media(book: Book), media(author: Author, Int), media(Game), other(Book) }")
      #expect(
        expansion.relations == ["\\Self.mediaBook", "\\Self.mediaAuthor", "\\Self.media0", "\\Self.other"])
      #expect(expansion.members.starts(with: ["mediaBook", "mediaAuthor", "media1", "media0", "other"]))
      #expect(
        expansion.setter(of: "mediaBook") == "if let newValue { self = .media(book: newValue) }")
      #expect(
        expansion.setter(of: "mediaAuthor")
          == "if let newValue, let value1 = Concord._payload(1, as: (Int).self, of: self, case: \"media\", labels: "
          + "[\"author\", nil]) { self = .media(author: newValue, value1) }")
      #expect(expansion.diagnostics.isEmpty)
    }

    @Test("A case that cannot be mentioned is left out, where it cannot")
    func unavailable() {
      let expansion = Expansion(
        """
        @EntityWrapper enum Media {
          case book(Book)
          @available(*, unavailable) case game(Game)
          @available(iOS, unavailable) case film(Film)
          @available(*, deprecated) case disc(Disc)
        }
        """)
      #expect(expansion.relations == ["\\Self.book", "#if !os(iOS)", "\\Self.film", "#endif", "\\Self.disc"])
      #expect(expansion.member("disc")?.hasPrefix("@available(*, deprecated)") == true)
      #expect(expansion.member("fixedRelations")?.hasPrefix("@available(*, deprecated)") == true)
    }

    @Test("A property the enum declares is used instead of a generated one")
    func declaredAccessor() {
      let expansion = Expansion(
        """
        @EntityWrapper enum Media {
          case book(Book), game(Game)
          var book: Book? { get { nil } set {} }
        }
        """)
      #expect(expansion.relations == ["\\Self.book", "\\Self.game"])
      #expect(!expansion.members.contains("book"))
      #expect(expansion.members.contains("game"))
    }

    @Test(
      "A property of another type does not switch the relation off: the accessor has another name then",
      arguments: ["String", "Book.ID?", "[Book]"])
    func declaredWithOtherType(type: String) {
      let expansion = Expansion(
        """
        @EntityWrapper enum Media {
          case book(Book), game(Game)
          var book: \(type) { make() }
          var _book: Int { 1 }
        }
        """)
      #expect(expansion.relations == ["\\Self.__book", "\\Self.game"])
      #expect(expansion.members.contains("__book") && !expansion.members.contains("book"))
    }

    @Test(
      "A property of the payload's type is used, however it is spelled",
      arguments: ["Book", "Book?", "Optional<Book>", "Swift.Optional<Book>"])
    func declaredWithSameType(type: String) {
      let expansion = Expansion(
        "@EntityWrapper enum Media { case book(Book)\n  var book: \(type) { get { make() } set {} } }")
      #expect(expansion.relations == ["\\Self.book"])
    }

    @Test(
      "A name that is taken otherwise is refused",
      arguments: [
        (
          "@EntityWrapper enum Media {\n  case book(Book)\n  func book() -> Int { 1 }\n}",
          "2:8 error: the accessor 'book' of the case 'book' clashes with another member: rename one of them, or declare "
            + "'var book' by hand"
        ),
        (
          "@EntityWrapper enum Media {\n  case pair(Book, Game)\n  case pair1(Book)\n}",
          "3:8 error: the accessor 'pair1' of the case 'pair1' clashes with another member: rename one of them, or "
            + "declare 'var pair1' by hand"
        ),
      ])
    func clashes(source: String, diagnostic: String) {
      let expansion = Expansion(source)
      #expect(expansion.added == nil)
      #expect(expansion.diagnostics == [diagnostic])
    }

    @Test("Static members have names of their own")
    func staticMembers() {
      let expansion = Expansion(
        "@EntityWrapper enum Media { case pair(Book, Game); static var pair0: Int { 1 }; static func pair1() {} }")
      #expect(expansion.diagnostics.isEmpty)
      #expect(expansion.members.starts(with: ["pair0"]))
    }

    @Test("Cases in an #if stay in it")
    func conditional() {
      let expansion = Expansion(
        """
        @EntityWrapper enum Media {
          case book(Book)
          #if os(Linux)
            case game(Game)
          #else
            case game(Film)
          #endif
        }
        """)
      #expect(expansion.relations == ["\\Self.book", "#if os(Linux)", "\\Self.game", "#else", "\\Self.game", "#endif"])
      #expect(expansion.diagnostics.isEmpty)
    }

    @Test("An enum without payloads is told so")
    func nothingWrapped() {
      let expansion = Expansion("@EntityWrapper enum Media { case book, game }")
      #expect(
        expansion.diagnostics == [
          "1:16 warning: no case of 'Media' has an associated value: it wraps nothing"
        ])
      #expect(expansion.member("fixedRelations")?.contains("  []") == true)
    }

    @Test("A payload of a generic parameter is offered, whatever is known of the parameter")
    func openParameter() {
      let expansion = Expansion("@EntityWrapper enum Either<A: Identifiable & Sendable, B> { case a(A), b([B]) }")
      #expect(expansion.relations == ["\\Self.a", "\\Self.b"])
      #expect(expansion.diagnostics.isEmpty)
    }

    @Test("In a struct, the stored properties are the parts")
    func ofStruct() {
      let expansion = Expansion("@EntityWrapper public struct Page { public var number: Int; var books: [Book] }")
      #expect(expansion.relations == ["\\Self.books"])
      #expect(expansion.conformances == ["EntityWrapper"])
      #expect(expansion.member("wrappedEntitiesKeyPaths")?.hasPrefix("public nonisolated func") == true)
    }

    @Test(
      "Classes, actors and protocols are refused",
      arguments: [("final class", "a class"), ("actor", "an actor"), ("protocol", "a protocol")])
    func refused(keyword: String, kind: String) {
      let expansion = Expansion("@EntityWrapper \(keyword) Media {}")
      #expect(expansion.added == nil)
      #expect(
        expansion.diagnostics.first?.hasSuffix(
          "error: '@EntityWrapper' needs an enum or a struct, and 'Media' is \(kind): a wrapper is a value that the store "
            + "copies and shares between threads") == true)
    }

    @Test("A conformance by hand is not written again")
    func byHand() {
      let stated = Expansion(
        """
        @EntityWrapper enum Media: EntityWrapper {
          case book(Book)
          func wrappedEntitiesKeyPaths<Root>(
            relativeTo parent: WritableKeyPath<Root, Self>
          ) -> [PartialIdentifiableKeyPath<Root>] { [] }
        }
        """, conforming: ["EntityWrapper"])
      #expect(stated.members == ["book"])
      #expect(stated.conformances.isEmpty)
      let elsewhere = Expansion("@EntityWrapper enum Media { case book(Book) }", conforming: ["EntityWrapper"])
      #expect(elsewhere.members == ["book"])
    }
  }

  extension Expansion {
    /// The body of the setter of an accessor, on one line.
    fileprivate func setter(of name: String) -> String? {
      guard let text = member(name), let start = text.range(of: "set {")?.upperBound else { return nil }
      return text[start...].split { $0.isWhitespace }.dropLast(2).joined(separator: " ")
    }
  }
#endif
