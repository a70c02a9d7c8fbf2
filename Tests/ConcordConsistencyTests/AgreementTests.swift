import Concord
import ConcordConsistency
import Dispatch
import Foundation
import Synchronization
import Testing

@Suite("At rest, stores and owners agree")
struct AgreementTests {
  private static let ids = 0..<4

  @Test("Owners, whatever threads push", arguments: 0..<25)
  func owners(seed: UInt64) async {
    let world = World(stores: 0)
    run(seed, steps: 60) { random, name in world.push(name, &random) }
    await world.rest()
    expectAgreement(world, seed)
  }

  @Test("Stores and owners, when one thread at a time pushes, or writes to a store", arguments: 0..<25)
  func oneAtATime(seed: UInt64) async {
    let world = World(stores: 2)
    let turn = NSLock()
    run(seed, steps: 40) { random, name in turn.withLock { world.step(name, &random) } }
    await world.rest()
    expectAgreement(world, seed)
  }

  @Test(
    "Stores and owners, whatever threads push, and write to the stores",
    arguments: 0..<25)
  func storesAndOwners(seed: UInt64) async {
    let world = World(stores: 2)
    run(seed, steps: 60) { random, name in world.step(name, &random) }
    await world.rest()
    expectAgreement(world, seed)
  }

  @Test(
    "Stores and owners, also if an owner writes to a store while it is told",
    arguments: 0..<25)
  func writesWithinUpdates(seed: UInt64) async {
    let world = World(stores: 2)
    world.writer.onUpdate = { [weak world] _ in
      guard let world, let author = world.writer.things.first, author.name.hasSuffix("7") else { return }
      world.stores[0].update(Author.self, id: 1) { $0.name = "after \(author.name)" }
    }
    run(seed, steps: 60) { random, name in world.step(name, &random) }
    await world.rest()
    world.writer.onUpdate = { _ in }
    expectAgreement(world, seed)
  }

  private func run(_ seed: UInt64, steps: Int, _ step: @Sendable (inout Seeded, String) -> Void) {
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      var random = Seeded(seed * 4 + UInt64(thread))
      for number in 0..<steps { step(&random, "\(thread) \(number)") }
    }
  }

  private func expectAgreement(_ world: World, _ seed: UInt64) {
    for id in Self.ids {
      let names = world.names(of: id)
      #expect(Set(names).count == 1, "author \(id), seed \(seed): \(names)")
    }
  }
}

/// A manager, stores that have the authors, and owners that have them: in lists, in a book, on a queue, and slow ones.
private final class World: Sendable {
  let manager = ConsistencyManager()
  let stores: [EntityStore]
  let writer = Owner(Author(id: 0, name: ""), Author(id: 1, name: ""))
  private let lists: [Owner<Author>]
  private let book: Owner<Book>
  private let queue = DispatchQueue(label: "owner")
  private let queued: Owner<Author>
  private let slow = SlowOwner()
  private let kept: [Any & Sendable]

  init(stores count: Int) {
    let authors = (0..<4).map { Author(id: $0, name: "") }
    stores = (0..<count).map { _ in EntityStore(delivery: .immediate) }
    kept = stores.map { $0.store(authors, named: "all") }
    lists = (0..<2).map { _ in Owner(authors[0], authors[1], authors[2], authors[3]) }
    book = Owner(Book(id: UUID(), title: "", author: authors[0], editors: Array(authors[1...])))
    queued = Owner(authors[0], authors[1], authors[2], authors[3])
    for store in stores { manager.register(store) }
    for owner in lists + [writer] { manager.register(owner) }
    manager.register(book)
    manager.register(queued, on: queue)
    manager.register(slow)
  }

  func step(_ name: String, _ random: inout Seeded) {
    if stores.isEmpty || Bool.random(using: &random) { return push(name, &random) }
    let id = Int.random(in: 0..<4, using: &random)
    stores[Int.random(in: stores.indices, using: &random)].update(Author.self, id: id) { $0.name = name }
  }

  func push(_ name: String, _ random: inout Seeded) {
    func author() -> Author { Author(id: Int.random(in: 0..<4, using: &random), name: name) }
    switch Int.random(in: 0..<8, using: &random) {
    case 0: manager.pushUpdatedObjects([author(), author()])
    case 1: manager.pushUpdatedObject(Book(id: UUID(), title: "", author: author()))
    // Takes back what was there at first, and perhaps is on its way.
    case 2: manager.pushUpdatedObject(Author(id: Int.random(in: 0..<4, using: &random), name: ""))
    case 3: manager.register(lists[0])
    case 4: _ = manager.pullUpdatedObject(for: author())
    default: manager.pushUpdatedObject(author())
    }
  }

  /// Waits until nothing is on its way.
  /// Returns when nothing has changed for a while: what one is told, it may push on to others.
  func rest() async {
    var (last, quiet) = ([[String]](), 0)
    for _ in 0..<1_000 where quiet < 5 {
      for store in stores { await store.settled() }
      queue.sync {}
      slow.rest()
      let names = (0..<4).map { self.names(of: $0) }
      quiet = names == last ? quiet + 1 : 0
      last = names
    }
  }

  func names(of id: Int) -> [String] {
    var names = lists.map { $0.things[id].name }
    names.append((id == 0 ? book.thing.author : book.thing.editors[id - 1]).name)
    names.append(queued.things[id].name)
    names.append(slow.name(of: id))
    if id < 2 { names.append(writer.things[id].name) }
    return names + stores.compactMap { $0.find(Author.self, id: id)?.value.name }
  }
}

/// Merges later, on a queue of its own, some time after it was told.
private final class SlowOwner: ConsistentEnvironment, Sendable {
  private let authors = Mutex((0..<4).map { Author(id: $0, name: "") })
  private let queue = DispatchQueue(label: "slow")

  var objects: [any ConsistentObject] { authors.withLock { $0 } }

  func update(with object: any ConsistentObject) {
    queue.async {
      usleep(50)
      self.authors.withLock { $0 = $0.updated(with: object) }
    }
  }

  func rest() { queue.sync {} }
  func name(of id: Int) -> String { authors.withLock { $0[id].name } }
}
