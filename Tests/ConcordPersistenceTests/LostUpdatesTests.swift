import Concord
import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

/// What is done with a strategy whose type is known.
private protocol Work {
  func run<S: ContextStrategyType>(_ strategy: S.Type) async throws
}

/// Whoever saves under the policy `error`, and tries again at a conflict, loses nothing.
@Suite("No update is lost under the policy error")
struct LostUpdatesTests {
  private static let times = 100

  private func withFolder<R>(_ body: (URL) async throws -> R) async throws -> R {
    let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder)
  }

  /// Calls a generic function with the strategy.
  private func withStrategy(_ kind: StrategyKind, _ body: any Work) async throws {
    switch kind {
    case .direct: try await body.run(ContextStrategy.Direct.self)
    case .directIndependent: try await body.run(ContextStrategy.DirectIndependent.self)
    case .indirectNested: try await body.run(ContextStrategy.IndirectNested.self)
    case .mixed: try await body.run(ContextStrategy.Mixed.self)
    case .usersOwn: try await body.run(CountingStrategy.self)
    }
  }

  /// Adds in so many contexts of each container, at once, and in the view of the first one if it is said so.
  private static func add<S: ContextStrategyType>(
    _ containers: [CountingUp<S>], contexts: Int, withView: Bool = false
  ) async throws {
    let start = containers[0].container.newBackgroundContext()
    start.insert(Progress(id: 0, last: 0))
    try start.save()
    try await containers[0].container.flush()
    let errors = Locked<[String]>([])
    DispatchQueue.concurrentPerform(iterations: contexts * containers.count) { index in
      let counting = containers[index % containers.count]
      let context = counting.container.newBackgroundContext()
      do {
        for _ in 0..<times {
          if withView, index == 0 { try counting.addOneInView() } else { try counting.addOne(context) }
        }
      } catch { errors.withLock { $0.append("\(error)") } }
    }
    #expect(errors.withLock { $0.isEmpty }, "\(errors.withLock { $0.first ?? "" })")
    for _ in 0..<2 { for counting in containers { try await counting.finish() } }
    let stored = try containers[0].container.stored(Progress.self, id: 0)
    #expect(stored?.last == contexts * containers.count * times, "\(S.self)")
  }

  @Test("Four contexts add one a hundred times each", arguments: StoreKind.combinationsOfManySteps)
  func contexts(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    struct Adding: Work {
      let folder: URL
      let type: StoreType
      let withView: Bool
      func run<S: ContextStrategyType>(_ strategy: S.Type) async throws {
        let counting = try CountingUp(strategy) {
          try $0.attachPersistentStore(at: folder, for: StoreConfiguration(type: type))
        }
        try await LostUpdatesTests.add([counting], contexts: 4, withView: withView)
      }
    }
    for withView in [false, true] {
      try await withFolder {
        try await withStrategy(strategy, Adding(folder: $0, type: kind.type, withView: withView))
      }
    }
  }

  #if Persistence
    @Test("Two containers with one file or database", arguments: StoreKind.lasting, StrategyKind.allCases)
    func containers(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
      struct Adding: Work {
        let place: String
        func run<S: ContextStrategyType>(_ strategy: S.Type) async throws {
          let both = try (0..<2).map { _ in try CountingUp(strategy) { try $0.attachStore(at: place) } }
          try await LostUpdatesTests.add(both, contexts: 2)
        }
      }
      try await withFolder { try await withStrategy(strategy, Adding(place: kind.place($0))) }
    }

    @Test(
      "Two processes with one file or database", arguments: StoreKind.lasting,
      ["direct", "directIndependent", "indirectNested", "mixed"])
    func processes(_ kind: StoreKind, _ strategy: String) async throws {
      try await withFolder { folder in
        let place = try kind.place(folder)
        let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Process", model: try processModel())
        try container.attachStore(at: place)
        let context = container.newBackgroundContext()
        context.insert(Progress(id: 0, last: 0))
        try context.save()
        let processes = try (0..<2).map { _ in try ChildProcess(["count", place, strategy, "200"]) }
        defer { for process in processes { process.kill() } }
        #expect(try await eventually { processes.allSatisfy { $0.lines.contains("ready") } })
        for process in processes { process.say("go") }
        #expect(try await eventually { processes.allSatisfy { $0.lines.contains("done") } })
        #expect(try container.stored(Progress.self, id: 0)?.last == 400)
      }
    }
  #endif
}
