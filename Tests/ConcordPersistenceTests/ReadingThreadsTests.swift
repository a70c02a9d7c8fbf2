#if Persistence
  import Concord
  import Foundation
  import Testing

  @testable import ConcordPersistence

  @Suite("Threads that read a file")
  struct ReadingThreadsTests {
    private func withReviews(_ body: (SQLiteStore, Model) throws -> Void) throws {
      let model = try Model("Library", entities: [Review.self])
      try withFolder { folder in
        let store = try SQLiteStore(url: folder.appending(path: "a.sqlite"), entities: model.entities)
        defer { try? store.close() }
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.attach(store, configuration: "")
        let context = coordinator.newContext()
        for id in 0..<10 { context.insert(Review(id: id, text: "0")) }
        try context.save()
        try body(store, model)
      }
    }

    private func texts(_ reading: any RowReading, _ model: Model) throws -> Set<StoredValue> {
      var found: Set<StoredValue> = []
      try reading.rows(RowQuery(model.entity(Review.self))) { _, source in
        found.insert(source.value(at: 1))
        return true
      }
      return found
    }

    @Test("Each reading sees one state, whatever other threads read and write")
    func oneState() throws {
      try withReviews { store, model in
        let group = DispatchGroup()
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.attach(store, configuration: "")
        for _ in 0..<4 {
          DispatchQueue.global().async(group: group) {
            do {
              for _ in 0..<50 {
                try store.read { reading in
                  let first = try texts(reading, model)
                  let again = try texts(reading, model)
                  // A reading within it sees the same state.
                  let within = try store.read { try texts($0, model) }
                  #expect(first.count == 1 && again == first && within == first)
                }
              }
            } catch { Issue.record(error) }
          }
        }
        DispatchQueue.global().async(group: group) {
          do {
            for number in 1..<50 {
              let context = coordinator.newContext()
              for id in 0..<10 { context.insert(Review(id: id, text: "\(number)")) }
              try context.save()
            }
          } catch { Issue.record(error) }
        }
        group.wait()
      }
    }

    @Test("A reading may wait for another thread that reads")
    func waiting() throws {
      try withReviews { store, model in
        try store.read { reading in
          let found = Locked<Set<StoredValue>>([])
          let isDone = DispatchSemaphore(value: 0)
          // A task has the values that are local to the one that made it.
          Task {
            let there = try? store.read { try self.texts($0, model) }
            found.withLock { $0 = there ?? [] }
            isDone.signal()
          }
          #expect(isDone.wait(timeout: .now() + 20) == .success)
          let here = try texts(reading, model)
          #expect(found.withLock { $0 } == here)
        }
      }
    }

    @Test("A reading that throws ends, and the next one reads")
    func throwing() throws {
      struct Stop: Error {}
      try withReviews { store, model in
        for _ in 0..<3 {
          #expect(throws: Stop.self) { try store.read { _ in throw Stop() } }
          let found = try store.read { try texts($0, model) }
          #expect(found == [.text("0")])
        }
      }
    }

    @Test("A closed file is not read")
    func closed() throws {
      try withReviews { store, model in
        try store.close()
        #expect(throws: StoreError.self) { _ = try store.read { try texts($0, model) } }
      }
    }
  }
#endif
