import BookstoreKit
import ConcordSync
import Foundation
import Testing

@Suite("What the staff asks for")
struct StaffTests {
  @Test(
    "What makes no sense is refused with a status, and changes nothing",
    arguments: [
      ("GET", "/nothing", nil, 404), ("DELETE", "/books/emma", nil, 405), ("GET", "/sync/pages", nil, 404),
      ("POST", "/books/emma/price", "{", 400), ("POST", "/books/none/price", #"{"cents":1}"#, 404),
      ("POST", "/refusing", "[]", 400), ("POST", "/refusing", #"{"isRefusing":true,"#, 400),
      ("POST", "/refusing", String(repeating: " ", count: 70_000), 413),
    ] as [(String, String, String?, Int)])
  func refusals(method: String, path: String, body: String?, status: Int) async throws {
    try await withServer { server in
      let answer = try await server.transport.send(method, path, body)
      #expect(answer.status == status)
      #expect(try await server.transport.send("GET", "/").text == #"{"isRefusing":false}"#)
      #expect(try server.history().count == 1)
    }
  }

  @Test("A price changes by what is asked for, and stays within its limits")
  func price() async throws {
    try await withServer { server in
      func change(_ cents: Int) async throws -> String {
        try await server.transport.send("POST", "/books/emma/price", #"{"cents":\#(cents)}"#).successful().text
      }
      let lowest = try await change(-1_000_000)
      #expect(lowest == #"{"cents":0}"#)
      #expect(try await change(1299) == #"{"cents":1299}"#)
      #expect(try await change(.max) == #"{"cents":1299}"#)
      #expect(try await change(1_000_000_000) == #"{"cents":100000000}"#)
    }
  }
}
