#if PostgreSQL
  import ConcordTestShared
  import Foundation

  /// A server that logs each statement.
  struct LoggingServer {
    let server: PostgreSQLServer
    let fleet: Fleet

    init() throws {
      server = try PostgreSQLServer(isFast: true)
      try server.sql("ALTER SYSTEM SET log_line_prefix TO '%a: '")
      try server.sql("ALTER SYSTEM SET log_statement TO 'all'")
      try server.sql("SELECT pg_reload_conf()")
      fleet = try Fleet(server)
    }

    /// The lines of the log with statements of stores.
    func statements() throws -> [Substring] {
      try String(contentsOf: server.folder.appending(path: "log"), encoding: .utf8).split(separator: "\n")
        .filter { $0.hasPrefix("concord: LOG:  ") }
    }
  }
#endif
