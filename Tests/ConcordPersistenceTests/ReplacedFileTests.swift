#if Persistence
  import Concord
  import Foundation
  import GRDB
  import Testing

  @testable import ConcordPersistence

  @Suite("Files that are replaced while they are open")
  struct ReplacedFileTests {
    private typealias Container = GenericPersistentContainer<ContextStrategy.Direct>

    /// Makes a file in a folder with one review, and detaches it.
    private func make(_ text: String, in folder: URL) throws {
      let container = Container(name: "Library", model: try libraryModel())
      let store = try container.attachPersistentStore(at: folder)
      let context = container.newBackgroundContext()
      context.insert(Review(id: 1, text: text))
      try context.save()
      try container.detach(persistentStore: store)
    }

    private enum Change: CaseIterable { case replaced, removed, emptied }

    private func apply(_ change: Change, _ url: URL) throws {
      let manager = FileManager.default
      switch change {
      case .replaced:
        for suffix in ["-wal", "-shm"] { try? manager.removeItem(atPath: url.path + suffix) }
        let other = url.deletingLastPathComponent().appending(path: "other")
        try make("second", in: other)
        #expect(rename(other.appending(path: "Library.sqlite").path, url.path) == 0)
      case .removed: for suffix in ["", "-wal", "-shm"] { try? manager.removeItem(atPath: url.path + suffix) }
      case .emptied:
        #expect(truncate(url.path, 0) == 0)
        // A connection that is opened at this moment removes the log of an empty file.
        #expect(truncate(url.path + "-wal", 0) == 0 || errno == ENOENT)
      }
    }

    @Test("Reads and saves say so, many at once too, and nobody sees another file")
    func readsAndSaves() throws {
      for change in Change.allCases {
        try withFolder { folder in
          let url = folder.appending(path: "Library.sqlite")
          try make("first", in: folder)
          let container = Container(name: "Library", model: try libraryModel())
          let store = try container.attachPersistentStore(at: folder)
          #expect(try container.stored(Review.self, id: 1)?.text == "first")
          let message = "the file of the store 'Library.sqlite' was removed or replaced while it was open"
          let seen = Locked<[String: Int]>([:])
          let isChanged = Locked(false)
          DispatchQueue.concurrentPerform(iterations: 60) { number in
            if number == 20 {
              try? apply(change, url)
              isChanged.withLock { $0 = true }
            }
            let mustFail = isChanged.withLock { $0 }
            do {
              let text = try container.stored(Review.self, id: 1)?.text ?? "nothing"
              seen.withLock { $0[mustFail ? "\(text), too late" : text, default: 0] += 1 }
            } catch { seen.withLock { $0["\(error)", default: 0] += 1 } }
          }
          let all = seen.withLock { $0 }
          #expect(Set(all.keys).isSubset(of: ["first", message]) && all[message] != nil, "\(change): \(all)")
          let context = container.newBackgroundContext()
          context.insert(Review(id: 2, text: "late"))
          #expect(reason { try context.save() } == message, "\(change)")
          #expect(context.hasChanges)
          #expect(reason { _ = try container.stored(Review.self, id: 1) } == message, "\(change)")
          try? container.detach(persistentStore: store)
        }
      }
    }

    @Test("A save under an indirect strategy says so, and its changes stay with the view")
    func indirectSaves() throws {
      for change in Change.allCases {
        try keepsChanges(ContextStrategy.IndirectNested.self, change)
        try keepsChanges(ContextStrategy.Mixed.self, change)
      }
    }

    private func keepsChanges<S: ContextStrategyType>(_: S.Type, _ change: Change) throws {
      try withFolder { folder in
        try make("first", in: folder)
        let container = GenericPersistentContainer<S>(name: "Library", model: try libraryModel())
        let store = try container.attachPersistentStore(at: folder)
        let view = container.viewContext
        try apply(change, folder.appending(path: "Library.sqlite"))
        view.insert(Review(id: 2, text: "late"))
        let message = "the file of the store 'Library.sqlite' was removed or replaced while it was open"
        for _ in 0..<2 {
          #expect(reason { try view.save() } == message, "\(S.self), \(change)")
          #expect(view.hasChanges)
        }
        try? container.detach(persistentStore: store)
      }
    }

    @Test("The view is told, and shows nothing of the other file")
    func feed() async throws {
      for change in Change.allCases {
        let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try make("first", in: folder)
        let errors = Locked<[String]>([])
        let container = Container(name: "Library", model: try libraryModel()) { error in
          errors.withLock { $0.append("\(error)") }
        }
        let store = try container.attachPersistentStore(at: folder)
        let list = try container.viewContext.query(FetchDescriptor<Review>())
        #expect(list.value.map(\.text) == ["first"])
        try apply(change, folder.appending(path: "Library.sqlite"))
        #expect(
          try await eventually {
            errors.withLock { $0.contains { $0.contains("was removed or replaced while it was open") } }
          }, "\(change): \(errors.withLock { $0 })")
        #expect(!list.value.contains { $0.text == "second" })
        try? container.detach(persistentStore: store)
      }
    }

    @Test("The feed of changes tells nothing of the other file, and says so")
    func changes() throws {
      for change in Change.allCases {
        try withFolder { folder in
          let url = folder.appending(path: "Library.sqlite")
          try make("first", in: folder)
          let store = try SQLiteStore(url: url, entities: libraryModel().entities)
          defer { try? store.close() }
          try store.startFeed()
          let position = try store.read { try $0.position() }
          try apply(change, url)
          for error in [
            reason { _ = try store.read { try $0.changes(since: position) } },
            reason { _ = try store.read { try $0.position() } }, reason { try store.startFeed() },
          ] {
            #expect(error?.contains("was removed or replaced while it was open") == true, "\(change): \(error ?? "")")
          }
        }
      }
    }
  }
#endif
