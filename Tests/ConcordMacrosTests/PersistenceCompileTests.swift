#if Macros && (os(Linux) || os(macOS))
  import Testing

  @Suite("What the compiler says of @PersistentEntity")
  struct PersistenceCompileTests {
    let compiler: Compiler

    init() throws { compiler = try Compiler() }

    private func check(_ source: String, flags: [String] = []) throws -> Compiler.Report {
      try compiler.check(source, importing: "ConcordPersistenceMacros", flags: ["-swift-version", "6"] + flags)
    }

    static let programs = """
      import Foundation
      @PersistentEntity nonisolated public struct Author: Codable, Hashable { public let id: String; public var name: String }
      nonisolated enum Genre: String, Codable, Identifiable { case novel; var id: String { rawValue } }
      nonisolated struct Point: Codable, Hashable { var x = 0.0 }
      @PersistentWrapper enum Medium { case author(Author?), point(Point), pair(first: Author, Int), many([Author]), none }
      @PersistentWrapper indirect enum Over { case by(author: Author), by(Int), `default`(String), other }
      @PersistentWrapper struct Credits { var author: Author; var others: Set<Author>; var medium: Medium }
      @PersistentEntity struct P1 { let id: Int; var medium: Medium; var over: Over?; var media: [Medium]? }
      @PersistentEntity struct P2 { let id: UUID; var a, b: Author; var (c, d): (Int, String); var `default` = 1, row = 2 }
      @PersistentEntity struct P3 { var id = UUID(); var genre = Genre.novel; var points: [Point?] = [], map: [Point: Author] = [:] }
      @PersistentEntity struct P4 { let id: Int; private var secret = 1; private(set) var author: Author; var n = 0 { didSet {} } }
      @PersistentEntity struct P5 { let id: Int; @EntityIgnored let sold: Author; @Transient var action: @Sendable () -> Void = {} }
      @PersistentEntity struct P6<Item: Codable & Hashable & Sendable> { let id: Item; var item: Item; var items: [Item]?; var a: Author }
      extension P1 { @PersistentEntity struct Inner { let id: Int; var list: [P1] } }
      @MainActor final class Screen { @PersistentEntity struct Row { let id: Int; var author: Author } }
      @PersistentEntity struct P7 { let id: Int; @available(*, deprecated) var old: Author }
      @PersistentEntity(id: \\.author.id) struct P8 { var author: Author; var books: [P1] }
      @PersistentEntity struct P9 { nonisolated struct ID: Codable, Hashable { let raw: Int }; let id: ID; var ids: [Author.ID] }
      @PersistentEntity @frozen public struct P10 { public let id: Int; public var others: [P10]; @usableFromInline var n: Int }
      @PersistentEntity struct P11: Codable { let id: Int; var author: Author; var friends: [P11] }
      @PersistentEntity struct P12 {
        let id: Int
        static var persistentProperties: [PersistentProperty<P12>] { [.init("id", \\.id)] }
        init(from row: inout RowReader) throws { id = try row.read() }
        func write(to row: inout RowWriter) throws { try row.write(id) }
      }
      @PersistentEntity struct P14 { let id: Int; var `a "b"` = 1; @EntityIgnored var `c "d"`: [Author]; var quoted: Quoted }
      @PersistentWrapper enum Quoted { case `a "b"`(Author), `c "d"`(`e "f"`: Int, Author), author(Author); var author: Int { 1 } }
      #if os(Linux)
        @PersistentEntity struct P13 { let id: Int; @Attribute(.unique, .indexed, originalName: "o") var n: Int }
      #endif
      """

    @Test(
      "Programs that users write compile, also where the main actor is the default, and in the Swift 5 mode",
      arguments: [["-swift-version", "6"], ["-default-isolation", "MainActor"], ["-swift-version", "5"]])
    func userPrograms(flags: [String]) throws {
      let report = try check(Self.programs, flags: flags)
      #expect(report.messages.isEmpty, "\(report.output)")
    }

    @Test("A property that has no column is one error, at the property")
    func unstorable() throws {
      let types = ["Plain", "[Plain]", "(Int, String)", "@Sendable () -> Void", "Other", "[String: Other]?", "Media"]
      for type in types {
        let report = try check(
          """
          struct Plain: Sendable {}
          @Entity struct Other { let id: Int }
          @EntityWrapper enum Media { case other(Other), none }
          @PersistentEntity struct Book {
            let id: Int
            var content: \(type)
          }
          """)
        #expect(report.errors.count == 1, "\(type): \(report.output)")
        #expect(
          report.messages(at: "7:7").first?.contains("let the type conform to 'Codable'") == true,
          "\(type): \(report.output)")
      }
    }

    @Test("A constant entity is warned of, and refused if it would be no reference")
    func constant() throws {
      let source = "@PersistentEntity struct Author { let id: Int }\n@PersistentEntity struct Book {\n  let id: Int\n  "
      let report = try check(source + "let author: Author\n}")
      #expect(report.messages(at: "5:7").contains { $0.contains("declare it with 'var'") }, "\(report.output)")
      #expect(report.errors.count == 1, "\(report.output)")
    }

    @Test("What the macros refuse stops the build, with the reason where it stands")
    func refusals() throws {
      let report = try check(
        """
        @PersistentEntity struct A { let id: Int
          @Transient var n: Int }
        @Entity @PersistentEntity struct B { let id: Int }
        @PersistentEntity enum C { case a }
        """)
      #expect(report.messages(at: "3:18").first?.contains("is not stored") == true, "\(report.output)")
      #expect(report.messages(at: "4:1").first?.contains("does all that '@Entity' does") == true, "\(report.output)")
      #expect(report.messages(at: "5:19").first?.contains("declare it '@PersistentWrapper'") == true)
    }

    @Test("Describing brings no container, and so nothing that files need")
    func modelOnly() throws {
      let report = try check("let container: (any PersistentContainer)? = nil")
      #expect(report.errors == ["error: cannot find type 'PersistentContainer' in scope"], "\(report.output)")
    }
  }
#endif
