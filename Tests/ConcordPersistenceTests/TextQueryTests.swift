import Foundation
import Testing

@testable import ConcordPersistence

#if Persistence
  import GRDB
#endif

extension Song {
  fileprivate var endsInA: Bool { title.hasSuffix("a") }
}

@Suite("Texts in the store")
struct TextQueryTests {
  private func model() throws -> Model { try Model("Songs", entities: [Song.self, Singer.self, Verse.self]) }

  private func songs(_ texts: [String]) -> [Song] {
    texts.enumerated().map { Song(id: $0, title: $1, text: $1, number: $0 % 3) }
  }

  @Test("A store orders by a comparator of Foundation's as it does", arguments: StoreKind.allCases)
  func comparators(_ kind: StoreKind) throws {
    // Which there are depends on the platform. On Linux there is this one only, given to the store as those that are not.
    var comparators: [String.StandardComparator] = [.lexical]
    #if canImport(Darwin)
      comparators += [.localizedStandard, .localized]
    #endif
    let model = try model()
    try kind.withStore(model) { store in
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.attach(store, configuration: "")
      let context = coordinator.newContext()
      let songs = songs(["b", "A", "a", "C", "\u{E9}", "E\u{301}", "B", ""])
      for song in songs { context.insert(song) }
      try context.save()
      for (comparator, order) in comparators.flatMap({ [($0, SortOrder.forward), ($0, .reverse)] }) {
        let sort = SortDescriptor(\Song.text, comparator: comparator, order: order)
        let entity = try model.entity(Song.self)
        let position = try #require(entity.position(of: \Song.text))
        let stored = StoredOrder(
          .position(position), isAscending: order == .forward, collation: .comparator(comparator))
        var found: [StoredValue] = []
        try store.read { reading in
          try reading.rows(RowQuery(entity, order: [stored], limit: 6)) { key, _ in
            found.append(key)
            return true
          }
        }
        let expected = songs.sorted(using: [sort]).prefix(6).map { StoredValue.integer(Int64($0.id)) }
        #expect(found == expected)
        // A server has no comparator of Foundation's.
        let steps = try store.read { try $0.steps(of: RowQuery(entity, order: [stored], limit: 6)) }
        if kind.isShared { #expect(steps.first?.contains("ORDER BY") == false) }
      }
    }
  }

  @Test("What a calculation traps on in Swift is thrown, and only where it is evaluated", arguments: StoreKind.allCases)
  func calculations(_ kind: StoreKind) throws {
    try kind.withCoordinator(model()) { coordinator in
      let context = coordinator.newContext()
      for song in songs(["a", "b", "c"]) { context.insert(song) }
      try context.save()
      let descriptor = FetchDescriptor<Song>(predicate: #Predicate { $0.number != 0 && 6 / $0.number == 3 })
      #expect(try context.fetch(descriptor).map(\.id) == [2])
      let either = FetchDescriptor<Song>(predicate: #Predicate { $0.number == 0 || 6 / $0.number == 3 })
      #expect(try context.fetch(either).map(\.id) == [0, 2])
      #expect(throws: (any Error).self) {
        try context.fetch(FetchDescriptor<Song>(predicate: #Predicate { 6 / $0.number == 3 }))
      }
      let max = Int.max
      #expect(throws: (any Error).self) {
        try context.count(FetchDescriptor<Song>(predicate: #Predicate { $0.number + max > 0 }))
      }
    }
  }

  @Test("An explanation says what is evaluated where", arguments: StoreKind.allCases)
  func explanation(_ kind: StoreKind) throws {
    try kind.withCoordinator(model()) { coordinator in
      let context = coordinator.newContext()
      for song in songs(["a", "b", "c"]) { context.insert(song) }
      try context.save()
      let whole = try context.explain(
        FetchDescriptor<Song>(
          predicate: #Predicate { $0.title.starts(with: "a") }, sortBy: [SortDescriptor(\.title, comparator: .lexical)],
          fetchLimit: 5))
      #expect(whole.predicate == .store && whole.order == .store && whole.limit == .store)
      #expect(whole.partsInMemory.isEmpty)
      #expect(kind == .memory || whole.steps.contains { $0.contains("Song.title") })
      let both = try context.explain(
        FetchDescriptor<Song>(
          predicate: #Predicate { $0.number == 1 && $0.subtitle! > "a" }, sortBy: [SortDescriptor(\.title)],
          fetchLimit: 5))
      #expect(both.predicate == .both && both.order == .memory && both.limit == .memory)
      #expect(both.partsInMemory.count == 1 && both.partsInMemory[0].contains("subtitle"))
      context.insert(Song(id: 9, title: "z"))
      #expect(
        try "\(context.explain(FetchDescriptor<Song>()))".contains("1 changed row that is not saved is merged"))
    }
  }

  @Test("The end of a text is looked at in memory, of what the store finds", arguments: StoreKind.allCases)
  func endings(_ kind: StoreKind) throws {
    try kind.withCoordinator(model()) { coordinator in
      let context = coordinator.newContext()
      for song in songs(["Emma", "am", "b", "a", "Anna"]) { context.insert(song) }
      try context.save()
      let descriptor = FetchDescriptor<Song>(
        predicate: #Predicate { $0.title.contains("a") && $0.endsInA }, fetchLimit: 2)
      #expect(try context.fetch(descriptor).map(\.id) == [0, 3])
      #expect(try context.explain(descriptor).predicate == .both)
    }
  }

  @Test("A condition on entities in another store gives the same rows")
  func otherStores() throws {
    let model = try Model(
      "Songs", entities: [Song.self], configurations: ["Singers": [Singer.self], "Verses": [Verse.self]])
    try withFolder { folder in
      let coordinator = PersistentStoreCoordinator(model: model)
      let parts: [(String, [any PersistentEntity.Type])] = [
        ("", [Song.self]), ("Singers", [Singer.self]), ("Verses", [Verse.self]),
      ]
      for (index, part) in parts.enumerated() {
        let kind = StoreKind.allCases[index % StoreKind.allCases.count]
        let entities = try part.1.map { try model.entity($0) }
        let store: any RowStore =
          switch kind {
          case .memory: MemoryStore(name: part.0)
          #if Persistence
            case .sqlite: try SQLiteStore(url: folder.appending(path: "\(part.0).sqlite"), entities: entities)
          #endif
          #if PostgreSQL
            case .postgreSQL: try StoreKind.open(model, entities, folder.appending(path: "p"), part.0)
          #endif
          }
        try coordinator.attach(store, configuration: part.0)
      }
      let context = coordinator.newContext()
      for id in 0..<6 {
        var song = Song(id: id, title: "t", author: Singer(id: "s\(id % 2)", name: "name \(id % 2)"))
        song.verses = [Verse(id: id, text: "verse \(id)", number: id)]
        context.insert(song)
      }
      try context.save()
      let descriptor = FetchDescriptor<Song>(
        predicate: #Predicate { $0.author.name == "name 1" && $0.verses.contains { $0.number > 2 } }, fetchLimit: 1,
        fetchOffset: 1)
      #expect(try context.fetch(descriptor).map(\.id) == [5])
      #expect(try context.count(descriptor) == 1)
      #expect(try "\(context.explain(descriptor))".contains("in other stores is evaluated in memory"))
    }
  }

  @Test("A live query follows what a condition asks of entities inside", arguments: StoreKind.allCases)
  func live(_ kind: StoreKind) throws {
    try kind.withCoordinator(model()) { coordinator in
      let view = ViewContext(parent: coordinator, delivery: .immediate) { error in Issue.record(error) }
      let context = coordinator.newContext()
      for id in 0..<3 {
        context.insert(Song(id: id, title: "t\(id)", author: Singer(id: "s\(id)", name: "name \(id)")))
      }
      try context.save()
      let query = try view.query(
        FetchDescriptor<Song>(predicate: #Predicate { $0.author.name == "name 1" }, sortBy: [SortDescriptor(\.title)]))
      #expect(query.value.map(\.id) == [1])
      try context.update(Singer.self, id: "s0") { $0.name = "name 1" }
      try context.save()
      coordinator.settle()
      #expect(query.value.map(\.id) == [0, 1])
    }
  }

  @Test("A query with a limit that is sorted by a text reads what it shows, and a live one what a change concerns")
  func limits() throws {
    let model = try Model("Reviews", entities: [Review.self])
    let (rows, coordinator) = (CountingStore(), PersistentStoreCoordinator(model: model))
    try coordinator.attach(rows, configuration: "")
    let view = ViewContext(parent: coordinator, delivery: .immediate) { error in Issue.record(error) }
    let context = coordinator.newContext()
    for id in 0..<2000 { context.insert(Review(id: id, text: "\(id * 7 % 2000 + 1000) \u{E9}")) }
    try context.save()
    coordinator.settle()
    func reads(_ body: () throws -> Void) rethrows -> Int {
      let before = rows.reads.withLock { $0 }
      try body()
      return rows.reads.withLock { $0 } - before
    }
    let first = FetchDescriptor<Review>(
      predicate: #Predicate { $0.text.contains("e\u{301}") }, sortBy: [SortDescriptor(\.text)], fetchLimit: 10)
    var found: [Review] = []
    let read = try reads { found = try context.fetch(first) }
    #expect(found.count == 10 && read == 10)
    let query = try view.query(first)
    #expect(query.value.map(\.text) == (0..<10).map { "\(1000 + $0) \u{E9}" })
    let id = try #require(query.value.dropFirst(5).first?.id)
    let changed = try reads {
      try context.update(Review.self, id: id) { $0.text = "0 e\u{301}" }
      try context.save()
      coordinator.settle()
    }
    #expect(query.value.first?.id == id && query.value.count == 10)
    #expect(changed <= 6)
  }

  #if Persistence
    private func withStore(_ texts: [String], _ body: (SQLiteStore, PersistentStoreCoordinator, URL) throws -> Void)
      throws
    {
      try withFolder { folder in
        let (model, url) = (try model(), folder.appending(path: "a.sqlite"))
        let store = try SQLiteStore(url: url, entities: model.entities)
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.attach(store, configuration: "")
        let context = coordinator.newContext()
        for song in songs(texts) { context.insert(song) }
        try context.save()
        try body(store, coordinator, url)
        try store.close()
      }
    }

    @Test("An index is searched for equality, order, ranges and beginnings, whatever the texts are")
    func indexes() throws {
      let plain = (0..<200).map { "title \($0) \u{E9} \u{4E2D} \u{1F468}" }
      for texts in [plain, plain + ["e\u{301}", "\u{212A}", "title\0", "title 1e\u{301}"]] {
        let hasOthers = texts.count > plain.count
        try withStore(texts) { store, coordinator, _ in
          let context = coordinator.newContext()
          let (accented, part) = ("\u{E9}", "title 1")
          // Apple's Foundation has another comparator by default.
          let lexical = SortDescriptor(\Song.title, comparator: .lexical)
          let cases: [(Predicate<Song>?, [SortDescriptor<Song>], String)] = [
            (#Predicate { $0.title == accented }, [], "(title=?)"),
            (#Predicate { $0.title == "title 7" || $0.title == accented }, [], "(title=?)"),
            (#Predicate { $0.title.starts(with: part) }, [], "(title>? AND title<?)"),
            (#Predicate { $0.title.starts(with: part) }, [lexical], "(title>? AND title<?)"),
            (
              #Predicate { $0.title >= part && $0.title < accented }, [lexical], "(title>? AND title<?)"
            ),
            (#Predicate { $0.title > part }, [lexical], "(title>?)"),
            (nil, [lexical], "SCAN Song USING INDEX Song.title"),
            (nil, [SortDescriptor(\.title, comparator: .lexical, order: .reverse)], "SCAN Song USING INDEX Song.title"),
            (
              nil, [SortDescriptor(\.subtitle, comparator: .lexical), SortDescriptor(\.id)],
              "SCAN Song USING INDEX Song.subtitle"
            ),
          ]
          for (predicate, order, expected) in cases {
            let explanation = try context.explain(FetchDescriptor(predicate: predicate, sortBy: order, fetchLimit: 5))
            let found = explanation.steps.filter { !$0.hasPrefix("SELECT") }
            #expect(found.contains { $0.contains(expected) }, "\(explanation)")
            // Those that are not plain are found by an index of their own, and only they are sorted.
            #expect(!found.contains { $0 == "SCAN Song" }, "\(explanation)")
            let isTitle = !(order.first?.keyPath == \Song.subtitle)
            #expect(found.contains { $0.contains("Song.title.nonplain") } == (hasOthers && isTitle), "\(explanation)")
            #expect(
              hasOthers || order.isEmpty || !found.contains { $0.contains("TEMP B-TREE FOR ORDER") }, "\(explanation)")
          }
        }
      }
    }

    @Test("Every program with SQLite opens, reads and writes a file with indexed texts")
    func otherPrograms() throws {
      try withStore(["b", "a", "e\u{301}"]) { store, coordinator, url in
        // A connection without the functions, as another program has it.
        let queue = try DatabaseQueue(path: url.path)
        try queue.write { db in
          #expect(try String.fetchAll(db, sql: "SELECT title FROM Song ORDER BY title").count == 3)
          try db.execute(
            sql: """
              CREATE TEMP TABLE copy AS SELECT * FROM Song WHERE id = 0;
              UPDATE copy SET id = 7, title = 'o' || char(776);
              INSERT INTO Song SELECT * FROM copy;
              DROP TABLE copy
              """)
          try db.execute(sql: "UPDATE Song SET title = 'c' WHERE id = 0")
          #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
          try db.execute(sql: "REINDEX")
          let schema = try String.fetchAll(db, sql: "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
          #expect(!schema.contains { $0.contains("concord_") && !$0.contains("TABLE concord_") })
        }
        try queue.inDatabase { try $0.execute(sql: "VACUUM INTO ?", arguments: [url.path + ".copy"]) }
        try queue.close()
        let composed = "\u{F6}"
        let context = coordinator.newContext()
        let found = try context.fetch(FetchDescriptor<Song>(predicate: #Predicate { $0.title == composed }))
        #expect(found.map(\.id) == [7])
        let all = try context.fetch(FetchDescriptor<Song>(sortBy: [SortDescriptor(\.title, comparator: .lexical)]))
        #expect(all.map(\.title) == ["a", "c", "e\u{301}", "o\u{308}"])
      }
    }

    @Test("A file without the index of texts is given it, and is right without it")
    func missingIndex() throws {
      try withStore(["b", "a", "e\u{301}"]) { store, coordinator, url in
        try store.pool.write { try $0.execute(sql: "DROP INDEX \"Song.title.nonplain\"") }
        let context = coordinator.newContext()
        let descriptor = FetchDescriptor<Song>(sortBy: [SortDescriptor(\.title, comparator: .lexical)], fetchLimit: 3)
        #expect(try context.fetch(descriptor).map(\.title) == ["a", "b", "e\u{301}"])
        try SQLiteStore(url: url, entities: try model().entities).close()
        #expect(try context.explain(descriptor).steps.contains { $0.contains("Song.title.nonplain") })
      }
    }
  #endif
}
