#if Server && PostgreSQL && os(Linux)
  import ConcordServer
  import Foundation
  import Hummingbird
  import Testing

  @testable import ConcordPostgreSQL
  @testable import ConcordSync

  /// A server whose database cannot be read when it begins to serve.
  @Suite(.enabled(if: Kind.database != nil), .timeLimit(.minutes(2)))
  struct StartingTests {
    private func withService(
      _ body: (SyncService<User>, _ schema: String, Gateway, PostgreSQLConnection) async throws -> Void
    ) async throws {
      let (container, schema) = (ServerContainer(name: "Shop", model: try shopModel()), Kind.newSchema())
      let database = try #require(Kind.database)
      var parts = try #require(URLComponents(string: database))
      let gateway = try Gateway(to: try #require(parts.port))
      defer { gateway.close() }
      parts.port = gateway.port
      try container.attachPersistentStore(
        for: StoreConfiguration(
          type: .postgreSQL,
          options: [ConcordPostgreSQLOption: try #require(parts.string), ConcordPostgreSQLSchemaOption: schema]))
      let connection = try PostgreSQLConnection(PostgreSQLOptions(connection: database, schema: schema))
      try await body(shopService(container), schema, gateway, connection)
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

    @Test("It goes on where the database cannot be reached, and serves once that is back")
    func back() async throws {
      try await withService { service, _, gateway, _ in
        gateway.close()
        let ended = Kept<String?>(nil)
        let running = Task {
          do { try await service.run() } catch { ended.withLock { $0 = "\(error)" } }
        }
        #expect(try await page(service) >= 500)
        try await Task.sleep(for: .milliseconds(800))
        #expect(ended.withLock { $0 } == nil)
        #expect(try await page(service) >= 500)
        try gateway.reopen()
        // Connections are made anew after a while.
        var status = 0
        for _ in 0..<500 where status != 200 {
          status = try await page(service)
          if status != 200 { try await Task.sleep(for: .milliseconds(20)) }
        }
        #expect(status == 200)
        running.cancel()
        await running.value
        #expect(ended.withLock { $0 } == nil)
      }
    }

    @Test("While the database cannot be reached it is not ready, and it is again once that is back")
    func ready() async throws {
      try await withService { service, _, gateway, _ in
        let router = Router()
        service.addRoutes(to: router, path: "sync")
        try await withServer(of: service, router) { url, _ in
          let transport = HTTPTransport(baseURL: url, timeout: .seconds(30))
          @Sendable func health() async throws -> (Int, String) {
            let answer = try await transport.send(TransportRequest("GET", "health/ready"))
            return (answer.status, String(decoding: answer.body, as: UTF8.self))
          }
          #expect(try await health() == (200, #"{"state":"ok"}"#))
          gateway.close()
          #expect(try await health() == (503, #"{"error":"the store cannot be read"}"#))
          try gateway.reopen()
          // Connections are made anew after a while.
          var status = 0
          for _ in 0..<500 where status != 200 {
            status = try await health().0
            if status != 200 { try await Task.sleep(for: .milliseconds(20)) }
          }
          #expect(status == 200)
        }
      }
    }

    @Test("What does not pass ends it with an error")
    func refused() async throws {
      let service = shopService(ServerContainer(name: "Shop", model: try shopModel()))
      await #expect(throws: StoreError.self) { try await service.run() }
      try await withService { service, schema, _, connection in
        // Names that the feed needs are taken by what is none of its.
        try connection.run([.once("CREATE VIEW \"\(schema)\".concord_notes AS SELECT 1 AS x")])
        await #expect(throws: StoreError.self) { try await service.run() }
      }
    }

    @Test(
      "So do a right and a table that are missing, whichever entity comes first",
      arguments: [
        "REVOKE ALL ON \"{}\".\"Book\" FROM CURRENT_USER", "REVOKE ALL ON \"{}\".\"Cart\" FROM CURRENT_USER",
        "ALTER TABLE \"{}\".\"Book\" RENAME TO \"Volume\"", "ALTER SCHEMA \"{}\" RENAME TO \"{}-away\"",
      ])
    func missing(_ sql: String) async throws {
      try await withService { service, schema, _, connection in
        try connection.run([.once(sql.replacingOccurrences(of: "{}", with: schema))])
        let running = Task { try await service.run() }
        // It would serve until then.
        let end = Task {
          try? await Task.sleep(for: .seconds(20))
          running.cancel()
        }
        await #expect(throws: (any Error).self) { try await running.value }
        end.cancel()
      }
    }
  }
#endif
