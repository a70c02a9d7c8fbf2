#if Persistence
  import Concord
  import Foundation
  import GRDB
  import Testing

  @testable import ConcordPersistence

  @Suite("SQLite files")
  struct SQLiteFileTests {
    private func open(_ url: URL, _ types: [any PersistentEntity.Type] = [Author.self, Review.self]) throws
      -> SQLiteStore
    {
      try SQLiteStore(url: url, entities: Model("M", entities: types).entities)
    }

    private func save<T: PersistentEntity>(_ value: T, to store: SQLiteStore) throws {
      let coordinator = PersistentStoreCoordinator(model: try libraryModel())
      try coordinator.attach(store, configuration: "")
      let context = coordinator.newContext()
      context.insert(value)
      try context.save()
    }

    @Test("A person who opens the file understands it: a table for each type, a column for each property")
    func schema() throws {
      try withFolder { folder in
        let store = try open(folder.appending(path: "a.sqlite"), libraryModel().entities.map(\.type))
        let tables = try store.pool.read { db in
          try String.fetchAll(
            db, sql: "SELECT sql FROM sqlite_master WHERE type = 'table' AND name LIKE 'Book%' ORDER BY name")
        }
        #expect(
          tables.joined(separator: "\n") == """
            CREATE TABLE "Book" (
              "id" TEXT NOT NULL PRIMARY KEY,
              "title" TEXT NOT NULL,
              "isbn" TEXT,
              "author" TEXT NOT NULL,
              "editor" TEXT,
              "reviews" INTEGER NOT NULL,
              "excerpts" INTEGER,
              "tags" INTEGER NOT NULL,
              "byLanguage" INTEGER NOT NULL,
              "byNumber" INTEGER,
              "medium" TEXT NOT NULL,
              "medium_author" TEXT,
              "medium_required" INTEGER,
              "medium_note" TEXT,
              "cover" TEXT,
              "cover_author" TEXT,
              "cover_required" INTEGER,
              "cover_note" TEXT,
              "extras" INTEGER NOT NULL,
              "_id" TEXT,
              "_stamp" REAL NOT NULL
            )
            CREATE TABLE "Book_byLanguage" (
              "_owner" TEXT NOT NULL,
              "_position" INTEGER NOT NULL,
              "_key" TEXT NOT NULL,
              "byLanguage" INTEGER NOT NULL,
              PRIMARY KEY ("_owner", "_position")
            ) WITHOUT ROWID
            CREATE TABLE "Book_byNumber" (
              "_owner" TEXT NOT NULL,
              "_position" INTEGER NOT NULL,
              "_key" INTEGER NOT NULL,
              "byNumber" TEXT NOT NULL,
              PRIMARY KEY ("_owner", "_position")
            ) WITHOUT ROWID
            CREATE TABLE "Book_excerpts" (
              "_owner" TEXT NOT NULL,
              "_position" INTEGER NOT NULL,
              "excerpts" INTEGER NOT NULL,
              PRIMARY KEY ("_owner", "_position")
            ) WITHOUT ROWID
            CREATE TABLE "Book_extras" (
              "_owner" TEXT NOT NULL,
              "_position" INTEGER NOT NULL,
              "extras" TEXT NOT NULL,
              "extras_author" TEXT,
              "extras_required" INTEGER,
              "extras_note" TEXT,
              PRIMARY KEY ("_owner", "_position")
            ) WITHOUT ROWID
            CREATE TABLE "Book_reviews" (
              "_owner" TEXT NOT NULL,
              "_position" INTEGER NOT NULL,
              "reviews" INTEGER NOT NULL,
              PRIMARY KEY ("_owner", "_position")
            ) WITHOUT ROWID
            CREATE TABLE "Book_tags" (
              "_owner" TEXT NOT NULL,
              "_position" INTEGER NOT NULL,
              "tags" INTEGER NOT NULL,
              PRIMARY KEY ("_owner", "_position")
            ) WITHOUT ROWID
            """)
      }
    }

    @Test("What is saved is there when the file is opened again")
    func reopening() throws {
      try withFolder { folder in
        let url = folder.appending(path: "made/as/needed/a.sqlite")
        var store = try open(url)
        try save(Author(id: "a", name: "A"), to: store)
        try store.close()
        store = try open(url)
        let author = try store.read { try $0.row(of: EntityKey(EntityDescription(Author.self), .text("a"))) }
        #expect(author?.values == [.text("a"), .text("A")])
      }
    }

    @Test("New files are readable by their owner only")
    func permissions() throws {
      try withFolder { folder in
        let store = try open(folder.appending(path: "a.sqlite"))
        try save(Author(id: "a", name: "A"), to: store)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(files.count >= 2)
        for file in files {
          let attributes = try FileManager.default.attributesOfItem(atPath: folder.appending(path: file).path)
          #expect(attributes[.posixPermissions] as? Int == 0o600, "\(file)")
        }
      }
    }

    @Test("A file that is none of SQLite's is a typed error, and stays as it is")
    func noDatabase() throws {
      try withFolder { folder in
        let url = folder.appending(path: "a.sqlite")
        let text = Data(String(repeating: "This is a letter. ", count: 1000).utf8)
        try text.write(to: url)
        let reason = reason { _ = try open(url) }
        #expect(reason?.hasPrefix("the store 'a.sqlite' cannot be read") == true, "\(reason ?? "")")
        #expect(try Data(contentsOf: url) == text)
      }
    }

    @Test("A damaged file is a typed error")
    func damaged() throws {
      try withFolder { folder in
        let url = folder.appending(path: "a.sqlite")
        let store = try open(url)
        for id in 0..<2000 { try save(Review(id: id, text: String(repeating: "text", count: 50)), to: store) }
        try store.close()
        var bytes = try Data(contentsOf: url)
        // The head stays, so that it still looks like a database.
        for index in stride(from: 4096, to: bytes.count, by: 1) { bytes[index] = 0xA5 }
        try bytes.write(to: url)
        let reason = reason {
          let store = try open(url)
          let coordinator = PersistentStoreCoordinator(model: try libraryModel())
          try coordinator.attach(store, configuration: "")
          _ = try coordinator.newContext().fetch(FetchDescriptor<Review>())
        }
        #expect(reason?.hasPrefix("the store 'a.sqlite' cannot be read") == true, "\(reason ?? "")")
      }
    }

    @Test("A file whose tables cannot be made fit is refused, and stays as it is")
    func otherSchema() throws {
      try withFolder { folder in
        let url = folder.appending(path: "a.sqlite")
        let queue = try DatabaseQueue(path: url.path)
        try queue.write {
          try $0.execute(
            sql: """
              CREATE TABLE Author (id TEXT NOT NULL PRIMARY KEY, name INTEGER, born INTEGER, _stamp REAL NOT NULL);
              INSERT INTO Author VALUES ('a', 1, 1, 0);
              CREATE TABLE concord_relations ("table" TEXT NOT NULL, "column" TEXT NOT NULL, target TEXT NOT NULL);
              """)
        }
        try queue.close()
        #expect(
          reason { _ = try open(url) }
            == "the store 'a.sqlite' does not fit the model: Author.name is INTEGER, not TEXT")
        let tables = try DatabaseQueue(path: url.path).read {
          try String.fetchAll($0, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        #expect(tables == ["Author", "concord_relations"])
      }
    }

    @Test("A save onto a full disk changes nothing and can be tried again")
    func fullDisk() throws {
      try withFolder { folder in
        let store = try open(folder.appending(path: "a.sqlite"))
        let coordinator = PersistentStoreCoordinator(model: try libraryModel())
        try coordinator.attach(store, configuration: "")
        let context = coordinator.newContext()
        context.insert(Author(id: "a", name: "A"))
        try context.save()
        let pages = try store.pool.writeWithoutTransaction { db in
          try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
        }
        try store.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA max_page_count = \(pages)") }
        try context.update(Author.self, id: "a") { $0.name = "B" }
        for id in 0..<200 { context.insert(Review(id: id, text: String(repeating: "text", count: 100))) }
        #expect(reason { try context.save() } == "no space is left for the store 'a.sqlite'")
        #expect(try coordinator.newContext().find(Author.self, id: "a")?.name == "A")
        #expect(try coordinator.newContext().count(FetchDescriptor<Review>()) == 0)
        #expect(context.hasChanges)
        try store.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA max_page_count = 1000000") }
        try context.save()
        #expect(try coordinator.newContext().find(Author.self, id: "a")?.name == "B")
        #expect(try coordinator.newContext().count(FetchDescriptor<Review>()) == 200)
      }
    }

    @Test("Many who open a new file at once wait for each other")
    func newAtOnce() throws {
      let entities = try Model("M", entities: [Author.self, Review.self]).entities
      for _ in 0..<20 {
        try withFolder { folder in
          let errors = Locked<[String]>([])
          let stores = Locked<[SQLiteStore]>([])
          DispatchQueue.concurrentPerform(iterations: 8) { _ in
            do {
              let store = try SQLiteStore(url: folder.appending(path: "a.sqlite"), entities: entities)
              stores.withLock { $0.append(store) }
            } catch { errors.withLock { $0.append("\(error)") } }
          }
          for store in stores.withLock({ $0 }) { try store.close() }
          #expect(errors.withLock { $0 } == [])
        }
      }
    }

    @Test("A file that others hold for too long is a typed error, and the save can be tried again")
    func locked() throws {
      try withFolder { folder in
        let url = folder.appending(path: "a.sqlite")
        let store = try SQLiteStore(
          url: url, entities: Model("M", entities: [Author.self, Review.self]).entities, timeout: 0.1)
        let coordinator = PersistentStoreCoordinator(model: try libraryModel())
        try coordinator.attach(store, configuration: "")
        let context = coordinator.newContext()
        context.insert(Author(id: "a", name: "A"))
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: url.path, configuration: configuration)
        try other.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") }
        #expect(reason { try context.save() } == "the store 'a.sqlite' is held by others")
        try other.inDatabase { try $0.execute(sql: "COMMIT") }
        try context.save()
        #expect(try coordinator.newContext().find(Author.self, id: "a") != nil)
      }
    }

    @Test("A file that is removed or replaced is a typed error, and what was not saved can be saved to another")
    func removed() throws {
      for isReplaced in [false, true] {
        try withFolder { folder in
          let url = folder.appending(path: "a.sqlite")
          let coordinator = PersistentStoreCoordinator(model: try libraryModel())
          let store = try SQLiteStore(url: url, entities: coordinator.model.entities)
          try coordinator.attach(store, configuration: "")
          let context = coordinator.newContext()
          context.insert(Author(id: "a", name: "A"))
          try context.save()
          for suffix in ["", "-wal", "-shm"] { try FileManager.default.removeItem(atPath: url.path + suffix) }
          let other = isReplaced ? try SQLiteStore(url: url, entities: coordinator.model.entities) : nil
          context.insert(Author(id: "b", name: "B"))
          #expect(
            reason { try context.save() }
              == "the file of the store 'a.sqlite' was removed or replaced while it was open")
          #expect(context.hasChanges)
          coordinator.detach(store)
          try store.close()
          let new = try other ?? SQLiteStore(url: url, entities: coordinator.model.entities)
          try coordinator.attach(new, configuration: "")
          try context.save()
          #expect(try coordinator.newContext().fetch(FetchDescriptor<Author>()).map(\.id) == ["b"])
          coordinator.detach(new)
          try new.close()
        }
      }
    }

    @Test("A store that was closed says so, and what was under way is whole")
    func closing() throws {
      try withFolder { folder in
        let url = folder.appending(path: "a.sqlite")
        let store = try open(url)
        let coordinator = PersistentStoreCoordinator(model: try libraryModel())
        try coordinator.attach(store, configuration: "")
        let saved = Locked(0)
        let problems = Locked<[String]>([])
        // Two at once run on any machine.
        DispatchQueue.concurrentPerform(iterations: 2) { number in
          if number == 1 {
            Thread.sleep(forTimeInterval: 0.05)
            if let problem = reason({ try store.close() }) { problems.withLock { $0.append(problem) } }
            return
          }
          let context = coordinator.newContext()
          for step in 0..<10_000 {
            context.insert(Review(id: number * 10_000 + step, text: ""))
            if let problem = reason({ try context.save() }) {
              if problem != "the store 'a.sqlite' is not attached any longer" {
                problems.withLock { $0.append(problem) }
              }
              return
            }
            saved.withLock { $0 += 1 }
          }
        }
        #expect(problems.withLock { $0 } == [])
        #expect(
          reason { _ = try coordinator.newContext().find(Review.self, id: 0) }
            == "the store 'a.sqlite' is not attached any longer")
        let again = try open(url)
        #expect(try again.read { try $0.count(RowQuery(EntityDescription(Review.self))) } == saved.withLock { $0 })
      }
    }

    @Test("A store that is closed while many come to it says so to each")
    func closingUnderLoad() throws {
      let model = try libraryModel()
      try withFolder { folder in
        let strange = Locked<[String]>([])
        for turn in 0..<30 {
          let store = try SQLiteStore(url: folder.appending(path: "\(turn % 3).sqlite"), entities: model.entities)
          let description = try model.entity(Review.self)
          let observation = store.observeCommits { _ in }
          let (begun, group) = (DispatchSemaphore(value: 0), DispatchGroup())
          for thread in 0..<8 {
            group.enter()
            Thread.detachNewThread {
              begun.signal()
              do {
                while true {
                  if thread % 4 == 0 {
                    let row = StoredRow(values: [.integer(1), .text("x"), .null], collections: [], stamp: 0)
                    try store.write(origin: nil) { _ = try $0.insert(row, for: EntityKey(description, .integer(1))) }
                  } else {
                    _ = try store.read { try $0.count(RowQuery(description)) }
                  }
                }
              } catch StoreError.detached {
              } catch { strange.withLock { $0.append("\(error)") } }
              group.leave()
            }
          }
          for _ in 0..<8 { begun.wait() }
          Thread.sleep(forTimeInterval: Double(turn % 5) / 1000)
          try store.close()
          group.wait()
          withExtendedLifetime(observation) {}
        }
        #expect(strange.withLock { $0 } == [])
      }
    }

    @Test("Names and values that look like SQL are taken as they are")
    func injection() throws {
      try withFolder { folder in
        let store = try open(folder.appending(path: "a.sqlite"), [Odd.self])
        let coordinator = PersistentStoreCoordinator(model: try Model("M", entities: [Odd.self]))
        try coordinator.attach(store, configuration: "")
        let context = coordinator.newContext()
        let text = "\"; DROP TABLE \"Odd\"\" --\"; '"
        context.insert(Odd(id: text, text: text))
        try context.save()
        #expect(try coordinator.newContext().find(Odd.self, id: text)?.text == text)
        try context.update(Odd.self, id: text) { $0.text += "!" }
        try context.save()
        #expect(try coordinator.newContext().fetch(FetchDescriptor<Odd>()).map(\.text) == [text + "!"])
        try context.delete(Odd.self, id: text)
        try context.save()
        #expect(try coordinator.newContext().count(FetchDescriptor<Odd>()) == 0)
      }
    }

    /// With names that must be quoted.
    struct Odd: PersistentEntity {
      let id: String
      var text: String

      static let entityName = "Odd\" --"
      static let persistentProperties: [PersistentProperty<Odd>] = [
        .init("id", \.id), .init("select \"'; --", \.text, .indexed),
      ]
      init(from row: inout RowReader) throws { self.init(id: try row.read(), text: try row.read()) }
      func write(to row: inout RowWriter) throws {
        try row.write(id)
        try row.write(text)
      }
      init(id: String, text: String) {
        self.id = id
        self.text = text
      }
    }

    @Test("Which forwarded actions are new is found without going through all that are pending")
    func newActions() throws {
      try withFolder { folder in
        let store = try open(folder.appending(path: "a.sqlite"))
        defer { try? store.close() }
        func forward(_ key: String) throws {
          let row = OutboxRow(key: key, action: "raise", entity: "Book", id: .text(""), body: "", forwarded: 0)
          _ = try store.write(origin: nil) { try $0.writeOutbox(row) }
        }
        for number in 0..<100 { try forward("\(number)") }
        let known = try store.read { try $0.outbox(after: nil) }.version
        try forward("new")
        try store.pool.writeWithoutTransaction { db in
          let asked = Locked<[String]>([])
          db.trace { event in
            if case .statement(let statement) = event { asked.withLock { $0.append(statement.expandedSQL) } }
          }
          #expect(try SQLiteSession(db, tables: [:], store: "").outbox(after: known).rows.map(\.key) == ["new"])
          db.trace(options: [])
          let plan = try asked.withLock { $0 }.flatMap { try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \($0)") }
            .compactMap { $0["detail"] as String? }
          #expect(plan.contains { $0.hasPrefix("SEARCH concord_outbox ") })
          #expect(!plan.contains("SCAN concord_outbox"))
        }
      }
    }
  }
#endif
