import ConcordConnect
import Foundation
import GRDB
import Testing

@Suite("Keys")
struct KeyTests {
  private func copy(_ id: String) -> String { #"{"id":"\#(id)","book":"emma"}"# }

  @Test("A request whose key is known changes nothing and gets the same answer, also from a server that was killed")
  func repeated() async throws {
    try await withServer { server in
      let first = try await server.transport.send("POST", "/carts/reader/copies", copy("c"), key: "k")
      #expect(first.status == 201)
      for _ in 0..<3 {
        server.kill()
        try server.startAgain()
        let again = try await server.transport.send("POST", "/carts/reader/copies", copy("c"), key: "k")
        #expect(again.status == 201 && again.body == first.body)
      }
      let cart = try await server.transport.send("GET", "/carts/reader").text
      #expect(cart == #"[{"book":"emma","copies":["c"],"customer":"reader","version":2}]"#)
      #expect(try server.applied().map(\.key) == ["k"])
    }
  }

  @Test("The same key with another request is refused")
  func another() async throws {
    try await withServer { server in
      _ = try await server.transport.send("POST", "/carts/reader/copies", copy("c"), key: "k").successful()
      #expect(try await server.transport.send("POST", "/carts/reader/copies", copy("d"), key: "k").status == 422)
      #expect(try server.applied().count == 1)
    }
  }

  @Test("Of many requests at once with one key, one is applied")
  func atOnce() async throws {
    try await withServer { server in
      let transport = server.transport
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<20 {
          group.addTask { try await transport.send("POST", "/carts/reader/copies", copy("c"), key: "k").status }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses == Array(repeating: 201, count: 20))
      #expect(try server.applied().count == 1)
    }
  }

  @Test("A server that is killed while requests come has applied what it answered, and each row with its effect")
  func killed() async throws {
    try await withServer { server in
      var answered: Set<String> = []
      for round in 1...5 {
        let transport = server.transport
        let sending = Task {
          var answered: Set<String> = []
          for number in 1...10_000 {
            let key = "\(round)-\(number)"
            guard let answer = try? await transport.send("POST", "/carts/reader/copies", copy(key), key: key) else {
              break
            }
            #expect(answer.status == 201)
            answered.insert(key)
          }
          return answered
        }
        try await Task.sleep(for: .milliseconds(.random(in: 30...300)))
        server.kill()
        answered.formUnion(await sending.value)
        let (applied, copies) = try server.read { db in
          (
            try String.fetchAll(db, sql: "SELECT key FROM Applied"),
            try String.fetchAll(db, sql: "SELECT id FROM Copy")
          )
        }
        #expect(Set(applied) == Set(copies) && applied.count == copies.count)
        #expect(answered.isSubset(of: applied))
        #expect(applied.count <= answered.count + round)
        try server.startAgain()
      }
    }
  }
}
