import Foundation
import Testing

@testable import ConcordPersistence

#if Persistence
  import GRDB
#endif

/// A word with unique values that may be stored in several forms.
private struct Word: PersistentEntity, Equatable {
  let id: Int
  var name: String
  var weight: Double?
  var nick: Nick?
  var list = 1

  static let persistentProperties: [PersistentProperty<Word>] = [
    .init("id", \.id), .init("name", \.name, .unique), .init("weight", \.weight, .unique),
    .init("nick", \.nick, .unique), .init("list", \.list),
  ]

  init(_ id: Int, _ name: String, weight: Double? = nil, nick: String? = nil, list: Int = 1) {
    (self.id, self.name, self.weight, self.nick, self.list) = (id, name, weight, nick.map { Nick($0) }, list)
  }
  init(from row: inout RowReader) throws {
    id = try row.read()
    name = try row.read()
    weight = try row.read()
    nick = try row.read()
    list = try row.read()
  }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(name)
    try row.write(weight)
    try row.write(nick)
    try row.write(list)
  }
}

@Suite("Unique values in several forms")
struct UniqueFormsTests {
  private static let composed = "caf\u{e9}"
  private static let decomposed = "cafe\u{301}"

  private func save(_ words: Word..., to coordinator: PersistentStoreCoordinator) throws {
    let context = coordinator.newContext()
    for word in words { context.insert(word) }
    try context.save()
  }

  private func words(_ coordinator: PersistentStoreCoordinator) throws -> [Word] {
    try coordinator.newContext().fetch(FetchDescriptor<Word>(sortBy: [SortDescriptor(\.id)]))
  }

  // MARK: Merging

  /// Merges words by one of their attributes.
  private func merge(
    _ words: [Word], by attribute: String, subset: Predicate<Word>? = nil, _ coordinator: PersistentStoreCoordinator
  ) throws {
    let entity = try coordinator.model.entity(Word.self)
    let position = try #require(entity.columns.firstIndex { $0.name == attribute })
    let context = coordinator.newContext()
    _ = try context.merge(
      MergeRequest(
        objects: words, uniqueness: [.position(position)], ignored: [], subset: subset, condition: nil,
        keepsMissing: false, stamp: nil))
    try context.save()
  }

  @Test("Objects are merged with rows that have the same attribute in another form", arguments: StoreKind.allCases)
  func merging(_ kind: StoreKind) throws {
    try kind.withCoordinator(Model("Words", entities: [Word.self])) { coordinator in
      let (composed, decomposed) = (Self.composed, Self.decomposed)
      func isFound(_ expected: Word...) throws { #expect(try words(coordinator) == expected) }
      try save(Word(1, composed), Word(2, "b"), Word(3, "c"), to: coordinator)
      try merge([Word(11, decomposed, list: 2), Word(12, "b", list: 2)], by: "name", coordinator)
      try isFound(Word(1, composed, list: 2), Word(2, "b", list: 2))
      // Outside of the subset.
      try merge([Word(21, composed, list: 3)], by: "name", subset: #Predicate { $0.list == 3 }, coordinator)
      try isFound(Word(1, composed, list: 3), Word(2, "b", list: 2))
      // Of two that are the same the last counts.
      try merge([Word(31, composed, list: 4), Word(32, decomposed, list: 5)], by: "name", coordinator)
      try isFound(Word(1, composed, list: 5))
    }
  }

  @Test("A Korean syllable is one text, in one, two or three scalars", arguments: StoreKind.allCases)
  func syllables(_ kind: StoreKind) throws {
    let forms = ["\u{ac01}", "\u{ac00}\u{11a8}", "\u{1100}\u{1161}\u{11a8}"]
    #expect(Set(forms).count == 1 && Set(forms.map(\.storedKey)) == [.text(forms[0])])
    // Also where the order of the two is asked for.
    for form in forms { #expect(TextOrder.compare(form, forms[0]) == 0 && TextOrder.compare(form, "\u{ac02}") < 0) }
    for first in forms {
      for second in forms {
        try kind.withCoordinator(Model("Words", entities: [Word.self])) { coordinator in
          try save(Word(1, first), to: coordinator)
          #expect(throws: StoreError.self) { try save(Word(2, second), to: coordinator) }
          try merge([Word(3, second, list: 2)], by: "name", coordinator)
          #expect(try words(coordinator).map(\.list) == [2])
        }
      }
    }
  }

  @Test("Objects are merged by numbers and by values of one's own as these are equal", arguments: StoreKind.allCases)
  func mergingOthers(_ kind: StoreKind) throws {
    try kind.withCoordinator(Model("Words", entities: [Word.self])) { coordinator in
      try save(Word(1, "a", weight: 0), Word(2, "b", weight: 1), to: coordinator)
      try merge([Word(11, "a", weight: -0.0, list: 2)], by: "weight", coordinator)
      #expect(try words(coordinator) == [Word(1, "a", weight: 0, list: 2)])
      try save(Word(3, "c", nick: "Joe"), Word(4, "d", nick: "Ann"), to: coordinator)
      try merge(
        [Word(13, "c", nick: "JOE", list: 3), Word(14, "d", nick: "ann", list: 3)], by: "nick",
        subset: #Predicate { $0.list == 3 }, coordinator)
      #expect(
        try words(coordinator)
          == [Word(1, "a", weight: 0, list: 2), Word(3, "c", nick: "joe", list: 3), Word(4, "d", nick: "ann", list: 3)])
      // NaN is equal to none, so that the ids tell which is meant.
      try merge([Word(5, "e", weight: .nan)], by: "weight", coordinator)
      try merge([Word(5, "f", weight: .nan)], by: "weight", coordinator)
      #expect(try words(coordinator).map(\.name) == ["f"])
    }
  }

  // MARK: Files

  #if Persistence
    private func withFile(_ body: (_ open: () throws -> PersistentStoreCoordinator, _ file: URL) throws -> Void) throws
    {
      try withFolder { folder in
        let model = try Model("Words", entities: [Word.self])
        var stores: [any RowStore] = []
        defer { for store in stores { try? store.close() } }
        let file = folder.appending(path: "test.sqlite")
        try body(
          {
            let store = try SQLiteStore(url: file, entities: model.entities)
            stores.append(store)
            let coordinator = PersistentStoreCoordinator(model: model)
            try coordinator.attach(store, configuration: "")
            return coordinator
          }, file)
      }
    }

    private func change(_ file: URL, _ statements: String...) throws {
      let queue = try DatabaseQueue(path: file.path)
      for sql in statements { try queue.write { try $0.execute(sql: sql) } }
      try queue.close()
    }

    private func strings(_ file: URL, _ sql: String) throws -> [String] {
      let queue = try DatabaseQueue(path: file.path)
      defer { try? queue.close() }
      return try queue.read { try String.fetchAll($0, sql: sql) }
    }

    private let withoutKeys = "DROP TABLE concord_unique"
    /// The index of numbers as files of earlier programs have it.
    private let earlierIndex =
      "DROP INDEX \"Word.weight\"; CREATE UNIQUE INDEX \"Word.weight\" ON \"Word\" (\"weight\")"

    @Test("A file that was made before forms were compared is prepared when it is attached")
    func earlierFile() throws {
      try withFile { open, file in
        try save(Word(1, Self.decomposed, weight: -0.0), Word(2, "b", weight: .nan), to: open())
        try change(file, withoutKeys, earlierIndex)
        let coordinator = try open()
        #expect(reason { try save(Word(3, Self.composed), to: coordinator) } == "another Word has the same name")
        #expect(reason { try save(Word(3, "c", weight: 0), to: coordinator) } == "another Word has the same weight")
        try save(Word(3, "c", weight: .nan), to: coordinator)
        #expect(try words(coordinator).map(\.id) == [1, 2, 3])
      }
    }

    @Test("A file in which two values are the same already is refused, and stays as it is")
    func earlierDuplicates() throws {
      try withFile { open, file in
        try save(Word(1, "a", weight: 0), Word(2, "b"), to: open())
        for (column, value) in [
          ("name", "'\(Self.composed)'), (4, '\(Self.decomposed)'"), ("weight", "x'8000000000000000'"),
        ] {
          let sql =
            column == "name"
            ? "INSERT INTO Word (id, name, list, _stamp) SELECT column1, column2, 1, 0 FROM (VALUES (3, \(value)))"
            : "INSERT INTO Word (id, name, weight, list, _stamp) VALUES (5, 'e', \(value), 1, 0)"
          try change(file, withoutKeys, earlierIndex, sql)
          let isReplaced = reason { _ = try open() }
          #expect(
            isReplaced == "the store 'test.sqlite' does not fit the model: Word.\(column) is to be unique, and is not")
          #expect(try strings(file, "SELECT name FROM sqlite_master WHERE name = 'concord_unique'") == [])
          try change(file, "DELETE FROM Word WHERE id > 2")
          _ = try open()
        }
      }
    }

    @Test("Only values in another form than the usual one have entries, and these go with them")
    func entries() throws {
      try withFile { open, file in
        let coordinator = try open()
        let keys = "SELECT \"column\" || ' ' || \"key\" || ' ' || owner FROM concord_unique ORDER BY 1"
        try save(Word(1, "ascii", weight: 1, nick: "joe"), Word(2, Self.composed, weight: .nan), to: coordinator)
        #expect(try strings(file, keys) == [])
        try save(Word(1, "ascii", weight: -0.0, nick: "JOE"), Word(2, Self.decomposed), to: coordinator)
        #expect(try strings(file, keys) == ["name \(Self.composed) 2", "nick joe 1", "weight 0.0 1"])
        try save(Word(1, "ascii", nick: "Joe"), Word(2, Self.composed), to: coordinator)
        #expect(try strings(file, keys) == ["nick joe 1"])
        let context = coordinator.newContext()
        try context.delete(Word.self, id: 1)
        try context.save()
        #expect(try strings(file, keys) == [])
      }
    }

    @Test(
      "What other programs change is taken as it is: entries of other values do not count, a table that is dropped is made anew"
    )
    func otherPrograms() throws {
      try withFile { open, file in
        let coordinator = try open()
        try save(Word(1, Self.decomposed), to: coordinator)
        try change(file, "UPDATE Word SET name = 'a' WHERE id = 1")
        try save(Word(2, Self.composed), to: coordinator)
        try change(file, "INSERT INTO Word (id, name, list, _stamp) VALUES (3, 'e\u{301}', 1, 0)", withoutKeys)
        #expect(reason { try save(Word(4, "\u{e9}"), to: coordinator) } == "another Word has the same name")
        #expect(try words(coordinator).map(\.id) == [1, 2, 3])
      }
    }

    @Test("Of two programs that write the same in different forms the second is told")
    func twoPrograms() throws {
      try withFile { open, _ in
        let (one, other) = (try open(), try open())
        for number in 0..<20 {
          let forms = number.isMultiple(of: 2) ? (Self.composed, Self.decomposed) : (Self.decomposed, Self.composed)
          try save(Word(1, "\(forms.0)\(number)"), to: one)
          let isRefused = reason { try save(Word(2, "\(forms.1)\(number)"), to: other) }
          #expect(isRefused == "another Word has the same name")
        }
      }
    }
  #endif
}
