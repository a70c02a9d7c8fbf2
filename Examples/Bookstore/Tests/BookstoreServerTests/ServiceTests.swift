import BookstoreKit
import ConcordConnect
import Foundation
import GRDB
import Testing

@testable import BookstoreClient

@Suite("The web service")
struct ServiceTests {
  @Test("The pages of the catalogue lead to each other, and have all books once, in order")
  func pages() async throws {
    try await withServer { server in
      let books = try await Resource<Book>(at: "/books", of: server.transport).list()
      #expect(books.map(\.number) == Array(0..<591))
      #expect(Set(books.map(\.id)).count == 591)
    }
  }

  @Test("What has not changed is not sent again, and what has changed is")
  func tags() async throws {
    try await withServer { server in
      let transport = server.transport
      for path in ["/books/emma", "/books?after=299", "/authors/jane-austen", "/carts/reader"] {
        let tag = try #require(try await transport.send("GET", path.components(separatedBy: "?")[0]).headers["ETag"])
        let again = try await transport.send("GET", path.components(separatedBy: "?")[0], tag: tag)
        #expect(again.status == 304 && again.body.isEmpty, "\(path)")
      }
      let tag = try await transport.send("GET", "/books/emma").headers["ETag"]
      _ = try await transport.send("PUT", "/authors/jane-austen/name", #"{"name":"J. A."}"#, key: "n").successful()
      let changed = try await transport.send("GET", "/books/emma", tag: tag)
      #expect(changed.status == 200 && changed.text.contains("J. A."))
    }
  }

  @Test(
    "What cannot be done is refused with a status and a reason, and changes nothing",
    arguments: [
      ("GET", "/books/none", nil, nil, 404), ("GET", "/nothing", nil, nil, 404),
      ("DELETE", "/books/emma", nil, nil, 404),
      ("GET", "/events", nil, nil, 400), ("PUT", "/books/emma/price", "{", nil, 400),
      ("PUT", "/books/emma/price", #"{"cents":-1}"#, nil, 422), ("PUT", "/books/none/price", #"{"cents":1}"#, nil, 404),
      ("POST", "/carts/reader/copies", #"{"id":"c","book":"emma"}"#, nil, 400),
      ("POST", "/carts/reader/copies", #"{"id":"c","book":"none"}"#, "k", 404),
      ("POST", "/books/emma/reviews", #"{"id":"r","stars":6,"by":"A","text":""}"#, "k", 422),
      ("PUT", "/authors/none/name", #"{"name":"A"}"#, "k", 404),
      ("PUT", "/authors/jane-austen/name", #"{"name":""}"#, "k", 422),
    ] as [(String, String, String?, String?, Int)])
  func refusals(method: String, path: String, body: String?, key: String?, status: Int) async throws {
    try await withServer { server in
      let answer = try await server.transport.send(method, path, body, key: key)
      #expect(answer.status == status)
      let refusal = try JSONDecoder().decode(Wire.Refusal.self, from: answer.body)
      #expect(!refusal.error.isEmpty)
      #expect(try await server.transport.send("GET", "/").text == #"{"isRefusing":false,"version":1}"#)
      #expect(try server.applied().isEmpty)
    }
  }

  @Test("A body that is too long is refused")
  func tooLong() async throws {
    try await withServer { server in
      let text = #"{"id":"r","stars":1,"by":"A","text":""# + String(repeating: "x", count: 70_000) + "\"}"
      let answer = try await server.transport.send("POST", "/books/emma/reviews", text, key: "k")
      #expect(answer.status == 413)
    }
  }

  @Test("While the shop refuses, nothing that customers send is taken, and afterwards it is")
  func refusing() async throws {
    try await withServer { server in
      let transport = server.transport
      let copy = #"{"id":"c","book":"emma"}"#
      _ = try await transport.send("PUT", "/refusing", #"{"isRefusing":true}"#).successful()
      let refused = try await transport.send("POST", "/carts/reader/copies", copy, key: "k")
      #expect(refused.status == 409 && refused.text.contains("The shop takes nothing at the moment."))
      #expect(try await transport.send("PUT", "/books/emma/price", #"{"cents":5}"#).status == 200)
      _ = try await transport.send("PUT", "/refusing", #"{"isRefusing":false}"#).successful()
      #expect(try await transport.send("POST", "/carts/reader/copies", copy, key: "k").status == 201)
      #expect(try server.applied().map(\.key) == ["k"])
    }
  }

  @Test("The feed says each change once, in the order in which they were made")
  func feed() async throws {
    try await withServer { server in
      let reader = try await WebSocketReader.connect(to: server.url, path: "/events")
      defer { reader.close() }
      let decoder = JSONDecoder()
      let first = try decoder.decode(ServerEvent.self, from: try #require(try await reader.next()))
      #expect(first == ServerEvent(version: 1))
      // Longer than what a frame can be whose length is in its first byte, or in two more.
      let long = String(repeating: "Long. ", count: 300)
      for number in 1...60 {
        let review = #"{"id":"\#(number)","stars":3,"by":"A","text":"\#(long)"}"#
        _ = try await server.transport.send("POST", "/books/emma/reviews", review, key: "\(number)").successful()
      }
      for number in 1...60 {
        let event = try decoder.decode(ServerEvent.self, from: try #require(try await reader.next()))
        #expect(event.version == number + 1)
        #expect(event.book?.reviews.map(\.id) == (1...number).map(String.init))
      }
    }
  }
}
