import Concord
import ConcordModel
import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

/// Several containers with one store, whose clocks jump in both directions, delete, insert, and merge pages that were read
/// before or after: what is deleted comes back with newer values only, and what contains it keeps its stamp and its order.
///
/// `CONCORD_RANDOM_SEED` replays one world, whose seed is in the message of a failure.
@Suite("Random deletions")
struct RandomDeletionTests {
  /// A container with a clock of its own.
  private final class World: Sendable {
    let date = Locked<Stamp>(1000)
    let strategy: any ContextStrategyType

    init(_ kind: StrategyKind, _ store: any RowStore, from date: Stamp) throws {
      self.date.withLock { $0 = date }
      let coordinator = PersistentStoreCoordinator(
        model: try libraryModel(), clock: StampSource { [date = self.date] in date.withLock { $0 } })
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

  /// What is known of an entity.
  private struct Known: Equatable {
    var text: String?
    /// That of the row, or of the deletion.
    var stamp = -Stamp.infinity
  }

  private struct Page {
    let stamp: Stamp?
    let texts: [Int: String]
  }

  @Test("What is deleted comes back with newer values only", arguments: StoreKind.combinationsOfManySteps)
  func random(_ kind: StoreKind, _ strategy: StrategyKind) throws {
    for seed in TestOptions.seeds((TestOptions.steps ?? 0) / 2_000) {
      for policy in [MergePolicy.byStamp, .error, .storeTrump, .objectTrump] {
        try withFolder { folder in
          let log = Locked<[String]>([])
          do { try run(seed, policy, kind, strategy, folder, log) } catch {
            Issue.record("CONCORD_RANDOM_SEED=\(seed), \(policy): \(error)\n\(log.withLock { $0 }.suffix(20))")
          }
        }
      }
    }
  }

  private struct Difference: Error, CustomStringConvertible { let description: String }

  private func run(
    _ seed: UInt64, _ policy: MergePolicy, _ kind: StoreKind, _ strategy: StrategyKind, _ folder: URL,
    _ log: Locked<[String]>
  ) throws {
    var random = SeededGenerator(seed: seed)
    let model = try libraryModel()
    let entity = try model.entity(Review.self)
    var store = try kind.open(model, in: folder)
    defer { try? store.close() }
    var worlds = try (0..<3).map { _ in try World(strategy, store, from: 1000) }
    var known: [Int: Known] = [:]
    var pages: [Page] = []
    var order: [Int] = []
    let ids = 0..<4
    let first = worlds[0].context(policy)
    first.insert(Book(id: "1", title: "", author: Author(id: "1", name: "")))
    try first.save()
    try worlds[0].strategy.writePendingChanges()
    var ownerStamp = try first.stamp(of: Book.self, id: "1")
    for step in 0..<40 {
      let number = Int.random(in: worlds.indices, using: &random)
      let world = worlds[number]
      if Bool.random(using: &random) {
        let jump = random.pick([-5000, -100, -0.5, 0.5, 100, 5000] as [Stamp])
        world.date.withLock { $0 += jump }
      }
      let (context, id) = (world.context(policy), random.pick(Array(ids)))
      let before = known
      let present = known[id, default: Known()]
      /// The stamp that a step has given.
      var given: Stamp?
      switch Int.random(in: 0..<12, using: &random) {
      case 0..<3:
        if Bool.random(using: &random) {
          given = present.stamp.isFinite ? present.stamp + random.pick([-10, 10]) : 500
        }
        log.withLock { $0.append("\(number) insert \(id) \(given.map { "\($0)" } ?? "")") }
        context.insert(Review(id: id, text: "\(step)"), modifiedAt: given)
        let isNewer = given.map { $0 > present.stamp } ?? true
        var isConflict = false
        switch policy {
        case .byStamp: if isNewer { known[id] = Known(text: "\(step)") }
        case .storeTrump: if isNewer, present.text == nil { known[id] = Known(text: "\(step)") }
        case .objectTrump: known[id] = Known(text: "\(step)")
        case .error:
          isConflict = present.text != nil || !isNewer
          if !isConflict { known[id] = Known(text: "\(step)") }
        }
        do {
          try context.save()
          if isConflict { throw Difference(description: "no conflict") }
        } catch StoreError.conflict where isConflict {}
        if let given, known[id] != before[id] { known[id]?.stamp = max(given, present.stamp) }
      case 3..<6:
        if Bool.random(using: &random) {
          given = present.stamp.isFinite ? present.stamp + random.pick([-10, 10]) : 500
        }
        log.withLock { $0.append("\(number) delete \(id) \(given.map { "\($0)" } ?? "")") }
        let isNewer = given.map { $0 > present.stamp } ?? true
        let isDeleted = try context.delete(Review.self, id: id, modifiedAt: given)
        if isDeleted != (isNewer && present.text != nil) { throw Difference(description: "it was \(isDeleted)") }
        if isDeleted || given != nil && isNewer { known[id] = Known(text: nil, stamp: given ?? -.infinity) }
        if isDeleted { order.removeAll { $0 == id } }
        try context.save()
      case 6:
        log.withLock { $0.append("\(number) reorder") }
        let found = try context.fetch(FetchDescriptor<Review>()).shuffled(using: &random)
        order = found.map(\.id)
        try context.update(Book.self, id: "1") { $0.reviews = found }
        try context.save()
        ownerStamp = nil
      case 7..<9:
        // A service is asked for some of them, and answers later.
        let stamp = Int.random(in: 0..<4, using: &random) == 0 ? nil : context.nextStamp()
        let some = ids.filter { _ in Int.random(in: 0..<3, using: &random) > 0 }
        pages.append(
          Page(
            stamp: stamp,
            texts: Dictionary(
              uniqueKeysWithValues: some.map { ($0, random.pick(["\(step)", known[$0]?.text ?? "p"])) })))
        log.withLock { $0.append("\(number) page \(pages[pages.count - 1])") }
      case 9 where Bool.random(using: &random):
        log.withLock { $0.append("reopen") }
        let dates = worlds.map { $0.date.withLock { $0 } }
        if kind != .memory {
          try store.close()
          store = try kind.open(model, in: folder)
        }
        worlds = try dates.map { try World(strategy, store, from: $0) }
      default:
        guard !pages.isEmpty else { continue }
        let page = pages.remove(at: Int.random(in: pages.indices, using: &random))
        let keepsMissing = Bool.random(using: &random)
        log.withLock { $0.append("\(number) merge \(page)\(keepsMissing ? "" : " whole")") }
        let request = MergeRequest<Review>(
          objects: page.texts.map { Review(id: $0, text: $1) }, uniqueness: [.key], ignored: [], subset: nil,
          condition: nil, keepsMissing: keepsMissing, stamp: page.stamp)
        let isFlat = try Bool.random(using: &random) && context.mergeAndSave(request) != nil
        if !isFlat {
          _ = try context.merge(request)
          try context.save()
        }
        for id in ids {
          let present = known[id, default: Known()]
          guard page.stamp.map({ $0 > present.stamp }) ?? true else { continue }
          if let text = page.texts[id] {
            if text != present.text { known[id] = Known(text: text, stamp: page.stamp ?? -.infinity) }
          } else if !keepsMissing, present.text != nil {
            known[id] = Known(text: nil, stamp: page.stamp ?? -.infinity)
            order.removeAll { $0 == id }
          }
        }
      }
      for world in worlds { try world.strategy.writePendingChanges() }
      let reader = worlds[Int.random(in: worlds.indices, using: &random)].context(policy)
      let stored = Dictionary(
        uniqueKeysWithValues: try reader.fetch(FetchDescriptor<Review>()).map { ($0.id, $0.text) })
      if stored != known.compactMapValues(\.text) {
        throw Difference(description: "step \(step): \(stored), not \(known.mapValues(\.text))")
      }
      // A change that was given no stamp is newer than all before it.
      for (id, now) in known where now != before[id] {
        let key = EntityKey(entity, .integer(Int64(id)))
        let stamp =
          now.text == nil ? try store.read { try $0.deletion(of: key) } : try reader.stamp(of: Review.self, id: id)
        let last = before[id, default: Known()]
        // What replaces a row whatever its stamp, keeps the later of the two.
        let isReplaced = policy == .objectTrump && now.text != nil && last.text != nil
        guard let stamp,
          now.stamp.isFinite ? stamp == now.stamp : stamp > last.stamp || isReplaced && stamp == last.stamp
        else {
          throw Difference(description: "step \(step): the stamp of \(id) is \(String(describing: stamp)), \(now)")
        }
        known[id]?.stamp = stamp
      }
      let owner = try reader.find(Book.self, id: "1")
      if owner?.reviews.map(\.id) != order {
        throw Difference(description: "step \(step): the owner has \(String(describing: owner?.reviews)), not \(order)")
      }
      let stamp = try reader.stamp(of: Book.self, id: "1")
      if let ownerStamp, stamp != ownerStamp {
        throw Difference(description: "step \(step): the owner has a new stamp")
      }
      ownerStamp = stamp
    }
  }
}
