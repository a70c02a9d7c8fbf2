#if Macros && (os(Linux) || os(macOS))
  import Foundation
  import Testing

  @Suite("What the compiler says of generated code")
  struct CompileTests {
    let compiler: Compiler

    init() throws { compiler = try Compiler() }

    private static let entities = """
      @Entity struct Author { let id: String; var name: String }
      @Entity struct Book { let id: Int; var title: String; var author: Author }
      @EntityWrapper enum Media { case book(Book), author(Author) }

      """

    @Test("A relation declared with let is warned of, whatever shape it has")
    func constants() throws {
      let shapes = [
        "Author", "Author?", "[Author]", "[Author]?", "Set<Writer>", "Set<Writer>?", "[String: Author]",
        "[String: Author]?", "Media", "Media?", "[Media]", "Writers", "Optional<Writer>", "ContiguousArray<Author>",
      ]
      let source =
        Self.entities
          + """
          struct Writer: Identifiable, Hashable, Sendable { let id: Int }
          typealias Writers = ArraySlice<Writer>
          @Entity struct Shelf { let id: Int

          """ + shapes.enumerated().map { "let content\($0): \($1)\n" }.joined() + "}"
      let report = try compiler.check(source)
      #expect(report.errors.isEmpty, "\(report.output)")
      let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
      for (index, shape) in shapes.enumerated() {
        // On the user's line, at the name. Before the source there is the line of the import.
        let line = lines.prefix { !$0.hasPrefix("let content\(index):") }.count + 2
        let messages = report.messages(at: "\(line):5")
        #expect(messages.contains { $0.contains("declare it with 'var'") }, "\(shape): \(report.output)")
        #expect(messages.contains { $0.contains("mark it '@EntityIgnored'") }, "\(shape): \(report.output)")
      }
    }

    @Test("Constants that hold no entity, and ignored ones, are left in peace")
    func harmlessConstants() throws {
      let report = try compiler.check(
        Self.entities
          + """
          struct Writer: Identifiable, Hashable, Sendable { let id: Int }
          @Entity struct Shelf {
            let id: Int, number: Int, names: [String], map: [String: Int]?, pair: (Int, String)
            let writerID: Writer.ID
            let closure: @Sendable () -> Void
            let any: any Sendable
            @EntityIgnored let sold: Book
            @EntityIgnored let shelves: [Shelf]
          }
          """)
      #expect(report.messages.isEmpty, "\(report.output)")
    }

    @Test("A let whose spelling is proof has one warning, at the property")
    func certainConstant() throws {
      let report = try compiler.check("@Entity struct Shelf {\n  let id: Int\n  let shelves: [Shelf]\n}")
      #expect(report.messages.count == 1, "\(report.output)")
      #expect(report.output.contains("Shop.swift:4:7: warning: 'shelves' holds an entity: declare it with 'var'"))
    }

    /// Every kind of declaration there is. It is compiled as a whole, since starting a compiler takes its time.
    static let kinds =
      entities + """
        @Entity struct S1 { let id: Int; private var book: Book; private(set) var books: [Book] }
        public struct Shop { @Entity public struct S2 { public let id: Int; var book: Book } }
        private struct Hidden { @Entity struct S3 { let id: Int; var book: Book } }
        public extension Shop { @Entity struct S4 { public let id: Int; var book: Book } }
        extension Shop { @Entity fileprivate struct S5 { let id: Int; private var book: Book } }
        @Entity private struct S6 { let id: Int; fileprivate var book: Book }
        @Entity struct S7<Item: Identifiable & Sendable> { let id: Int; var item: Item; var items: [Item]? }
        @Entity struct S8<each Item: Sendable> { let id: Int; @EntityIgnored var items: (repeat each Item); var book: Book }
        @Entity struct S9 { let id: Int; var book: Book { didSet {} }; var other: Book? { willSet {} } }
        @Entity struct S10 { let id: Int; var `default`: Book; var `in`: [Book]; var `class`: String }
        @Entity struct S11 { let id: Int; var copy: Book; var merge: Book; var property: Int; var types: [Book] }
        @Entity struct S12 { let id: Int; var (a, b): (Book, Int); var c, d: Book? }
        @Entity struct S13: Codable, Hashable { let id: Int; var title: String }
        @Entity(id: \\.number) struct S14 { let number: Int; var book: Book }
        @Entity(id: \\.book.id) struct S15 { var book: Book; var books: [Book] }
        @Entity struct S16 { let id: String; var children: [S16]; var named: [String: S16]? }
        @Entity struct S17 {}
        extension S17: Identifiable { var id: Int { 1 } }
        protocol Model: Aggregate {}
        @Entity struct S18: Model { let id: Int; var book: Book }
        @Entity struct S19: Aggregate { let id: Int; var book: Book }
        @Entity struct S20 { let id: Int; var book: Book }
        extension S20: Aggregate {
          var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\\.book)] }
        }
        @propertyWrapper struct Fixed<Value: Sendable>: Sendable { let wrappedValue: Value }
        @propertyWrapper struct Loud<Value: Sendable>: Sendable { var wrappedValue: Value }
        @Entity struct S21 { let id: Int; @Loud var book: Book; @Fixed var number: Int }
        @Entity struct S22 {
          let id: Int
          #if DEBUG
            var book: Book
          #else
            var author: Author
          #endif
        }
        @MainActor @Entity struct S23 { let id: Int; var book: Book; @EntityIgnored var n = 1 }
        @MainActor enum Front { @Entity struct S24 { let id: Int; var book: Book } }
        @Entity struct S25 { let id: Int; var media: Media; var more: [Media]; var other: Media? }

        @EntityWrapper enum W1 { case book(Book), pair(first: Book, Author), text(String), none }
        @EntityWrapper enum W2 { case many([Book]), named([String: Book]), maybe(Book?), media(Media?) }
        @EntityWrapper public enum W3 { case many([W3]), number(Int), pair(String, second: Int), none }
        @EntityWrapper private enum W4 { case `default`(in: Book), `class`(_ book: Book, for: Author) }
        @EntityWrapper indirect enum W5 { case book(Book), both(W5, W5) }
        @EntityWrapper enum W6<Item: Identifiable & Sendable> { case item(Item), items([Item]) }
        @EntityWrapper enum W7 { case run(@Sendable () -> Void), any(any Sendable), pair((Int, Book)) }
        @EntityWrapper struct W8 { var number: Int; var books: [Book]; let name: String }
        extension Front { @EntityWrapper enum W9 { case book(Book) } }
        @EntityWrapper enum W10 { case book(Book); var book: Book? { get { nil } set {} } }
        @EntityWrapper enum W11: Hashable { case number(Int), none }
        @MainActor @EntityWrapper enum W12 { case book(Book), none }
        @EntityWrapper enum W13 { case book(Book), author(Author), none; var book: String { "" }; var author: Int { 1 } }
        @EntityWrapper enum W14 { case `a "b"`(Book), `c "d"`(`e "f"`: Book, Author), `g h`(Book), `g h`(i: Author) }
        @EntityWrapper struct W15 { var `a "b"`: Book; @EntityIgnored let `c "d"`: Book }
        @Entity struct S26 { let id: Int; var `a "b"`: Book; @EntityIgnored var `c "d"`: Book; var `e`: [Book] }
        """

    @Test("Structs and enums of every kind compile without a word")
    func kindsOfDeclarations() throws {
      let report = try compiler.check(Self.kinds)
      #expect(report.messages.isEmpty, "\(report.output)")
    }

    @Test("So they do in a module that belongs to the main actor, and in the Swift 5 mode")
    func modules() throws {
      let source =
        Self.entities + "@Entity(id: \\.number) struct Shelf { let number: Int; var books: [Book]; var media: Media }"
      for flags in [["-swift-version", "6", "-default-isolation", "MainActor"], ["-swift-version", "5"]] {
        let report = try compiler.check(source, flags: flags)
        #expect(report.messages.isEmpty, "\(flags): \(report.output)")
      }
    }

    /// Forms that get in the way of what is generated.
    static let forms =
      entities + """
        import Foundation
        @Entity struct T1 { let id: Int; var book: Book; var properties: [String] { [] }; func setting(_ n: Int) -> Int { n } }
        @Entity struct T2 { let id: Int; var properties: [Author] }
        @EntityWrapper enum T3 { case media(book: Book), media(author: Author), media(Int), other }
        @EntityWrapper enum T4 { case `self`(Book), `init`(Author), pair(`self`: Book, `init`: Author), none }
        @EntityWrapper enum T5 { case book(Book); @available(*, unavailable) case author(Author) }
        @EntityWrapper enum T6 { case book(Book); @available(*, deprecated) case author(Author), pair(Author, Book) }
        @Entity struct T7 { let id: Int; @available(*, deprecated) var author: Author; @available(*, deprecated) var n: Int }
        @available(*, deprecated) @Entity struct T8 { let id: Int; var author: Author }
        @EntityWrapper enum T9: Identifiable { case book(Book), none; var id: Int { 1 } }
        @Entity struct T10 { let id: Int; var a: T9; var b: T9?; var c: [T9]; var d: ContiguousArray<T9>? }
        @propertyWrapper struct Loud<Value: Sendable>: Sendable { var wrappedValue: Value }
        @propertyWrapper struct Fixed<Value: Sendable>: Sendable { let wrappedValue: Value }
        @Entity struct T11 { let id: Int; @Loud var author: Author?; @Loud var n = 1; @Fixed var number: Int }
        @EntityWrapper struct T12 { @Loud var author: Author?; var n: [Int] }
        @Entity struct T13 { let id: UUID?; var a: [Date], b: [String: URL], c: Data; var d: Duration, e: TimeInterval }
        @Entity struct T14 { let id: Character; var a: Substring, b: Decimal, c: Float; var f: @Sendable () -> Void }
        extension String: @retroactive Identifiable { public var id: String { self } }
        @Entity struct T15 { let id: String, name: String; var names: [String] }
        """

    @Test(
      "Names, cases and wrappers that get in the way compile without a word, also where the main actor is the default",
      arguments: [["-swift-version", "6"], ["-swift-version", "6", "-default-isolation", "MainActor"]])
    func awkwardForms(flags: [String]) throws {
      let report = try compiler.check(Self.forms, flags: flags)
      #expect(report.messages.isEmpty, "\(report.output)")
    }

    /// What users write around and inside their models.
    static let programs =
      entities + """
        import Foundation
        // Generics, nested types and extensions of them.
        @Entity struct U1<Item> where Item: Identifiable & Sendable, Item.ID: Sendable { let id: Int; var next: [Int: Item]? }
        public struct U2<T: Sendable>: Sendable {
          @Entity public struct Inner { public let id: Int; public var value: T; var authors: [String: [Author]] }
          @EntityWrapper public enum Kind { case value(T), values([String: [T]]), none }
        }
        extension U2 where T == Int { @Entity struct Item { let id: Int; var author: Author } }
        extension Date { @Entity struct Entry { let id: Int; var others: [Entry] } }
        protocol Loader: Sendable { associatedtype Item: Sendable }
        @Entity struct U3<Source: Loader, Other: Sendable> { let id: Int; var items: [Source.Item]; var other: [Other?] }
        @EntityWrapper indirect enum U4<T: Sendable> { case leaf(T), node([U4<T>]), pair(U4, U4), keyed([String: U4]) }
        @Entity struct U5 { let id: Int; var tree: U4<Author>; var trees: [String: U4<Int>]; var more: [[U4<Book>]]? }
        @Entity struct U6<let count: Int> { let id: Int; var author: Author }
        @EntityWrapper struct U7<Item: Sendable> { var items: [Item]; let total: Int; @EntityIgnored let first: Author? }
        // Names that generated code uses, or that the standard library has.
        struct EntityRelations: Sendable {}
        @Entity struct U8 { let id: Int; var relations: [Author]; var found: Author; var keyPaths: Int; var e: EntityRelations }
        @Entity struct U9 { let id: Int; var parent, root: Author?; var `self`: Author?; var type: String; var Root: Author? }
        @Entity struct U10 { struct Array: Sendable {}; struct Set: Sendable {}; let id: Int; @EntityIgnored var author: Author }
        @Entity struct U11 { let id: Int; var `case`: Author; var `init`: Author?; var `for`: [String: [Author]] }
        // Initial values.
        @Entity struct U12 { let id = UUID(); let names: [String] = []; let flags = [1, 2]; let f = { 1 }(); let d = Date() }
        @Entity struct U13 { let id = 1; var a = Author(id: "", name: ""); var b = [Author](); var c = [[Author]](); var d = "a" + "b" }
        @Entity struct U14 { let id: Int; var a, b: [Author]; var (c, d): ([Author], Int) = ([], 0); var g = 1, h: [Author] = [] }
        @Entity struct U15 { let id: Int; var pair = (1, Author(id: "", name: "")); var t: (n: Int, (Author, [Media])); var v: Void }
        // Access, availability, actors.
        @usableFromInline @Entity struct U16 { @usableFromInline let id: Int; var author: Author }
        @usableFromInline @EntityWrapper enum U17 { case a(U16), none }
        @usableFromInline @EntityWrapper struct U18 { var a: U16? }
        @Entity package struct U19 { package let id: Int; var others: [U19] }
        @frozen @Entity public struct U20 { public let id: Int; public var others: [U20] }
        @available(macOS 99, *) @Entity struct U21 { let id: Int; var list: [U21] }
        @Entity struct U22 { let id: Int; var n: Author; @available(*, deprecated, renamed: "n") var o: Author { n } }
        actor U23 { @Entity struct Item { let id: Int; var others: [Item] }; var items: [Item] = [] }
        @MainActor struct U24 { @EntityWrapper enum Kind { case a(Author), b }; @Entity struct Item { let id: Int; var k: Kind } }
        @Entity nonisolated struct U25 { let id: Int; nonisolated(unsafe) static var count = 0; static let one = U25(id: 1) }
        // Property wrappers and observers.
        @propertyWrapper struct Clamped: Sendable {
          var wrappedValue: Int
          nonisolated init(wrappedValue: Int, _ range: ClosedRange<Int> = 0...9) { self.wrappedValue = wrappedValue }
        }
        @propertyWrapper struct Seen<V: Sendable>: Sendable { var wrappedValue: V; var projectedValue: Self { self } }
        @Entity struct U26 { let id: Int; @Clamped var n: Int; @Clamped(0...3) var m = 2; @Seen var grid: [[Author]]; @Seen @Seen var two: [Author] = [] }
        @Entity struct U27 { let id: Int; var n = 0 { willSet {} didSet {} }; var a: [Author] = [] { didSet { n += 1 } } }
        // Protocols and conformances.
        @Entity struct U28: Codable, Hashable, Comparable, CustomStringConvertible {
          let id: Int; var description: String { "" }; static func < (a: U28, b: U28) -> Bool { a.id < b.id }
        }
        @Entity struct U29: Hashable { let id: Int; var a: Author; static func == (a: U29, b: U29) -> Bool { true }; func hash(into: inout Hasher) {} }
        @EntityWrapper enum U30 { case a(Author), none; static func == (a: U30, b: U30) -> Bool { true } }
        extension U30: Equatable {}
        @Entity struct U31: Concord.Aggregate, EntityIgnoring { let id: Int; @EntityIgnored var a: Author }
        @Entity struct U32: EntityIgnoring { let id: Int; var a: Author; static var ignoredEntityProperties: Set<String> { ["a"] } }
        final class Reference { var x = 1 }
        @Entity struct U33: @unchecked Sendable { let id: Int; var reference: Reference; var others: [U33] }
        // Ids.
        @Entity struct U34 { struct ID: Hashable, Sendable { let raw: Int }; let id: ID; var ids: [Author.ID]; var o: ID? }
        @Entity struct U35 { var first, last: String; var id: String { first + last }; var others: [U35.ID: U35] }
        // Values in which nobody knows of an entity.
        protocol Drawable: Sendable {}
        @Entity struct U36 { let id: Int; var p: any Drawable; var ps: [any Drawable]; var e: (any Error)?; var m: any Sendable.Type }
        @Entity struct U37 { let id: Int; var r: Result<Int, any Error>; var n: Never?; var range: Range<Int>; var s: Set<[Int]> }
        @Entity struct U38 { let id: Int; var f: @Sendable (Int) async throws -> Author?; weak var w: U39?; unowned let u: U39 }
        final class U39: Sendable {}
        @Entity struct U40 { typealias Kids = [U40]; let id: Int; var kids: Kids; var q: Swift.Optional<Author>; var s: [Shop.Author?] }
        // Cases.
        @EntityWrapper enum U41 { case created(by: Author, at: Int), moved(from: Author, to: Author, why: String?), renamed(_ a: Author) }
        @EntityWrapper enum U42 { case list(authors: [Author]), map(of: [String: [Author]]), flag(Bool), deep(nested: (Author, Int)) }
        @EntityWrapper enum U43 { case made(by: Author = Author(id: "", name: ""), at: Int = 0), count(Int = 3) }
        @EntityWrapper enum U44 { case Author(Author), maybe(Author?), deep(Author??), many([Author]?), gaps([Author?]), none }
        @EntityWrapper enum U45: Sendable { case a(Author), b; static let first = U45.b; static func a() -> U45 { .b }; func book() {} }
        @EntityWrapper enum U46 { case a(Author), text(Int); var a: Author? { if case .a(let a) = self { a } else { nil } }; var text: Int? { 1 } }
        """

    @Test(
      "Fifty programs that users write compile, also where the main actor is the default, and in the Swift 5 mode",
      arguments: [["6"], ["6", "-default-isolation", "MainActor"], ["5"]])
    func userPrograms(flags: [String]) throws {
      let report = try compiler.check(Self.programs, flags: ["-package-name", "shop", "-swift-version"] + flags)
      // All there is to say is of an accessor by hand that cannot be set.
      #expect(report.messages.count == 1 && report.says("a property without a setter"), "\(report.output)")
    }

    @Test("A relation in a container of containers declared with let is warned of")
    func nestedConstants() throws {
      for type in [
        "[[Author]]", "[String: [Author]]", "[Author?]", "[String: [Author]]?", "[String: Media]", "[[Media]]",
        "Set<Writer>?", "Author??", "(Int, Author)",
      ] {
        let report = try compiler.check(
          Self.entities + "struct Writer: Identifiable, Hashable { let id: Int }\n"
            + "@Entity struct Shelf {\n  let id: Int\n  let content: \(type)\n}")
        let line = Self.entities.split(separator: "\n").count + 5
        #expect(report.messages(at: "\(line):7").contains { $0.contains("declare it with 'var'") }, "\(report.output)")
      }
    }

    @Test("An operator of a wrapper is refused where the compiler would derive its own")
    func operators() throws {
      let report = try compiler.check(
        Self.entities
          + "@EntityWrapper enum Row: Equatable { case a(Int), b; static func == (a: Row, b: Row) -> Bool { true } }")
      #expect(report.errors.contains { $0.contains("state the conformance outside") }, "\(report.output)")
    }

    @Test("So does everything with @Consistent beside it, or alone")
    func consistent() throws {
      let sources = [Self.kinds, Self.forms].map {
        $0.replacingOccurrences(of: #"@Entity(\(id: [^)]*\))? "#, with: "$0@Consistent ", options: .regularExpression)
          .replacingOccurrences(of: "@EntityWrapper ", with: "@EntityWrapper @Consistent ")
      }
      let alone = """

        @Consistent public struct C1 { public let id: Int; var author: Author; var choice: C2 }
        @Consistent enum C2 { case author(Author), run(@Sendable () -> Void), pair([Author?], Int), none }
        @Consistent enum C3 { case by(author: Author), by(book: Book), by(Int), other }
        """
      // One of the kinds declares an identity that would belong to the main actor.
      let runs = [(sources[0], nil), (sources[1] + alone, nil), (sources[1] + alone, "MainActor")]
      for (source, isolation) in runs {
        let flags = isolation.map { ["-default-isolation", $0] } ?? []
        let report = try compiler.check(
          source, importing: "ConcordConsistencyMacros", flags: ["-swift-version", "6"] + flags)
        #expect(report.messages.isEmpty, "\(report.output)")
      }
    }

    @Test("@Entity alone brings nothing of ConcordConsistency")
    func entityAlone() throws {
      let report = try compiler.check(
        """
        struct Property: Sendable {}
        @Entity struct House { let id: Int; var properties: [Property]; var isBig: Bool }
        let manager = ConsistencyManager()
        func list(_ house: House) -> [Property] { house.properties }
        func set(_ house: House) -> House { house.setting(property: ("isBig", true)) }
        """)
      #expect(
        report.errors == [
          "error: cannot find 'ConsistencyManager' in scope", "error: value of type 'House' has no member 'setting'",
        ], "\(report.output)")
    }

    @Test("A collection that the store cannot write in is called that")
    func readOnlyCollection() throws {
      let report = try compiler.check(
        Self.entities + "@Entity struct Shelf {\n  let id: Int\n  var content: ReversedCollection<[Book]>\n}")
      let line = Self.entities.split(separator: "\n").count + 4
      #expect(report.messages(at: "\(line):7").first?.contains("take an array, or mark it '@EntityIgnored'") == true)
      #expect(report.messages.count == 1, "\(report.output)")
    }

    @Test("A let of an Identifiable enum, which is no entity, is told how to say so")
    func identifiableEnum() throws {
      let genre = "enum Genre: String, Identifiable { case novel; var id: String { rawValue } }\n"
      let report = try compiler.check(genre + "@Entity struct Book {\n  let id: Int\n  let genre: Genre\n}")
      #expect(report.messages(at: "5:7").first?.contains("mark it '@EntityIgnored'") == true, "\(report.output)")
      let ignored = try compiler.check(genre + "@Entity struct Book { let id: Int; @EntityIgnored let genre: Genre }")
      #expect(ignored.messages.isEmpty, "\(ignored.output)")
    }

    @Test("An entity that belongs to the main actor is warned of at the property: no store could follow it")
    func entityOfAnActor() throws {
      let source = "struct Author: Identifiable { let id: Int }\n@Entity struct Book {\n  let id: Int\n  var SHAPE\n}"
      let shapes = [
        "author: Author", "author: Author?", "author: [Author]", "author: [String: Author]", "author: [[Author]]",
        "author: [Author?]", "author: [String: [Author]]",
      ]
      for shape in shapes {
        let report = try compiler.check(
          source.replacingOccurrences(of: "SHAPE", with: shape),
          flags: ["-swift-version", "6", "-default-isolation", "MainActor"])
        #expect(
          report.messages(at: "5:7").contains { $0.contains("declare it 'nonisolated'") }, "\(shape): \(report.output)")
      }
    }

    @Test("An entity or a wrapper with the name of a plain type is warned of at the property")
    func plainNames() throws {
      let source = "DECLARATION\n@Entity struct Book {\n  let id: Int\n  var date: Date, dates: [Date]\n}"
      func report(_ declaration: String) throws -> Compiler.Report {
        try compiler.check(source.replacingOccurrences(of: "DECLARATION", with: declaration))
      }
      let entity = try report("@Entity struct Date { let id: Int }")
      #expect(
        entity.messages(at: "5:7").first?.contains("an entity with the name of a plain type") == true,
        "\(entity.output)")
      let wrapper = try report("@EntityWrapper enum Date { case book([Book]) }")
      #expect(
        wrapper.messages(at: "5:7").first?.contains("a wrapper with the name of a plain type") == true,
        "\(wrapper.output)")
      #expect(try report("struct Date: Sendable {}").messages.isEmpty)
    }

    @Test("A module with every upcoming feature on may import ConcordMacros publicly")
    func upcomingFeatures() throws {
      let features = ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility"]
      let report = try compiler.check(
        "public import ConcordMacros\n@Entity public struct Shelf { public let id: Int; public var shelves: [Shelf] }",
        flags: ["-swift-version", "6"] + features.flatMap { ["-enable-upcoming-feature", $0] })
      #expect(report.errors.isEmpty, "\(report.output)")
    }

    @Test("What the macros refuse stops the build, with the reason at the type")
    func refusals() throws {
      let report = try compiler.check(
        """
        @Entity final class A { let id = 1 }
        @Entity struct B { let isbn: String }
        @EntityWrapper actor C {}
        """)
      #expect(report.errors.count == 3, "\(report.output)")
      #expect(report.output.contains("Shop.swift:2:15: error: '@Entity' needs a struct, and 'A' is a class"))
      #expect(report.output.contains("Shop.swift:3:9: error: 'B' has no 'id'"))
      #expect(report.output.contains("Shop.swift:4:16: error: '@EntityWrapper' needs an enum or a struct"))
    }

    @Test("A value that is not Sendable is no entity")
    func notSendable() throws {
      let report = try compiler.check(
        "final class Cache { var n = 0 }\n@Entity struct Shelf { let id: Int; var cache: Cache }")
      #expect(report.says("non-Sendable type 'Cache'"), "\(report.output)")
    }
  }
#endif
