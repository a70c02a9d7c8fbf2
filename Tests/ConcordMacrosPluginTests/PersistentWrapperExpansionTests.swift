#if Macros
  import SwiftSyntax
  import Testing

  @Suite("What @PersistentWrapper writes")
  struct PersistentWrapperExpansionTests {
    @Test("For an enum: all that @EntityWrapper writes, the name of the case, and what is in it")
    func cases() {
      let expansion = Expansion(
        "@PersistentWrapper public enum Medium { case book(Book), author(Author?), pair(first: Book, Int), none }")
      #expect(expansion.conformances == ["EntityWrapper", "PersistentWrapper"])
      #expect(
        expansion.members == [
          "book", "author", "pairFirst", "pair1", "wrappedEntitiesKeyPaths", "fixedRelations", "persistentProperties",
          "persistentCase", "init", "write",
        ])
      #expect(
        expansion.described == [
          "\"book\", \\Self.book", "\"author\", \\Self.author", "\"pairFirst\", \\Self.pairFirst",
          "\"pair1\", \\Self.pair1",
        ])
      #expect(
        expansion.member("persistentCase") == """
          public nonisolated var persistentCase: Swift.String {
            switch self {
            case .book: return "book"
            case .author: return "author"
            case .pair: return "pair"
            case .none: return "none"
            }
          }
          """)
      #expect(
        expansion.member("init") == """
          public nonisolated init(case name: Swift.String, from row: inout ConcordModel.RowReader) throws {
            let `stored book`: Book? = try row.read()
            let `stored author`: Author? = try row.read()
            let `stored pairFirst`: Book? = try row.read()
            let `stored pair1`: Int? = try row.read()
            switch name {
            case "book":
              if let `stored book` {
                self = .book(`stored book`)
                return
              }
            case "author":
              self = .author(`stored author`)
              return
            case "pair":
              if let `stored pairFirst`, let `stored pair1` {
                self = .pair(first: `stored pairFirst`, `stored pair1`)
                return
              }
            case "none":
              self = .none
              return
            default: break
            }
            throw ConcordModel.StoreError.unknownCase(name, of: Self.self)
          }
          """)
    }

    @Test("Cases that only their labels tell apart are called by these, too")
    func overloaded() {
      let expansion = Expansion("@PersistentWrapper enum Row { case by(author: Author), by(book: Book), other }")
      #expect(expansion.member("persistentCase")?.contains("return \"by(author:)\"") == true)
      #expect(expansion.member("persistentCase")?.contains("case .other: return \"other\"") == true)
      #expect(expansion.member("init")?.contains("case \"by(book:)\":") == true)
    }

    @Test("For a struct: its properties, but those that are not stored")
    func properties() {
      let expansion = Expansion(
        """
        @PersistentWrapper struct Credits {
          @Attribute(originalName: "writer") var author: Author
          var note = ""
          @Transient var seen = 0
        }
        """)
      #expect(
        expansion.described == [
          "\"author\", \\Self.author, originalName: \"writer\"",
          "\"note\", \\Self.note)._default(\"\", at: \\Self.note)",
        ])
      #expect(
        expansion.member("init") == """
          nonisolated init(case name: Swift.String, from row: inout ConcordModel.RowReader) throws {
            self.author = try row.read()
            self.note = try row.read()
          }
          """)
    }

    @Test("A wrapper in itself would need endless columns, and one macro is enough")
    func problems() {
      let recursive = Expansion("@PersistentWrapper indirect enum Tree { case leaf(Int)\n  case node([Tree]) }")
      #expect(recursive.diagnostics.count == 1)
      #expect(recursive.diagnostics[0].hasPrefix("2:8 error: the case 'node' holds another 'Tree'"))
      let both = Expansion("@EntityWrapper @PersistentWrapper enum Medium { case book(Book) }")
      #expect(both.diagnostics.count == 1 && both.fixIts == ["remove '@EntityWrapper'"])
      #expect(both.members.filter { $0 == "book" }.count == 1)
    }
  }
#endif
