#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  /// With notes in a table of their own.
  private struct Folder: PersistentEntity, Aggregate, Equatable {
    let id: Int
    var notes: [Note]

    static let persistentProperties: [PersistentProperty<Folder>] = [.init("id", \.id), .init("notes", \.notes)]
    init(_ id: Int, _ notes: [Note]) { (self.id, self.notes) = (id, notes) }
    init(from row: inout RowReader) throws { (id, notes) = (try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(notes)
    }
  }

  @Suite("What an index of words narrows in a database", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct SearchNarrowingTests {
    @Test("Searches that are alternatives, alone and beside other conditions, and searches in elements")
    func alternatives() throws {
      let fleet = try SearchFleet(Note.self, Folder.self)
      let store = try fleet.store()
      defer { try? store.close() }
      let context = try store.context(fleet.model)
      for id in 0..<3_000 { context.insert(Folder(id, [Note(id, "Number \(id)", "word\(id)", year: id)])) }
      try context.save()
      try fleet.sql("CREATE INDEX ON \"Note\" (year)")
      let (note, folder) = (try fleet.model.entity(Note.self), try fleet.model.entity(Folder.self))
      let list = PostgreSQLTable.tableName(folder.collections[0], of: folder)
      for table in ["Note", "concord_words.Note", "Folder", list] {
        try fleet.server.sql("VACUUM ANALYZE \(identifier(fleet.schema)).\(identifier(table))")
      }
      func hit(_ query: SearchQuery) -> StoredCondition { .matches(query, in: note.searchablePositions) }
      func year(_ year: Int64) -> StoredCondition { .isEqual(.position(3), .integer(year)) }
      func element(_ condition: StoredCondition) -> StoredCondition { .hasElement(0, note, condition) }
      let (first, second) = (hit("word1000"), hit("word2000 OR word2001"))
      func check(_ entity: EntityDescription, _ condition: StoredCondition, _ expected: [Int], isNarrowed: Bool = true)
        throws
      {
        let query = RowQuery(entity, where: condition)
        try store.read { reading in
          var found: [StoredValue] = []
          try reading.rows(query) { key, _ in
            found.append(key)
            return true
          }
          #expect(found == expected.map { .integer(Int64($0)) }, "\(condition)")
          let plan = try reading.plan(of: query)
          let index = TableAccess(table: "concord_words.Note", .search(index: "concord_index.Note"))
          #expect(plan.accesses.contains(index) == isNarrowed, "\(plan)")
          let scans = plan.accesses.contains { $0.method == .scan && $0.table != "concord_words.Note" }
          if isNarrowed { #expect(!scans, "\(plan)") }
        }
      }
      try check(note, .any([first, second]), [1_000, 2_000, 2_001])
      try check(note, .any([first, year(7)]), [7, 1_000])
      try check(note, .any([.all([first, year(1_000)]), .all([year(2_001), second])]), [1_000, 2_001])
      try check(note, .any([first, .all([.any([second, year(1)]), .not(year(2_000))])]), [1, 1_000, 2_001])
      try check(folder, element(first), [1_000])
      try check(folder, .any([element(.any([first, year(5)])), .isEqual(.key, .integer(9))]), [5, 9, 1_000])
      // Of an alternative that any row may fulfil nothing is narrowed.
      try check(
        note, .all([.any([first, .not(second)]), .compares(.key, .greater, .integer(2_998))]), [2_999],
        isNarrowed: false)
      try check(note, .any([first, hit("-number"), .not(.any([year(3), hit("number")]))]), [1_000], isNarrowed: false)
    }
  }
#endif
