import Concord
import Dispatch
import Foundation
import Testing

@testable import ConcordPersistence

/// Whether it counts is what a context says.
private struct Probe: PersistentEntity, Equatable {
  let id: Int
  var limit: Int
  /// What the property asks.
  static let ask = Locked<(@Sendable (Int) -> Bool)?>(nil)

  var counts: Bool { Probe.ask.withLock { $0 }?(id) ?? false }

  static let persistentProperties: [PersistentProperty<Probe>] = [.init("id", \.id), .init("limit", \.limit)]
  init(_ id: Int, _ limit: Int) { (self.id, self.limit) = (id, limit) }
  init(from row: inout RowReader) throws { self.init(try row.read(), try row.read()) }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(limit)
  }
}

@Suite("Computed properties that use a context", .serialized)
struct ComputedPropertyTests {
  @Test("In the predicate of a live query they may read other contexts, and the view", arguments: StoreKind.allCases)
  func inLiveQuery(_ kind: StoreKind) throws {
    try kind.withCoordinator(Model("Probes", entities: [Probe.self])) { coordinator in
      let errors = Locked<[String]>([])
      let view = ViewContext(parent: coordinator, delivery: .immediate) { error in
        errors.withLock { $0.append("\(error)") }
      }
      defer { Probe.ask.withLock { $0 = nil } }
      let context = coordinator.newContext()
      for id in 0..<10 { context.insert(Probe(id, id)) }
      try context.save()
      let asks: [@Sendable (Int) -> Bool] = [
        { [weak coordinator] id in
          let own = coordinator?.newContext()
          return (try? own?.find(Probe.self, id: id)?.limit).map { $0 > 4 } ?? false
        },
        { [weak view] id in (try? view?.find(Probe.self, id: id)?.value.limit).map { $0 > 4 } ?? false },
        { [weak view] id in
          (try? view?.fetch(FetchDescriptor<Probe>(predicate: #Predicate { $0.id == id })).first?.limit).map { $0 > 4 }
            ?? false
        },
      ]
      for (turn, ask) in asks.enumerated() {
        Probe.ask.withLock { $0 = ask }
        let list = try view.query(FetchDescriptor<Probe>(predicate: #Predicate { $0.counts }))
        #expect(list.value.map(\.id) == [5, 6, 7, 8, 9])
        try context.update(Probe.self, id: turn) { $0.limit = 100 }
        try context.update(Probe.self, id: 9) { $0.limit = 0 }
        try context.save()
        coordinator.settle()
        #expect(list.value.map(\.id) == [turn, 5, 6, 7, 8])
        try view.update(Probe.self, id: turn) { $0.limit = 0 }
        try view.update(Probe.self, id: 9) { $0.limit = 9 }
        // What the view has not saved is not seen by others.
        #expect(list.value.map(\.id) == (turn == 0 ? [0, 5, 6, 7, 8] : [5, 6, 7, 8, 9]))
        try view.save()
        coordinator.settle()
        #expect(list.value.map(\.id) == [5, 6, 7, 8, 9])
      }
      #expect(errors.withLock { $0 } == [])
    }
  }

  @Test(
    "In a fetch they may use the view while another thread, whose turn it is, uses it, too",
    arguments: StoreKind.allCases)
  func inFetch(_ kind: StoreKind) throws {
    try kind.withCoordinator(Model("Probes", entities: [Probe.self])) { coordinator in
      let view = ViewContext(parent: coordinator, delivery: .immediate) { Issue.record($0) }
      defer { Probe.ask.withLock { $0 = nil } }
      let context = coordinator.newContext()
      for id in 0..<4 { context.insert(Probe(id, id)) }
      try context.save()
      let (isAsked, hasTurn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      Probe.ask.withLock { ask in
        ask = { [weak view] id in
          if id == 0 {
            isAsked.signal()
            hasTurn.wait()
          }
          return (try? view?.find(Probe.self, id: id)?.value.limit).map { $0 > 1 } ?? false
        }
      }
      let ended = DispatchGroup()
      let found = Locked<[Int]>([])
      DispatchQueue.global().async(group: ended) {
        isAsked.wait()
        view.store.transaction { _ in
          // From here on the fetch waits for this transaction.
          hasTurn.signal()
          #expect(throws: Never.self) { try view.find(Probe.self, id: 1) }
          #expect(throws: Never.self) { try view.update(Probe.self, id: 3) { $0.limit = 7 } }
        }
      }
      DispatchQueue.global().async(group: ended) {
        let ids = try? view.fetch(FetchDescriptor<Probe>(predicate: #Predicate { $0.counts })).map(\.id)
        found.withLock { $0 = ids ?? [] }
      }
      #expect(ended.wait(timeout: .now() + 20) == .success)
      #expect(found.withLock { $0.sorted() } == [2, 3])
    }
  }
}
