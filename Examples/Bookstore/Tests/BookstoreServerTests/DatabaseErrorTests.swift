#if PostgreSQL
  import ConcordSync
  import Foundation
  import Testing

  @Suite("serve, and a database that cannot be had", .enabled(if: DatabaseProcess.isInstalled))
  struct DatabaseErrorTests {
    @Test(
      "No server, a wrong password, missing rights and no such database are each told with the place, never the password, and end it with 73"
    )
    func refused() async throws {
      try await withFolder { folder in
        let database = try #require(try DatabaseProcess(in: folder), "PostgreSQL has not started")
        defer { database.end() }
        let cases = [
          (url: "postgresql://shop:geheim@127.0.0.1:1/shop", place: "port 1 ", reason: "Connection refused"),
          (
            url: "postgresql://guarded:geheim@\(database.place)/shop", place: "port \(database.port) ",
            reason: "password authentication failed for user \"guarded\""
          ),
          (
            url: "postgresql://visitor:geheim@\(database.place)/shop", place: "(\(database.place))",
            reason: "permission denied"
          ),
          (
            url: "postgresql://shop:geheim@\(database.place)/nowhere", place: "port \(database.port) ",
            reason: "database \"nowhere\" does not exist"
          ),
        ]
        for (url, place, reason) in cases {
          let running = try Running(["serve", "--port", "0", "--store", url], in: folder)
          // It does not say that it listens.
          #expect(running.lines() == [])
          #expect(running.status() == 73)
          let complaints = running.complaints
          #expect(complaints.hasPrefix("bookstore: the database cannot be used: "), "\(complaints)")
          #expect(complaints.count { $0 == "\n" } == 1, "\(complaints)")
          for text in [place, "127.0.0.1", reason] { #expect(complaints.contains(text), "\(text): \(complaints)") }
          #expect(!complaints.contains("geheim"), "\(complaints)")
        }
      }
    }

    @Test("It says that it listens as soon as it serves what is in a database")
    func served() async throws {
      try await withFolder { folder in
        let database = try #require(try DatabaseProcess(in: folder), "PostgreSQL has not started")
        defer { database.end() }
        let store = "postgresql://guarded:right@\(database.place)/shop"
        let running = try Running(["serve", "--port", "0", "--store", store], in: folder)
        let line = try #require(running.line(), "\(running.complaints)")
        #expect(line.hasPrefix("listening on http://127.0.0.1:"))
        let url = try #require(line.split(separator: " ").last.flatMap { URL(string: String($0)) })
        let answer = try await HTTPTransport(baseURL: url).send("GET", "/")
        #expect(answer.status == 200)
        #expect(running.end(SIGTERM) == 0)
        #expect(running.complaints == "")
      }
    }
  }

  /// A PostgreSQL server that lives as long as this object, with a role that has a password, and one without rights.
  final class DatabaseProcess {
    private let process = Process()
    private let input = Pipe()
    /// Its host and port.
    let place: String
    var port: Substring { place.split(separator: ":").last ?? "" }

    private static let scripts = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../../Scripts/lib").standardizedFileURL.path

    static let isInstalled: Bool = {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = ["python3", "-B", "-c", "import postgresql, sys; sys.exit(postgresql.binaries() is None)"]
      process.environment = ProcessInfo.processInfo.environment.merging(["PYTHONPATH": scripts]) { $1 }
      guard (try? process.run()) != nil else { return false }
      process.waitUntilExit()
      return process.terminationStatus == 0
    }()

    /// - Returns: `nil` if the server has not started.
    init?(in folder: URL) throws {
      let roles = """
        CREATE ROLE guarded LOGIN PASSWORD 'right';
        GRANT CREATE ON DATABASE shop TO guarded;
        CREATE ROLE visitor LOGIN;
        SHOW hba_file \\gset
        COPY (VALUES ('host all guarded all scram-sha-256'), ('host all all all trust')) TO :'hba_file';
        SELECT pg_reload_conf();
        """
      let data = folder.appending(path: "database")
      let output = Pipe()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = [
        "python3", "-B", "\(Self.scripts)/postgresql.py", data.path, "URL", "sh", "-ec",
        "printf '%s\\n' \"$1\" | psql -X -q -v ON_ERROR_STOP=1 -o /dev/null \"postgresql://owner@${URL#*@}\"; echo \"$URL\"; cat",
        "sh", roles,
      ]
      // The server runs as another user where the tests run as root.
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
      process.standardInput = input
      process.standardOutput = output
      try process.run()
      var said = ""
      while !said.hasSuffix("\n") {
        let more = output.fileHandleForReading.availableData
        if more.isEmpty { return nil }
        said += String(decoding: more, as: UTF8.self)
      }
      guard let place = URLComponents(string: said.trimmingCharacters(in: .whitespacesAndNewlines)),
        let host = place.host, let port = place.port
      else { return nil }
      self.place = "\(host):\(port)"
    }

    func end() {
      try? input.fileHandleForWriting.close()
      process.waitUntilExit()
    }
  }
#endif
