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
#endif
