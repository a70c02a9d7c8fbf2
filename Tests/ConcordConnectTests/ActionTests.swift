import Concord
import Dispatch
import Foundation
import Testing

@testable import ConcordConnect

@Suite("Actions")
struct ActionTests {
  @Test("An action on entities that nothing tells apart is refused when it is given, not when it merges")
  func uniquenessWhenGiven() async throws {
    final class MisnamedWork: EntityAction {
      typealias ManagedObjectType = Misnamed
      func execute(context: ActionContext) throws {}
    }
    _ = try await withConnect { connect in
      #expect(
        throws: Errors.unmanagedEntity("Entity 'Misnamed' has no plain attribute 'isbn' to be unique by")
      ) { try connect.execute(MisnamedWork()) }
    }
  }

  @Test("An action that returns is successful, one that throws has failed with what it threw")
  func outcome() async throws {
    try await withConnect { connect in
      let good = try connect.execute(Work {})
      let bad = try connect.execute(Work { throw Failure() })
      let blocking = try connect.execute(BlockingWork { throw Failure(text: "blocked") })
      #expect(await good.finished() == .successful)
      #expect(await bad.finished() == .failed)
      #expect(await blocking.finished() == .failed)
      #expect(good.error == nil && bad.error as? Failure == Failure())
      #expect(blocking.error as? Failure == Failure(text: "blocked"))
      #expect([good, bad, blocking].allSatisfy { $0.state == .finished })
      #expect(good.actionType == Work.self && blocking.actionType == BlockingWork.self)
    }
  }

  @Test("A proxy shows that it is pending, executing, finished")
  func states() async throws {
    try await withConnect { connect in
      connect.suspended = true
      let (began, gate) = (Gate(), Gate())
      let proxy = try connect.execute(
        Work {
          began.open()
          await gate.passed()
        })
      #expect(proxy.state == .pending && proxy.completionStatus == .unknown)
      connect.suspended = false
      await began.passed()
      #expect(proxy.state == .executing && proxy.completionStatus == .unknown)
      gate.open()
      await proxy.finished()
      #expect(proxy.state == .finished && proxy.completionStatus == .successful)
      // It may be asked again.
      #expect(await proxy.finished() == .successful)
    }
  }

  /// How many run at a time.
  final class Meter: Sendable {
    private let state = Locked((now: 0, most: 0))
    var most: Int { state.withLock { $0.most } }
    func enter() { state.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) } }
    func leave() { state.withLock { $0.now -= 1 } }
  }

  @Test("Generic actions run 5 at a time, or as many as is set", arguments: [nil, 1, 2, 12] as [Int?])
  func concurrency(_ limit: Int?) async throws {
    try await withConnect { connect in
      #expect(connect.maximumConcurrentActions == 5)
      if let limit { connect.maximumConcurrentActions = limit }
      let meter = Meter()
      let count = limit ?? 5
      let gate = Gate()
      // All that may run wait for each other, so that they are known to run at once.
      let arrived = Log<Int>()
      let proxies = try (0..<40).map { index in
        try connect.execute(
          Work {
            meter.enter()
            arrived.add(index)
            if arrived.entries.count >= count { gate.open() }
            await gate.passed()
            meter.leave()
          })
      }
      for proxy in proxies { #expect(await proxy.finished() == .successful) }
      #expect(meter.most == count)
    }
  }

  @Test("More that may run at a time begin at once when the limit is raised")
  func raise() async throws {
    try await withConnect { connect in
      connect.maximumConcurrentActions = 0
      #expect(connect.maximumConcurrentActions == 1)
      let (gate, first, second) = (Gate(), Gate(), Gate())
      try connect.execute(
        Work {
          first.open()
          await gate.passed()
        })
      let next = try connect.execute(Work { second.open() })
      await first.passed()
      #expect(next.state == .pending)
      connect.maximumConcurrentActions = 2
      await second.passed()
      gate.open()
    }
  }

  @Test("Actions for one type run strictly one after another, in order; those for another type run beside them")
  func serial() async throws {
    try await withConnect { connect in
      let (meter, log, gate) = (Meter(), Log<Int>(), Gate())
      let books = try (0..<200).map { index in
        try connect.execute(
          BookWork { _ in
            meter.enter()
            if index == 0 { await gate.passed() }
            await Task.yield()
            log.add(index)
            meter.leave()
          })
      }
      // While the first one for books waits, authors have their turn.
      let author = try connect.execute(AuthorWork { _ in })
      #expect(await author.finished() == .successful)
      #expect(log.entries.isEmpty)
      gate.open()
      for proxy in books { await proxy.finished() }
      #expect(log.entries == Array(0..<200))
      #expect(meter.most == 1)
    }
  }

  @Test("An action may execute others, and wait for those of another line")
  func nested() async throws {
    try await withConnect { connect in
      let outer = try connect.execute(
        BookWork { _ in
          let inner = try connect.execute(Work {})
          #expect(await inner.finished() == .successful)
          let author = try connect.execute(AuthorWork { _ in })
          #expect(await author.finished() == .successful)
        })
      #expect(await outer.finished() == .successful)
    }
  }

  @Test("An entity that is not in the model is refused by its name")
  func unmanaged() async throws {
    try await withConnect { connect in
      let expected = Errors.unmanagedEntity("Entity 'Stranger' not managed by Connect 'Library'")
      #expect(throws: expected) { try connect.execute(StrangerWork()) }
      #expect("\(expected)" == "Entity 'Stranger' not managed by Connect 'Library'")
    }
  }

  @Test("An action is let go of when it has finished, also while its proxy is kept")
  func release() async throws {
    final class Witness: Sendable {}
    try await withConnect { connect in
      weak var weakWitness: Witness?
      func run() throws -> any ActionProxy {
        let witness = Witness()
        weakWitness = witness
        return try connect.execute(Work { _ = witness })
      }
      let proxy = try run()
      await proxy.finished()
      #expect(try await eventually { weakWitness == nil })
      connect.suspended = true
      let other = try run()
      other.cancel()
      #expect(weakWitness == nil)
      connect.suspended = false
    }
  }

  @Test("An action's context sees what was stored, and its save is seen by all", arguments: StoreKind.allCases)
  func context(_ kind: StoreKind) async throws {
    try await withConnect(kind) { connect in
      try connect.store([Book(id: 1, title: "Emma")])
      let proxy = try connect.execute(
        BookWork { context in
          try await context.perform { context in
            try context.update(Book.self, id: 1) { $0.title = "Persuasion" }
            context.insert(Book(id: 2, title: "Sanditon"))
            try context.save()
          }
        })
      #expect(await proxy.finished() == .successful)
      #expect(try connect.stored(Book.self).map(\.title) == ["Persuasion", "Sanditon"])
      #expect(try connect.viewContext.find(Book.self, id: 1)?.value.title == "Persuasion")
    }
  }

  @Test("What an action does not save is gone", arguments: StoreKind.allCases)
  func unsaved(_ kind: StoreKind) async throws {
    try await withConnect(kind) { connect in
      let proxy = try connect.execute(BookWork { context in context.insert(Book(id: 1, title: "Emma")) })
      #expect(await proxy.finished() == .successful)
      #expect(try connect.stored(Book.self).isEmpty)
    }
  }
}
