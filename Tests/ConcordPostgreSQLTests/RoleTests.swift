#if PostgreSQL
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  @Suite("Roles of a PostgreSQL store", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct RoleTests {
    @Test(
      "A role that may not make tables is told the SQL for an administrator, and needs no more rights than that gives")
    func leastRights() throws {
      let server = try PostgreSQLServer.shared.get()
      let fleet = try Fleet()
      let role = "till-\(UUID().uuidString.prefix(8))"
      try server.sql("CREATE ROLE \(identifier(role)) LOGIN PASSWORD '\(PostgreSQLServer.password)' NOSUPERUSER")
      try server.sql("REVOKE CREATE ON DATABASE shop FROM PUBLIC")
      func open() throws -> PostgreSQLStore {
        try fleet.store(url: server.url(ports: [server.port], role: role), pollInterval: 0.05, retention: 0.5)
      }
      do {
        _ = try open()
        Issue.record("it is open")
      } catch let error as PostgreSQLRightsError {
        let text = error.sql
        #expect(text.contains("CREATE TABLE \"Progress\"") && text.contains(fleet.schema), "\(text)")
      }
      try server.sql(PostgreSQLStore.sql(for: fleet.model, schema: fleet.schema, role: role))
      let store = try open()
      defer { try? store.close() }
      let told = Locked(0)
      let observation = store.observeCommits { _ in told.withLock { $0 += 1 } }
      try store.write(origin: nil) { writing in
        _ = try writing.insert(fleet.row(1, 0), for: fleet.key(1))
        try writing.update(fleet.row(1, 1, stamp: 2), replacing: fleet.row(1, 0), for: fleet.key(1))
        _ = try writing.writeOutbox(
          OutboxRow(key: "k", action: "a", entity: "Progress", id: .integer(1), body: "", forwarded: 0))
      }
      #expect(try store.read { try $0.row(of: fleet.key(1)) } == fleet.row(1, 1, stamp: 2))
      try fleet.sql("INSERT INTO \"Progress\" VALUES (2, 0, 1)")
      #expect(eventually { told.withLock { $0 } >= 2 })
      try store.write(origin: nil) { try $0.delete(fleet.key(1)) }
      // It trims the feed, too.
      #expect(try eventually { try fleet.sql("SELECT count(*) FROM concord_changes") == "0" })
      // It may do nothing else: neither change tables nor forge what has changed.
      let connection = try PostgreSQLConnection(
        PostgreSQLOptions(connection: server.url(ports: [server.port], role: role), schema: fleet.schema))
      for statement in [
        "DROP TABLE \"Progress\"", "ALTER TABLE \"Progress\" ADD COLUMN x int", "TRUNCATE \"Progress\"",
        "CREATE TABLE more (x int)", "INSERT INTO concord_changes VALUES ('1', now(), 'Progress', '{1}')",
        "INSERT INTO concord_schema (\"table\", shape) VALUES ('a', 'b')",
      ] {
        #expect(
          performing: { try connection.run([.once(statement)]) },
          throws: { ($0 as? PostgreSQLFailure)?.code == "42501" })
      }
      withExtendedLifetime(observation) {}
    }
  }
#endif
