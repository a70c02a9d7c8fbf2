#if Server
  import Concord
  import ConcordServer
  import Foundation
  import Testing

  /// What stores keep for synchronisation: notes, and a feed of changes.
  @Suite struct StoreFeedTests {
    private func withStore(_ kind: Kind, _ body: (any RowStore, Model, URL) throws -> Void) throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "concord-feed-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let model = try shopModel()
      let file = folder.appending(path: "Shop.sqlite")
      if kind == .postgreSQL {
        let container = ServerContainer(name: "Shop", model: model)
        try kind.attach(to: container, in: folder)
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        try body(store.rows, model, file)
        return try store.rows.close()
      }
      let store: any RowStore =
        kind == .memory ? MemoryStore(name: "memory") : try SQLiteStore(url: file, entities: model.entities)
      try body(store, model, file)
      try store.close()
    }

    private func key(_ model: Model, _ name: String, _ id: StoredValue) throws -> EntityKey {
      EntityKey(try #require(model.entity(named: name)), id)
    }

    private func book(_ id: Int64, _ title: String) -> StoredRow {
      StoredRow(values: [.integer(id), .text(title), .integer(1)], collections: [], stamp: 1)
    }

    @Test("Notes are written with rows, or not at all, and read in order", arguments: Kind.allCases)
    func notes(_ kind: Kind) throws {
      try withStore(kind) { store, model, _ in
        #expect(try store.read { try $0.note(NoteName("a", "x")) } == nil)
        try store.write(origin: nil) { writing in
          for name in ["b", "a", "é", "Z"] { try writing.setNote("1\(name)", for: NoteName("a", name)) }
          try writing.setNote("other", for: NoteName("b", "a"))
        }
        struct Stop: Error {}
        #expect(throws: Stop.self) {
          try store.write(origin: nil) { writing in
            try writing.setNote("2", for: NoteName("a", "a"))
            try writing.setNote(nil, for: NoteName("a", "b"))
            try writing.clearNotes(in: "b")
            throw Stop()
          }
        }
        func names(after name: String?) throws -> [String] {
          try store.read { reading in
            var found: [String] = []
            try reading.notes(in: "a", after: name) { name, value in
              #expect(value == "1\(name)")
              found.append(name)
              return true
            }
            return found
          }
        }
        #expect(try names(after: nil) == ["Z", "a", "b", "é"])
        #expect(try names(after: "a") == ["b", "é"])
        try store.write(origin: nil) { try $0.clearNotes(in: "a") }
        #expect(try names(after: nil) == [])
        #expect(try store.read { try $0.note(NoteName("b", "a")) } == "other")
      }
    }

    @Test(
      "The feed tells each changed row once, as it was at the position, and what its lists have got",
      arguments: Kind.allCases)
    func changes(_ kind: Kind) throws {
      try withStore(kind) { store, model, _ in
        #expect(throws: StoreError.self) { try store.read { try $0.position() } }
        try store.startFeed()
        let (one, two) = (try key(model, "Book", .integer(1)), try key(model, "Book", .integer(2)))
        try store.write(origin: nil) { writing in
          _ = try writing.insert(book(1, "it's \u{0} é"), for: one)
          _ = try writing.insert(book(2, "two"), for: two)
        }
        let position = try store.read { try $0.position() }
        #expect(try store.read { try $0.changes(since: position) }?.rows.isEmpty == true)
        struct Stop: Error {}
        #expect(throws: Stop.self) {
          try store.write(origin: nil) { writing in
            try writing.delete(two)
            throw Stop()
          }
        }
        let (cart, line) = (try key(model, "Cart", .integer(1)), try key(model, "Line", .text("l")))
        let another = try key(model, "Line", .text("m"))
        func row(_ lines: [String], _ weight: Double) -> StoredRow {
          StoredRow(
            values: [.integer(1), .integer(1), .text(""), .real(weight), .integer(Int64(lines.count))],
            collections: [StoredElements(lines.map { [.text($0)] })], stamp: 1)
        }
        try store.write(origin: nil) { writing in
          try writing.update(book(1, "new"), replacing: book(1, "it's \u{0} é"), for: one)
          _ = try writing.insert(
            StoredRow(values: [.text("l"), .text(""), .null], collections: [], stamp: 1), for: line)
          _ = try writing.insert(
            StoredRow(values: [.text("m"), .text(""), .null], collections: [], stamp: 1), for: another)
          _ = try writing.insert(row(["l"], 0.1), for: cart)
        }
        let middle = try store.read { try $0.position() }
        try store.write(origin: nil) { writing in
          try writing.update(row(["l", "m"], 0.25), replacing: row(["l"], 0.1), for: cart)
          try writing.delete(one)
        }
        let all = try #require(try store.read { try $0.changes(since: position) })
        #expect(Set(all.rows.map(\.key)) == [one, line, another, cart] && all.rows.count == 4)
        let changed = Dictionary(uniqueKeysWithValues: all.rows.map { ($0.key, $0) })
        #expect(changed[one]?.before == [.integer(1), .text("it's \u{0} é"), .integer(1)])
        #expect(changed[cart]?.before == nil && changed[cart]?.added == [line, another])
        let late = try #require(try store.read { try $0.changes(since: middle) })
        let later = Dictionary(uniqueKeysWithValues: late.rows.map { ($0.key, $0) })
        #expect(Set(later.keys) == [one, cart])
        #expect(later[cart]?.before == row(["l"], 0.1).values && later[cart]?.added == [another])
        // Positions of another feed, or ahead of this one.
        for text in ["1.1", "\(position.rawValue)99", "", "x.y.z", "\(position.rawValue.split(separator: ".")[0]).-1"] {
          #expect(try store.read { try $0.changes(since: StorePosition(rawValue: text)) == nil })
        }
      }
    }

    @Test(
      "The feed tells the changes of some entities, and nothing if they or those of others are too many, but for the rows that are asked about",
      arguments: Kind.allCases)
    func limits(_ kind: Kind) throws {
      try withStore(kind) { store, model, _ in
        try store.startFeed()
        let (books, labels) = (try #require(model.entity(named: "Book")), try #require(model.entity(named: "Label")))
        let begin = try store.read { try $0.position() }
        try store.write(origin: nil) { writing in
          for id in 1...200 {
            _ = try writing.insert(book(Int64(id), "A"), for: EntityKey(books, .integer(Int64(id))))
          }
          _ = try writing.insert(
            StoredRow(values: [.integer(1), .integer(1), .text("x")], collections: [], stamp: 1),
            for: EntityKey(labels, .integer(1)))
        }
        let label = EntityKey(labels, .integer(1))
        func changes(_ entities: Set<EntityDescription>?, _ limit: Int) throws -> RowChanges? {
          try store.read { try $0.changes(since: begin, of: entities, limit: limit) }
        }
        // Those of others are looked through, up to ten times as many.
        let few = try #require(try changes([labels], 21))
        #expect(few.rows.map(\.key) == [label])
        #expect(try changes([labels], 20) == nil && changes([], 0) == nil)
        let exact = try #require(try changes(nil, 201))
        #expect(exact.rows.count == 201)
        #expect(try changes(nil, 200) == nil && changes([books], 199) == nil && changes([books], 0) == nil)
        let end = try store.read { try $0.position() }
        let keys = [label, EntityKey(books, .integer(7)), EntityKey(books, .integer(201))]
        func changed(_ keys: [EntityKey], _ position: StorePosition) throws -> Set<EntityKey>? {
          try store.read { try $0.changed(keys, since: position) }
        }
        #expect(try changed(keys, begin) == Set(keys.prefix(2)) && changed(keys, end) == [] && changed([], begin) == [])
        #expect(try changed(keys, StorePosition(rawValue: "\(end.rawValue)99")) == nil)
        #expect(try changed([], StorePosition(rawValue: "1.1")) == nil)
      }
    }

    @Test(
      "The feed tells of each row whether it has changed, also of one that is gone, or whose list has changed",
      arguments: Kind.allCases)
    func changedRows(_ kind: Kind) throws {
      try withStore(kind) { store, model, _ in
        try store.startFeed()
        let (gone, kept) = (try key(model, "Book", .integer(1)), try key(model, "Book", .integer(2)))
        let cart = try key(model, "Cart", .integer(1))
        let lines = try ["it's \u{0} é", "b", "c"].map { try key(model, "Line", .text($0)) }
        func row(_ lines: [EntityKey]) -> StoredRow {
          StoredRow(
            values: [.integer(1), .integer(1), .text(""), .real(0.1), .integer(Int64(lines.count))],
            collections: [StoredElements(lines.map { [$0.id] })], stamp: 1)
        }
        func line(_ key: EntityKey, _ text: String) -> StoredRow {
          StoredRow(values: [key.id, .text(text), .null], collections: [], stamp: 1)
        }
        try store.write(origin: nil) { writing in
          _ = try writing.insert(book(1, "one"), for: gone)
          _ = try writing.insert(book(2, "two"), for: kept)
          for key in lines { _ = try writing.insert(line(key, ""), for: key) }
          _ = try writing.insert(row([lines[0]]), for: cart)
        }
        let all = [gone, kept, cart] + lines
        let begin = try store.read { try $0.position() }
        #expect(try store.read { try $0.changed(all, since: begin) } == [])
        try store.write(origin: nil) { writing in
          try writing.delete(gone)
          try writing.update(line(lines[0], "new"), replacing: line(lines[0], ""), for: lines[0])
        }
        let middle = try store.read { try $0.position() }
        try store.write(origin: nil) {
          try $0.update(row([lines[0], lines[1]]), replacing: row([lines[0]]), for: cart)
        }
        #expect(try store.read { try $0.changed(all, since: begin) } == [gone, lines[0], cart])
        #expect(try store.read { try $0.changed(all, since: middle) } == [cart])
      }
    }

    @Test("The feed of a file goes on when it is opened again, and tells what others have written")
    func otherWriters() throws {
      try withStore(.sqlite) { store, model, file in
        try store.startFeed()
        let position = try store.read { try $0.position() }
        let other = try SQLiteStore(url: file, entities: model.entities)
        let one = try key(model, "Book", .integer(1))
        try other.write(origin: nil) { _ = try $0.insert(book(1, "one"), for: one) }
        #expect(try store.read { try $0.changes(since: position) }?.rows.map(\.key) == [one])
        try other.startFeed()
        #expect(try other.read { try $0.changes(since: position) }?.rows.map(\.key) == [one])
        try other.close()
      }
    }

    @Test("A program with an older model goes on beside one with a newer one, and neither misses a change")
    func models() throws {
      try withStore(.sqlite) { store, model, file in
        try store.startFeed()
        let position = try store.read { try $0.position() }
        // It knows neither carts nor lines.
        let old = try SQLiteStore(url: file, entities: [#require(model.entity(named: "Book"))])
        try old.startFeed()
        try execute("INSERT INTO Label (owner, name, _stamp) VALUES (1, 'x', 1)", in: file)
        let label = try key(model, "Label", .integer(1))
        #expect(try store.read { try $0.changes(since: position) }?.rows.map(\.key) == [label])
        try old.close()
      }
    }

    @Test("A migration of a file takes the feed along: positions of before are void, and what comes then is told")
    func migration() throws {
      try withStore(.sqlite) { store, model, file in
        try store.startFeed()
        let one = try key(model, "Book", .integer(1))
        try store.write(origin: nil) { _ = try $0.insert(book(1, "one"), for: one) }
        let earlier = try store.read { try $0.position() }
        try store.close()
        // Another column: the table is copied. It does not begin the feed itself.
        let newer = try SQLiteStore(url: file, entities: try Model("Shop", entities: [ThickBook.self]).entities)
        try execute("UPDATE Book SET title = 'new' WHERE id = 1", in: file)
        #expect(try newer.read { try $0.changes(since: earlier) } == nil)
        try newer.startFeed()
        let now = try newer.read { try $0.position() }
        try execute("UPDATE Book SET stock = 7 WHERE id = 1", in: file)
        let change = try #require(try newer.read { try $0.changes(since: now) }?.rows.first)
        #expect(change.key.id == .integer(1))
        #expect(change.before == [.integer(1), .text("new"), .integer(1), .integer(0)])
        try newer.close()
      }
    }

    @Test("A column that the feed notes cannot be dropped, and SQLite says why")
    func droppedColumns() throws {
      try withStore(.sqlite) { store, model, file in
        try store.startFeed()
        #expect {
          try execute("ALTER TABLE Book DROP COLUMN title", in: file)
        } throws: {
          "\($0)".contains("concord_feed.Book")
        }
      }
    }

    @Test("Old changes are forgotten some at a time, and positions before them", arguments: [Kind.memory, .sqlite])
    func forgetting(_ kind: Kind) throws {
      try withStore(kind) { store, model, _ in
        try store.startFeed(FeedLimits(changes: 20, rows: 10))
        let begin = try store.read { try $0.position() }
        var positions: [StorePosition] = []
        for number in 0..<3000 {
          let key = try key(model, "Book", .integer(Int64(number % 200)))
          try store.write(origin: nil) { writing in
            if let old = try writing.row(of: key) {
              try writing.update(book(Int64(number % 200), "\(number)"), replacing: old, for: key)
            } else {
              _ = try writing.insert(book(Int64(number % 200), "\(number)"), for: key)
            }
          }
          positions.append(try store.read { try $0.position() })
          while try store.trimFeed() {}
        }
        func count(_ position: StorePosition) throws -> Int? {
          try store.read { try $0.changes(since: position) }?.rows.count
        }
        #expect(try count(begin) == nil && count(positions[100]) == nil)
        #expect(try count(positions[2989]) == 10)
        // In a file it is known for longer which rows have changed than how they were.
        if kind == .sqlite {
          #expect(try count(positions[2975]) == nil)
          let keys = try (0..<200).map { try key(model, "Book", .integer($0)) }
          #expect(try store.read { try $0.changed(keys, since: positions[2975]) } == Set(keys[176...]))
        }
      }
    }

    @Test("Whatever other programs write, the feed tells each change")
    func randomWriters() throws {
      for seed in TestOptions.seeds(TestOptions.isLong ? 60 : 6, from: .random(in: 1...1_000_000)) {
        try withStore(.sqlite) { store, model, file in
          try FeedRun(seed: seed, store: store, model: model, file: file).run()
        }
      }
    }
  }
#endif
