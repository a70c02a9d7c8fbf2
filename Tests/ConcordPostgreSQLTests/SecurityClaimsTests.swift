#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  /// What the article *Security of a fleet* says and no other suite tests.
  @Suite("The article on the security of fleets", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct SecurityClaimsTests {
    @Test(
      "Values are no part of statements: a server that logs all of them logs no value, unless it refuses it")
    func logged() throws {
      let server = try PostgreSQLServer(isFast: true)
      defer { try? server.stop("immediate") }
      try server.sql("ALTER SYSTEM SET log_statement TO 'all'")
      try server.sql("ALTER SYSTEM SET log_parameter_max_length TO 0")
      try server.sql("ALTER SYSTEM SET log_parameter_max_length_on_error TO 0")
      try server.restart()
      let fleet = try Fleet(server)
      let store = try fleet.store()
      defer { try? store.close() }
      let entity = try fleet.model.entity(Entry.self)
      let key = EntityKey(entity, .integer(1))
      try store.write(origin: nil) { writing in
        func row(_ text: String, _ stamp: Stamp) throws -> StoredRow {
          try entity.row(of: Entry(id: 1, text: text), stamp: stamp)
        }
        _ = try writing.insert(row("sekret", 1), for: key)
        try writing.update(
          row("sekret2", 2), replacing: row("sekret", 1), for: key)
        _ = try writing.writeOutbox(
          OutboxRow(key: "k", action: "a", entity: "Entry", id: .text("sekret"), body: "sekret", forwarded: 1))
      }
      #expect(try store.read { try $0.count(RowQuery(entity, where: .isEqual(.position(1), .text("sekret2")))) } == 1)
      try store.write(origin: nil) { try $0.delete(key) }
      let log = try String(contentsOf: server.folder.appending(path: "log"), encoding: .utf8)
      #expect(log.contains("INSERT INTO \"Entry\"") && log.contains("$1"))
      #expect(!log.contains("sekret"), "\(log.split(separator: "\n").filter { $0.contains("sekret") })")
      func refuse(_ key: String) throws {
        try store.write(origin: nil) { writing in
          for _ in 0..<2 {
            _ = try writing.writeOutbox(
              OutboxRow(key: key, action: "a", entity: "Entry", id: .null, body: "", forwarded: 1))
          }
        }
      }
      for (verbosity, key) in [("default", "sekret3"), ("terse", "sekret4")] {
        try server.sql("ALTER SYSTEM SET log_error_verbosity TO '\(verbosity)'")
        try server.restart()
        #expect(throws: StoreError.self) { try refuse(key) }
        let log = try String(contentsOf: server.folder.appending(path: "log"), encoding: .utf8)
        #expect(log.contains(key) == (verbosity == "default"))
      }
    }

    @Test(
      "No other schema's table, function or operator is taken in place of Concord's, whatever the role's own search path is"
    )
    func searchPath() throws {
      let server = try PostgreSQLServer(isFast: true)
      defer { try? server.stop("immediate") }
      let fleet = try Fleet(server)
      try fleet.store().close()
      try server.sql(
        """
        CREATE SCHEMA evil; GRANT ALL ON SCHEMA evil TO shop; \
        CREATE TABLE evil."Progress" (LIKE \(identifier(fleet.schema))."Progress"); GRANT ALL ON evil."Progress" TO shop; \
        CREATE TABLE evil.concord_changes (LIKE \(identifier(fleet.schema)).concord_changes); \
        GRANT ALL ON evil.concord_changes TO shop; \
        CREATE TABLE evil.called (x text); GRANT ALL ON evil.called TO shop; \
        ALTER ROLE shop SET search_path TO evil, pg_catalog
        """)
      for (name, result) in [
        ("pg_current_xact_id()", "xid8"), ("pg_notify(text, text)", "void"), ("current_setting(text, boolean)", "text"),
        ("hashtextextended(text, bigint)", "bigint"),
      ] {
        let answer = result == "void" ? "" : "; SELECT NULL::\(result)"
        try server.sql(
          "CREATE FUNCTION evil.\(name) RETURNS \(result) LANGUAGE sql AS 'INSERT INTO evil.called VALUES (''x'')\(answer)'"
        )
      }
      let store = try fleet.store(pollInterval: 0.05)
      defer { try? store.close() }
      let told = Locked(0)
      let observation = store.observeCommits { _ in told.withLock { $0 += 1 } }
      try store.write(origin: nil) { _ = try $0.insert(fleet.row(1, 5), for: fleet.key(1)) }
      #expect(try store.holdOutbox() != nil)
      #expect(try store.read { try $0.row(of: fleet.key(1)) } == fleet.row(1, 5))
      // A program whose own path is another one: the triggers stay with theirs.
      try server.sql(
        "SET search_path TO evil, pg_catalog; INSERT INTO \(identifier(fleet.schema)).\"Progress\" VALUES (2, 5, 1)",
        role: "shop")
      #expect(eventually { told.withLock { $0 >= 2 } })
      #expect(try server.sql("SELECT count(*) FROM evil.\"Progress\"") == "0")
      #expect(try server.sql("SELECT count(*) FROM evil.concord_changes") == "0")
      #expect(try server.sql("SELECT count(*) FROM evil.called") == "0")
      #expect(try fleet.sql("SELECT count(*) FROM \"Progress\"") == "2")
      withExtendedLifetime(observation) {}
    }

    private static let openSSL = ["/usr/bin/openssl", "/opt/homebrew/bin/openssl"].first {
      FileManager.default.isExecutableFile(atPath: $0)
    }

    @Test(
      "Without sslmode a connection is encrypted if the server can, by whomever; verify-full takes only the server whose certificate is known",
      .enabled(if: openSSL != nil))
    func transport() throws {
      let server = try PostgreSQLServer(isFast: true)
      defer { try? server.stop("immediate") }
      let openSSL = Self.openSSL ?? ""
      for (name, subject) in [("server", "127.0.0.1"), ("stranger", "127.0.0.1")] {
        let process = Process()
        process.executableURL = URL(filePath: openSSL)
        process.currentDirectoryURL = server.folder
        process.arguments = [
          "req", "-new", "-x509", "-days", "2", "-nodes", "-subj", "/CN=\(subject)", "-addext",
          "subjectAltName=IP:\(subject)", "-out", "\(name).crt", "-keyout", "\(name).key",
        ]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
      }
      let key = server.folder.appending(path: "server.key").path
      try server.makeSecret(URL(filePath: key))
      try server.sql("ALTER SYSTEM SET ssl_cert_file TO '\(server.folder.path)/server.crt'")
      try server.sql("ALTER SYSTEM SET ssl_key_file TO '\(key)'")
      try server.sql("ALTER SYSTEM SET ssl TO 'on'")
      try server.restart()
      func isEncrypted(_ parameters: String) throws -> Bool {
        let url = server.url + (parameters.isEmpty ? "" : "?\(parameters)")
        return try PostgreSQLConnection(PostgreSQLOptions(connection: url))
          .query("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").bool(0, 0)
      }
      func certificate(_ name: String) -> String {
        "sslrootcert=\(server.folder.path)/\(name).crt".replacing("/", with: "%2F")
      }
      #expect(try isEncrypted(""))
      #expect(try isEncrypted("sslmode=disable") == false)
      #expect(try isEncrypted("sslmode=verify-full&\(certificate("server"))"))
      #expect(throws: PostgreSQLFailure.self) { try isEncrypted("sslmode=verify-full&\(certificate("stranger"))") }
    }
  }
#endif
