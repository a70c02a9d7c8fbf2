import ConcordConnect
import Foundation
import GRDB
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
      for path in ["/", "/books"] {
        let answer = try await server.transport.send(TransportRequest("GET", path, headers: headers))
        #expect(answer.status == status, "\(path)")
      }
      headers["Content-Type"] = "application/json"
      let price = Data(#"{"cents":1}"#.utf8)
      let put = TransportRequest("PUT", "/books/emma/price", headers: headers, body: price)
      let version = try await server.transport.send(TransportRequest("GET", "/")).text
      #expect((try await server.transport.send(put).status == 200) == (status == 200))
      #expect((try await server.transport.send(TransportRequest("GET", "/")).text != version) == (status == 200))
    }
  }

  @Test("A file that a later version has written is refused with the reason, ends it with 73, and is left as it is")
  func laterVersion() async throws {
    try await withServer { server in
      server.kill()
      let file = server.folder.appendingPathComponent("server/server.sqlite")
      try await DatabaseQueue(path: file.path).write { db in
        try db.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('2')")
        try db.execute(sql: "ALTER TABLE Applied RENAME TO Done")
      }
      let data = server.folder.appendingPathComponent("server").path
      let running = try Running(["serve", "--port", "0", "--data", data], in: server.folder)
      #expect(running.status() == 73)
      #expect(
        running.complaints
          == "bookstore: \(file.path) cannot be used: a later version of this program has written it\n")
      #expect(try server.read { try $0.tableExists("Done") })
    }
  }
}
