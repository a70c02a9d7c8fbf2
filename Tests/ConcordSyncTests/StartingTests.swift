#if Server && PostgreSQL
  import ConcordServer
  import Foundation
  import Testing

  @testable import ConcordPostgreSQL
  @testable import ConcordSync

  /// A server whose database cannot be read when it begins to serve.
  @Suite(.enabled(if: Kind.database != nil), .timeLimit(.minutes(2)))
  struct StartingTests {
    private func withService(
      _ body: (SyncService<User>, _ schema: String, PostgreSQLConnection) async throws -> Void
    ) async throws {
      let (container, schema) = (ServerContainer(name: "Shop", model: try shopModel()), Kind.newSchema())
      try Kind.postgreSQL.attach(to: container, in: FileManager.default.temporaryDirectory, schema: schema)
      let connection = try PostgreSQLConnection(
        PostgreSQLOptions(connection: try #require(Kind.database), schema: schema))
      try await body(shopService(container), schema, connection)
      for store in container.persistentStoreCoordinator.persistentStores {
        try container.detach(persistentStore: store)
      }
    }

    private func page(_ service: SyncService<User>) async throws -> Int {
      let request = PageRequest(
        device: "d", position: nil, user: nil, actions: 0, awaited: [],
        subscriptions: [.init(name: "carts", parameters: [:], known: nil)], wait: 0)
      return try await service.transport(as: User(id: 1)).send(
        TransportRequest("POST", "pages", body: Data(request.wire.bytes))
      ).status
    }

    @Test("It goes on, and serves once the database is back")
    func back() async throws {
      try await withService { service, schema, connection in
        try connection.run([.once("ALTER SCHEMA \"\(schema)\" RENAME TO \"\(schema)-away\"")])
        let ended = Kept<String?>(nil)
        let running = Task {
          do { try await service.run() } catch { ended.withLock { $0 = "\(error)" } }
        }
        try await Task.sleep(for: .milliseconds(500))
        #expect(ended.withLock { $0 } == nil)
        #expect(try await page(service) == 503)
        try connection.run([.once("ALTER SCHEMA \"\(schema)-away\" RENAME TO \"\(schema)\"")])
        #expect(try await page(service) == 200)
        running.cancel()
        await running.value
        #expect(ended.withLock { $0 } == nil)
      }
    }

    @Test("What does not pass ends it with an error")
    func refused() async throws {
      let service = shopService(ServerContainer(name: "Shop", model: try shopModel()))
      await #expect(throws: StoreError.self) { try await service.run() }
      try await withService { service, schema, connection in
        // Names that the feed needs are taken by what is none of its.
        try connection.run([.once("CREATE VIEW \"\(schema)\".concord_notes AS SELECT 1 AS x")])
        await #expect(throws: StoreError.self) { try await service.run() }
      }
    }
  }
#endif
