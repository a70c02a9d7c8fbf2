#if Persistence
  import ConcordModel
  import Foundation
  import Testing

  @testable import ConcordPersistence

  @Suite("The time to wait for other processes")
  struct BusyTimeoutTests {
    @Test("It is given in seconds, whole or not; one without a limit is a long one")
    func values() {
      #expect(SQLiteStore.busyTimeout(nil) == 5 && SQLiteStore.busyTimeout("10") == 5)
      #expect(SQLiteStore.busyTimeout(10) == 10 && SQLiteStore.busyTimeout(0.5) == 0.5)
      #expect(SQLiteStore.busyTimeout(-1) == 0 && SQLiteStore.busyTimeout(Double.nan) == 5)
      #expect(SQLiteStore.busyTimeout(Double.infinity) == 2_000_000 && SQLiteStore.busyTimeout(Int.max) == 2_000_000)
    }

    @Test(
      "A file is attached and written with each", arguments: [Double.infinity, 1e300, 3_000_000, 0, -.infinity, .nan])
    func attaching(_ time: Double) throws {
      try withFolder { folder in
        let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Library", model: try libraryModel())
        try container.attachPersistentStore(
          at: folder, for: StoreConfiguration(options: [ConcordBusyTimeoutOption: time]))
        let context = container.newBackgroundContext()
        context.insert(Review(id: 1, text: "a"))
        try context.save()
        #expect(try context.find(Review.self, id: 1)?.text == "a")
        try container.detach(persistentStores: container.persistentStores)
      }
    }
  }
#endif
