import ConcordSync
import ConcordPersistence
import ConcordPersistenceMacros
import Foundation
import Testing

@Suite("serve, and what is foreign to it")
struct ForeignTests {
  @Test(
    "Pages of other origins, and names that were made to lead here, are refused",
    arguments: [
      ([:], 200), (["Origin": "http://example.org"], 403), (["Origin": "null"], 403),
      (["Sec-Fetch-Site": "cross-site"], 403), (["Sec-Fetch-Site": "none"], 200), (["Host": "example.org"], 421),
    ] as [([String: String], Int)])
  func pages(fields: [String: String], status: Int) async throws {
    try await withServer { server in
      var headers = HeaderFields()
      for (name, value) in fields { headers[name] = value }
      for path in ["/", "/sync/health"] {
        let answer = try await server.transport.send(TransportRequest("GET", path, headers: headers))
        #expect(answer.status == status, "\(path)")
      }
      headers["Content-Type"] = "application/json"
      let price = Data(#"{"cents":1}"#.utf8)
      let post = TransportRequest("POST", "/books/emma/price", headers: headers, body: price)
      #expect((try await server.transport.send(post).status == 200) == (status == 200))
      #expect((try server.history().count == 2) == (status == 200))
    }
  }

  @Test("A file that a later version has written is refused with the reason, ends it with 73, and is left as it is")
  func laterVersion() async throws {
    try await withServer { server in
      server.kill()
      let folder = server.folder.appendingPathComponent("server")
      let file = folder.appendingPathComponent("server.sqlite")
      let later = GenericPersistentContainer<ContextStrategy.Direct>(
        name: "server", model: try Model("Server", entities: [LaterVersion.CartLine.self]))
      try later.attachPersistentStore(at: folder)
      try later.detach(persistentStores: later.persistentStores)
      let written = try Data(contentsOf: file)
      let running = try Running(["serve", "--port", "0", "--store", folder.path], in: server.folder)
      #expect(running.status() == 73)
      #expect(
        running.complaints
          == "bookstore: \(file.path) cannot be used: a later version of this program has written it\n")
      #expect(try Data(contentsOf: file) == written)
    }
  }

  @Test("A database without PostgreSQL built in, or without a server, is told with the reason, and ends it with 73")
  func noDatabase() async throws {
    try await withFolder { folder in
      let url = "postgresql://shop:secret@127.0.0.1:1/shop"
      let running = try Running(["serve", "--port", "0", "--store", url], in: folder)
      #expect(running.status() == 73)
      #expect(running.complaints.hasPrefix("bookstore: the database cannot be used: "), "\(running.complaints)")
      #expect(!running.complaints.contains("secret"))
    }
  }
}

private enum LaterVersion {
  @PersistentEntity
  struct CartLine {
    let id: String
    var isSigned = false
  }
}
