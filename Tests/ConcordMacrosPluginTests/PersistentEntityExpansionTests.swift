#if Macros
  import SwiftSyntax
  import SwiftSyntaxMacrosGenericTestSupport
  import Testing

  @Suite("What @PersistentEntity writes")
  struct PersistentEntityExpansionTests {
    @Test("All that @Entity writes, and the row")
    func whole() {
      assertMacroExpansion(
        """
        @PersistentEntity public struct Book {
          public let id: String
          @Attribute(.indexed, originalName: "name") public var title: String
          var author: Author
          @Transient var isSelected = false
        }
        """,
        expandedSource: """
          public struct Book {
            public let id: String
            public var title: String
            var author: Author
            var isSelected = false
          }

          extension Book: nonisolated Swift.Identifiable, nonisolated Concord.Aggregate, \
          nonisolated ConcordModel.PersistentEntity {
            public nonisolated var nestedEntitiesKeyPaths: [Concord.PartialIdentifiableKeyPath<Self>] {
              Self.fixedRelations ?? []
            }

            public nonisolated static var fixedRelations: [Concord.PartialIdentifiableKeyPath<Self>]? {
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

            public nonisolated static let persistentProperties: [ConcordModel.PersistentProperty<Self>] = {
              var properties: [ConcordModel.PersistentProperty<Self>] = []
          #sourceLocation(file: "test.swift", line: 1)
              properties.append(ConcordModel.PersistentProperty<Self>
                      .init("id", \\Self.id))
          #sourceLocation()
          #sourceLocation(file: "test.swift", line: 2)
              properties.append(ConcordModel.PersistentProperty<Self>
                                                                 .init("title", \\Self.title, .indexed, originalName: "name"))
          #sourceLocation()
          #sourceLocation(file: "test.swift", line: 3)
              properties.append(ConcordModel.PersistentProperty<Self>
               .init("author", \\Self.author))
          #sourceLocation()
              return properties
            }()

            public nonisolated init(from row: inout ConcordModel.RowReader) throws {
              self.id = try row.read()
              self.title = try row.read()
              self.author = try row.read()
            }

            public nonisolated func write(to row: inout ConcordModel.RowWriter) throws {
              try row.write(self.id)
              try row.write(self.title)
              try row.write(self.author)
            }
          }
          """,
        macroSpecs: Expansion.specs(), indentationWidth: .spaces(2), failureHandler: record)
    }

    @Test("The identity may be another property, which has a column besides")
    func otherID() {
      let expansion = Expansion("@PersistentEntity(id: \\.isbn) struct Edition { let isbn: String }")
      #expect(expansion.member("id") == "nonisolated var id: String { self.isbn }")
      #expect(expansion.described == ["\"isbn\", \\Self.isbn"])
      #expect(expansion.diagnostics.isEmpty)
    }

    @Test("Initial values are defaults, but that of the id")
    func defaults() {
      let expansion = Expansion(
        "@PersistentEntity struct Book { var id = UUID(); var year: Int = 1900, tags = [\"a\"]; var n: Int? }")
      #expect(
        expansion.described == [
          "\"id\", \\Self.id", "\"year\", \\Self.year)._default(1900, at: \\Self.year)",
          "\"tags\", \\Self.tags)._default([\"a\"], at: \\Self.tags)", "\"n\", \\Self.n",
        ])
    }

    @Test("Ignored entities are kept as JSON, and what is plain as it is")
    func ignored() {
      let expansion = Expansion(
        "@PersistentEntity struct Order { let id: Int; @EntityIgnored let sold: Book, note: String }")
      #expect(expansion.described.dropFirst() == ["\"sold\", json: \\Self.sold", "\"note\", \\Self.note"])
      #expect(expansion.member("init")?.contains("self.sold = try row.readJSON()") == true)
      #expect(expansion.member("write")?.contains("try row.write(json: self.sold)") == true)
      #expect(expansion.conformances.contains("EntityIgnoring"))
    }

    @Test("Properties stay within their #if, with what reads and writes them")
    func conditions() {
      let expansion = Expansion(
        """
        @PersistentEntity struct Book {
          let id: Int
          #if DEBUG
            var `default`: Int
          #else
            @Transient var `default` = 1
          #endif
        }
        """)
      #expect(
        expansion.described == [
          "\"id\", \\Self.id", "#if DEBUG", "\"default\", \\Self.`default`", "#else", "#endif",
        ])
      #expect(
        expansion.member("write")?.split(separator: "\n").map { $0.drop { $0 == " " } } == [
          "nonisolated func write(to row: inout ConcordModel.RowWriter) throws {", "try row.write(self.id)",
          "#if DEBUG", "try row.write(self.`default`)", "#else", "#endif", "}",
        ])
    }

    @Test("A generic type, and one within, makes its list anew, since it can keep none")
    func generic() {
      for source in [
        "@PersistentEntity struct Page<Item> { let id: Int }",
        "struct Page<Item> { @PersistentEntity struct Line { let id: Int } }",
        "extension Page { @PersistentEntity struct Line { let id: Int } }",
      ] {
        let list = Expansion(source).member("persistentProperties")
        #expect(list?.hasPrefix("nonisolated static var persistentProperties") == true, "\(source)")
      }
      let inner = Expansion("enum Shop { @PersistentEntity struct Line { let id: Int } }")
      #expect(inner.member("persistentProperties")?.hasPrefix("nonisolated static let") == true)
    }

    @Test("What the struct declares itself is used")
    func declared() {
      let expansion = Expansion(
        """
        @PersistentEntity struct Book: Codable {
          let id: Int
          static let persistentProperties: [PersistentProperty<Book>] = []
          init(from decoder: any Decoder) throws {}
          func write(to file: inout RowWriter, at place: Int) {}
        }
        """)
      #expect(expansion.members == ["nestedEntitiesKeyPaths", "fixedRelations", "init", "write"])
      let all = Expansion(
        """
        @PersistentEntity struct Book {
          let id: Int
          init(from row: inout ConcordModel.RowReader) throws {}
          func write(to row: inout RowWriter) throws {}
        }
        """)
      #expect(all.members == ["nestedEntitiesKeyPaths", "fixedRelations", "persistentProperties"])
    }

    @Test("What cannot be is said where it stands")
    func problems() {
      func diagnostics(_ members: String) -> [String] {
        Expansion("@PersistentEntity struct Book {\n  \(members)\n}").diagnostics
      }
      func says(_ members: String, _ start: String) -> Bool {
        let diagnostics = diagnostics(members)
        return diagnostics.count == 1 && diagnostics[0].hasPrefix(start)
      }
      #expect(says("let id: Int; @Transient var n: Int", "2:31 error: 'n' is not stored, so what is read has nothing"))
      #expect(says("let id: Int; @Transient let n: Int?", "2:31 error: 'n' is not stored"))
      #expect(says("let id: Int; @Transient @Attribute(.unique) var n = 1", "2:27 error: 'n' is '@Transient'"))
      #expect(says("@Transient var id = 1", "2:3 error: an entity is found by its 'id'"))
      #expect(says("let id = UUID()", "2:7 error: 'id' has its value already"))
      #expect(says("let id: Int; @Attribute(.unique) let n = 1", "2:40 error: 'n' has its value already"))
      #expect(says("let id: Int; let n = 1", "2:20 warning: 'n' has its value already"))
      #expect(says("let n: Int", "1:19 error: 'Book' has no 'id': declare one, or name the property that"))
      #expect(says("let id: Int; @Transient static var n = 1", "2:16 warning: '@Transient' stands before a stored"))
      #expect(says("let id: Int; let parent: Book?", "2:20 warning: 'parent' holds an entity"))
      for sound in [
        "@Transient var n = 1", "@Transient var n: Int?", "@Transient var n: Int!", "@Transient let n = 1",
        "@Transient lazy var n = 1", "@Clamped @Transient var n: Int",
      ] {
        #expect(diagnostics("let id: Int; \(sound)") == [], "\(sound)")
      }
      let both = Expansion("@Entity @PersistentEntity struct Book { let id: Int }")
      #expect(both.diagnostics == ["1:1 error: '@PersistentEntity' does all that '@Entity' does: remove '@Entity'"])
      let notAStruct = Expansion("@PersistentEntity final class Book { let id = 0 }")
      #expect(notAStruct.diagnostics.first?.hasPrefix("1:25 error: '@PersistentEntity' needs a struct, and") == true)
    }
  }
#endif
