import Concord
import ConcordTestShared
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

extension ExactRefusalsTests {
  @Test("Whatever is refused among others, what is shown and stored is as if it had never been forwarded")
  func random() async throws {
    let first = UInt64.random(in: 0..<1_000_000)
    for seed in first..<first + 15 {
      var generator = SeededNumbers(seed: seed)
      var actions: [(action: any ForwardAction, isRefused: Bool)] = []
      for number in 0..<14 {
        let book = Int.random(in: 1...5, using: &generator)
        let action: any ForwardAction =
          switch Int.random(in: 0..<5, using: &generator) {
          case 0: AddBook(book: Book(id: 10 + book, title: "\(number)"))
          case 1: RemoveBook(book: book, counter: 9)
          case 2: Raise(book: 10 + book, note: "\(number),")
          default: Raise(book: book, note: "\(number),")
          }
        actions.append((action, Int.random(in: 0..<3, using: &generator) == 0))
      }
      let price = Double.random(in: 1...100, using: &generator).rounded()
      /// What is shown and stored at last, if those that are refused are forwarded, or not.
      func run(withRefused: Bool) async throws -> [[Book]] {
        let refused = Locked<Set<String>>([])
        let transport = ScriptedTransport { request in
          let key = request.headers["Idempotency-Key"] ?? ""
          return TransportResponse(status: refused.withLock { $0.contains(key) } ? 422 : 204)
        }
        return try await withOutbox(.memory, transport, policy: OutboxPolicy(dependents: .goOn)) { connect in
          connect.suspended = true
          let ids = Array(1...9) + Array(11...15)
          let observers = ids.map { connect.viewContext.store.observer(Book.self, id: $0) }
          for id in ids { _ = try connect.viewContext.find(Book.self, id: id) }
          for (action, isRefused) in actions where withRefused || !isRefused {
            let entry = try await connect.forward(action)
            if isRefused { refused.withLock { _ = $0.insert(entry.key.rawValue) } }
          }
          try connect.store([Book(id: 1, title: "new", price: price)])
          connect.suspended = false
          try await connect.settled()
          #expect(connect.outbox.deadLetters.count == refused.withLock { $0.count }, "seed \(seed)")
          return [observers.compactMap(\.value), try connect.stored(Book.self).sorted { $0.id < $1.id }]
        }
      }
      let (with, without) = (try await run(withRefused: true), try await run(withRefused: false))
      #expect(with == without, "seed \(seed)")
      #expect(with[0] == with[1], "seed \(seed)")
    }
  }
}
