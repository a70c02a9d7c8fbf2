#if Persistence
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence

  /// Unique values that several writers exchange at once.
  @Suite("Unique values are exchanged by several writers", .serialized)
  struct SeatExchangeTests {
    private static let times = TestOptions.isLong ? 300 : 25

    private func withSeats(
      _ strategy: StrategyKind, _ body: (URL, any PersistentContainer) async throws -> Void
    ) async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let container = try strategy.container(seatModel(), named: "Seats")
      let store = try container.attachPersistentStore(at: folder)
      defer { try? container.detach(persistentStore: store) }
      let context = container.newBackgroundContext()
      for id in 1...6 { context.insert(Seat(id: id, place: id)) }
      try context.save()
      try await container.flush()
      try await body(folder, container)
      try await container.flush()
      let seats = try BackgroundContext(parent: container.persistentStoreCoordinator).fetch(FetchDescriptor<Seat>())
      #expect(seats.map(\.id) == Array(1...6))
      #expect(seats.compactMap(\.place).sorted() == Array(1...6))
    }

    @Test("Four tasks in two containers with one file, and another process", arguments: [StrategyKind.direct, .mixed])
    func writers(_ strategy: StrategyKind) async throws {
      let seed = UInt64.random(in: 0..<1_000_000)
      try await withSeats(strategy) { folder, container in
        let other = try strategy.container(seatModel(), named: "Seats")
        let store = try other.attachPersistentStore(at: folder)
        defer { try? other.detach(persistentStore: store) }
        let process = try ChildProcess(["swap", folder.path, "\(Self.times)", "\(seed)"])
        defer { process.kill() }
        let errors = Locked<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { index in
          var seats = SeatExchange(seed: seed + UInt64(index) + 1)
          do {
            for _ in 0..<Self.times { try seats.step([container, other][index % 2].newBackgroundContext()) }
          } catch { errors.withLock { $0.append("\(error)") } }
        }
        #expect(errors.withLock { $0 } == [], "seed \(seed)")
        #expect(try await eventually { process.lines.contains("done") }, "seed \(seed)")
      }
    }

    @Test(
      "Contexts that know nothing of each other leave no value twice, by each policy", arguments: StoreKind.allCases)
    func policies(_ kind: StoreKind) throws {
      let seed = UInt64.random(in: 0..<1_000_000)
      var random = SeededGenerator(seed: seed)
      let model = try seatModel()
      for policy in [MergePolicy.byStamp, .storeTrump, .objectTrump, .error] {
        for round in 0..<(TestOptions.isLong ? 200 : kind.isShared ? 4 : 12) {
          let comment: Comment = "seed \(seed), \(policy), round \(round)"
          try kind.withStore(model) { store in
            let coordinators = try (0..<2).map { _ in
              let coordinator = PersistentStoreCoordinator(model: model)
              try coordinator.attach(store, configuration: "")
              return coordinator
            }
            let first = coordinators[0].newContext()
            for id in 1...5 { first.insert(Seat(id: id, place: id)) }
            try first.save()
            for _ in 0..<6 {
              let contexts = coordinators.map { $0.newContext() }
              for context in contexts {
                context.mergePolicy = policy
                let seats = try context.fetch(FetchDescriptor<Seat>()).shuffled(using: &random).prefix(3)
                let places = seats.map(\.place).shuffled(using: &random)
                for (seat, place) in zip(seats, places) {
                  switch Int.random(in: 0..<4, using: &random) {
                  case 0: context.insert(Seat(id: seat.id, place: place))
                  case 1:
                    try context.delete(Seat.self, id: seat.id)
                    context.insert(Seat(id: seat.id, place: place))
                  default: try context.update(Seat.self, id: seat.id) { $0.place = place }
                  }
                }
              }
              for context in contexts {
                let before = try first.fetch(FetchDescriptor<Seat>())
                do { try context.save() } catch let error as StoreError {
                  switch error {
                  case .notUnique: break
                  case .conflict where policy == .error: break
                  default: Issue.record("\(error), \(comment)")
                  }
                  #expect(try first.fetch(FetchDescriptor<Seat>()) == before, comment)
                }
                let places = try first.fetch(FetchDescriptor<Seat>()).compactMap(\.place)
                #expect(Set(places).count == places.count, comment)
              }
            }
          }
        }
      }
    }
  }
#endif
