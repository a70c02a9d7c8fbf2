import Concord
import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

/// Several containers with one store, whose clocks jump in both directions: what is changed without a stamp is there afterwards.
///
/// `CONCORD_RANDOM_SEED` replays one world, whose seed is in the message of a failure.
@Suite("Clocks that jump")
struct RandomClocksTests {
  /// A container with a clock of its own.
  private final class World: Sendable {
    let date = Locked<Stamp>(1000)
    let strategy: any ContextStrategyType

    init(_ kind: StrategyKind, _ store: any RowStore) throws {
      let coordinator = PersistentStoreCoordinator(
        model: try libraryModel(), clock: StampSource { [date] in date.withLock { $0 } })
      try coordinator.attach(store, configuration: "")
      strategy =
        switch kind {
        case .direct: ContextStrategy.Direct(persistentStoreCoordinator: coordinator) { _ in }
        case .directIndependent: ContextStrategy.DirectIndependent(persistentStoreCoordinator: coordinator) { _ in }
        case .indirectNested: ContextStrategy.IndirectNested(persistentStoreCoordinator: coordinator) { _ in }
        case .mixed: ContextStrategy.Mixed(persistentStoreCoordinator: coordinator) { _ in }
        case .usersOwn: CountingStrategy(persistentStoreCoordinator: coordinator) { _ in }
        }
    }

    func context(_ policy: MergePolicy) -> BackgroundContext {
      let context: BackgroundContext = strategy.newBackgroundContext()
      context.mergePolicy = policy
      return context
    }
  }

  @Test("Each change without a stamp is kept, and each with an older one is not", arguments: StoreKind.combinations)
  func random(_ kind: StoreKind, _ strategy: StrategyKind) throws {
    for seed in TestOptions.seeds(kind.isForManySteps ? max(2, (TestOptions.steps ?? 1_000) / 500) : 1) {
      for policy in [MergePolicy.byStamp, .error, .storeTrump, .objectTrump] {
        try kind.withStore(libraryModel()) { store in
          try run(seed, policy, try (0..<3).map { _ in try World(strategy, store) })
        }
      }
    }
  }

  private func run(_ seed: UInt64, _ policy: MergePolicy, _ worlds: [World]) throws {
    var random = SeededGenerator(seed: seed)
    var expected: [Int: Review] = [:]
    var log: [String] = []
    for step in 0..<30 {
      let world = worlds[random.below(worlds.count)]
      if random.below(2) == 0 {
        let jump = Stamp([-5000, -100, -0.5, 0.5, 100, 5000][random.below(6)])
        world.date.withLock { $0 += jump }
      }
      let (context, id) = (world.context(policy), random.below(4))
      switch random.below(6) {
      case 0:
        log.append("insert \(id)")
        let review = Review(id: id, text: "\(step)", stars: 0)
        context.insert(review)
        switch policy {
        case .byStamp, .objectTrump:
          expected[id] = review
          try context.save()
        case .storeTrump:
          expected[id] = expected[id] ?? review
          try context.save()
        case .error:
          do {
            try context.save()
            #expect(expected[id] == nil)
            expected[id] = review
          } catch StoreError.conflict { #expect(expected[id] != nil) }
        }
      case 1:
        log.append("delete \(id)")
        #expect(try context.delete(Review.self, id: id) == (expected[id] != nil))
        expected[id] = nil
        try context.save()
      case 2:
        // A given stamp loses to what it is older than.
        let stamp = try context.stamp(of: Review.self, id: id)
        let given = (stamp ?? 0) + (random.below(2) == 0 ? 10 : -10)
        log.append("update \(id) with \(given)")
        let isTaken = try context.update(Review.self, id: id, modifiedAt: given) { $0.text = "\(step)" }
        #expect(isTaken == stamp.map { given > $0 } ?? false)
        if isTaken { expected[id]?.text = "\(step)" }
        try context.save()
      case 3 where policy == .byStamp && worlds[0].strategy is ContextStrategy.Direct:
        // Of two contexts, the one that changed it later wins, whichever is saved first.
        log.append("two change \(id)")
        let later = world.context(policy)
        for (index, context) in [context, later].enumerated() {
          try context.update(Review.self, id: id) { $0.text = "\(step) \(index)" }
          world.date.withLock { $0 += Stamp([-5000, 0, 5000][random.below(3)]) }
        }
        expected[id]?.text = "\(step) 1"
        for context in random.below(2) == 0 ? [context, later] : [later, context] { try context.save() }
      case 4:
        log.append("update \(id) in the view")
        let view = world.strategy.viewContext
        view.mergePolicy = policy
        #expect(try view.update(Review.self, id: id) { $0.stars = step } == (expected[id] != nil))
        expected[id]?.stars = step
        try view.save()
      default:
        log.append("update \(id)")
        #expect(try context.update(Review.self, id: id) { $0.text = "\(step)" } == (expected[id] != nil))
        expected[id]?.text = "\(step)"
        try context.save()
      }
      try world.strategy.writePendingChanges()
      let stored = try worlds[0].context(policy).fetch(FetchDescriptor<Review>())
      let found = Dictionary(uniqueKeysWithValues: stored.map { ($0.id, $0) })
      if found != expected {
        Issue.record("CONCORD_RANDOM_SEED=\(seed), \(policy), step \(step): \(found), not \(expected)\n\(log)")
        return
      }
    }
  }
}

extension SeededGenerator {
  fileprivate mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
}
