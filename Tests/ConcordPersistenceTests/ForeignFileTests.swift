#if Persistence
  import Foundation
  import GRDB
  import Testing

  @testable import ConcordPersistence

  @Suite("Files of other programs")
  struct ForeignFileTests {
    private static let coreData = [
      "CREATE TABLE ZREVIEW (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTEXT VARCHAR)",
      "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
      "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
      "INSERT INTO ZREVIEW VALUES (1, 1, 1, 'text')",
    ]
    private static let other = [
      "CREATE TABLE Review (id INTEGER PRIMARY KEY, note TEXT)", "INSERT INTO Review VALUES (1, 'x')",
    ]

    /// What has become of a file, and of those beside it, when it is found.
    private enum State: CaseIterable {
      case rollback, log, inUse, crashed, copied, allInLog, allInLogCopied
    }

    /// Runs the body in a folder with a file in a state.
    private func withFile(_ state: State, _ sql: [String], _ body: (URL) throws -> Void) throws {
      try withFolder { folder in
        let made = folder.appending(path: "made.sqlite")
        let url = folder.appending(path: "found/Library.sqlite")
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        let queue = try DatabaseQueue(path: state == .inUse ? url.path : made.path)
        try queue.writeWithoutTransaction { db in
          if state != .rollback { try db.execute(sql: "PRAGMA journal_mode = WAL") }
          for sql in sql { try db.execute(sql: sql) }
          if state == .inUse || state == .crashed || state == .copied {
            try db.execute(sql: "PRAGMA wal_checkpoint(PASSIVE)")
            try db.execute(sql: "CREATE TABLE Another (id INTEGER PRIMARY KEY)")
          }
        }
        switch state {
        case .rollback, .log:
          try queue.close()
          try FileManager.default.copyItem(at: made, to: url)
        case .inUse: break
        case .crashed, .allInLog, .copied, .allInLogCopied:
          for suffix in state == .copied || state == .allInLogCopied ? ["", "-wal"] : ["", "-wal", "-shm"] {
            try FileManager.default.copyItem(atPath: made.path + suffix, toPath: url.path + suffix)
          }
        }
        try body(url)
        try queue.close()
      }
    }

    /// All files of a folder, to the byte.
    private func content(_ folder: URL) throws -> [String: Data] {
      var content: [String: Data] = [:]
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
        content[name] = try Data(contentsOf: folder.appending(path: name))
      }
      return content
    }

    @Test("One of Core Data's, or of any other program, is refused by its name, and nothing in its folder changes")
    func refused() throws {
      let kinds = [
        (Self.coreData, "a Core Data file"), (Self.other, "an SQLite file of another program, with 'Review'"),
      ]
      for (sql, kind) in kinds {
        for state in State.allCases {
          try withFile(state, sql) { url in
            let folder = url.deletingLastPathComponent()
            // Whoever reads a file that this process has open drops its locks, so only the sizes are looked at there.
            let before = state == .inUse ? [:] : try content(folder)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            for overwrites in [false, true] {
              let container = GenericPersistentContainer<ContextStrategy.Direct>(
                name: "Library", model: try libraryModel())
              let text = reason {
                try container.attachPersistentStore(
                  at: folder, for: StoreConfiguration(overwriteIncompatibleStore: overwrites))
              }
              #expect(
                text?.hasPrefix("the store 'Library.sqlite' is not Concord's: it is \(kind)") == true,
                "\(state): \(text ?? "attached")")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == names, "\(state)")
            if state != .inUse { #expect(try content(folder) == before, "\(state)") }
          }
        }
      }
    }

    @Test("A file of Concord's that is refused stays as it is as well")
    func refusedSchema() throws {
      try withFolder { folder in
        let queue = try DatabaseQueue(path: folder.appending(path: "Library.sqlite").path)
        try queue.write { db in
          try db.execute(
            sql: """
              CREATE TABLE concord_schema (
                number INTEGER PRIMARY KEY, entity TEXT NOT NULL, "table" TEXT NOT NULL, columns TEXT NOT NULL
              );
              CREATE TABLE Review (id TEXT NOT NULL PRIMARY KEY, text BLOB NOT NULL, _stamp REAL NOT NULL);
              INSERT INTO Review VALUES ('one', x'ff', 0);
              """)
        }
        try queue.close()
        let before = try content(folder)
        let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Library", model: try libraryModel())
        let text = reason { try container.attachPersistentStore(at: folder) }
        #expect(text?.hasPrefix("the store 'Library.sqlite' does not fit the model: ") == true, "\(text ?? "attached")")
        #expect(try content(folder) == before)
      }
    }

    @Test("One that has no tables is taken, whoever made it")
    func empty() throws {
      for state in [State.rollback, .log] {
        try withFile(state, ["CREATE TABLE Gone (id)", "DROP TABLE Gone"]) { url in
          let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Library", model: try libraryModel())
          let store = try container.attachPersistentStore(at: url.deletingLastPathComponent())
          let context = container.newBackgroundContext()
          context.insert(Review(id: 1, text: "text"))
          try context.save()
          #expect(try container.stored(Review.self, id: 1)?.text == "text")
          try container.detach(persistentStore: store)
        }
      }
    }

    @Test("A file of Concord's is taken in whatever state a crash or a copy has left it")
    func own() throws {
      try withFolder { folder in
        let model = try libraryModel()
        func save(_ container: GenericPersistentContainer<ContextStrategy.Direct>, _ id: Int) throws {
          let context = container.newBackgroundContext()
          context.insert(Review(id: id, text: "text"))
          try context.save()
        }
        let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Library", model: model)
        try container.attachPersistentStore(at: folder)
        try save(container, 1)
        for (number, suffixes) in [["", "-wal", "-shm"], ["", "-wal"]].enumerated() {
          let copy = folder.appending(path: "\(number)")
          try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
          for suffix in suffixes {
            try FileManager.default.copyItem(
              at: folder.appending(path: "Library.sqlite\(suffix)"), to: copy.appending(path: "Library.sqlite\(suffix)")
            )
          }
          let other = GenericPersistentContainer<ContextStrategy.Direct>(name: "Library", model: model)
          let store = try other.attachPersistentStore(at: copy)
          #expect(try other.stored(Review.self, id: 1)?.text == "text", "\(suffixes)")
          try save(other, 2)
          try other.detach(persistentStore: store)
        }
      }
    }
  }
#endif
