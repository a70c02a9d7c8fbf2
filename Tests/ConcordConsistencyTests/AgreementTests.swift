import Concord
import ConcordConsistency
import Dispatch
import Foundation
import Testing

@Suite("At rest, stores and owners agree")
struct AgreementTests {
  /// What happens, besides pushes of owners.
  fileprivate struct Events: OptionSet {
    let rawValue: Int
    static let writes = Events(rawValue: 1)
    static let stamps = Events(rawValue: 2)
    static let removals = Events(rawValue: 4)
    static let writesWithinUpdates = Events(rawValue: 8)
    /// One thread at a time.
    static let turns = Events(rawValue: 16)
  }

  @Test("Owners, whatever threads push", arguments: 0..<12)
  func owners(seed: UInt64) async {
    await run(seed, stores: 0, [])
  }

  @Test("Owners, whatever threads push and remove", arguments: 0..<12)
  func removals(seed: UInt64) async {
    await run(seed, stores: 0, .removals)
  }

  @Test("Stores and owners, when one thread at a time pushes, or writes to a store", arguments: 0..<12)
  func oneAtATime(seed: UInt64) async {
    await run(seed, stores: 2, [.writes, .stamps, .removals, .turns])
  }

  @Test("Stores and owners, whatever threads push, and write to the stores", arguments: 0..<12)
  func storesAndOwners(seed: UInt64) async {
    await run(seed, stores: 2, .writes)
  }

  @Test("Stores and owners, with stamps behind and ahead of the clock", arguments: 0..<12)
  func stamps(seed: UInt64) async {
    await run(seed, stores: 3, [.writes, .stamps])
  }

  @Test("Stores and owners, with all of it, and an owner that writes to a store while it is told", arguments: 0..<12)
  func everything(seed: UInt64) async {
    await run(seed, stores: 3, [.writes, .stamps, .removals, .writesWithinUpdates])
  }

  private func run(_ seed: UInt64, stores: Int, _ events: Events) async {
    let world = World(stores: stores, events)
    let turn = NSLock()
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      var random = Seeded(seed * 4 + UInt64(thread))
      for number in 0..<60 {
        let step = { world.step("\(thread) \(number)", &random) }
        if events.contains(.turns) { turn.withLock(step) } else { step() }
      }
    }
    await world.rest()
    world.writer.onUpdate = { _ in }
    for id in World.ids {
      let names = world.names(of: id)
      #expect(Set(names).count <= 1, "author \(id), seed \(seed): \(names)")
      if id < World.firstToGo { #expect(names.count == world.count(of: id), "author \(id), seed \(seed): \(names)") }
      if id == World.goneForGood, world.isGone { #expect(names.isEmpty, "author \(id), seed \(seed): \(names)") }
    }
    for store in world.stores { #expect(store._checkInvariants().isEmpty) }
  }
}

/// A manager, stores that have the authors, and owners that have them: in lists, in a book, on a queue, and slow ones.
private final class World: Sendable {
  static let ids = 0..<6
  /// Those from here on are removed at times. One comes back to the stores, the other does not.
  static let firstToGo = 4
  static let goneForGood = 5

  let manager = ConsistencyManager()
  let stores: [EntityStore]
  let writer: Owner<Author>
  private let events: AgreementTests.Events
  private let removals = Locked(false)
  private let lists: [Owner<Author>]
  private let book: Owner<Book>
  private let queue = DispatchQueue(label: "owner")
  private let queued: Owner<Author>
  private let slow: SlowOwner
  private let kept: [Any & Sendable]

  init(stores count: Int, _ events: AgreementTests.Events) {
    self.events = events
    let authors = Self.ids.map { Author(id: $0, name: "") }
    func owner() -> Owner<Author> { Owner(authors[0], authors[1], authors[2], authors[3], authors[4], authors[5]) }
    stores = (0..<count).map { _ in EntityStore(delivery: .immediate) }
    kept = stores.map { $0.store(authors, named: "all") }
    lists = [owner(), owner()]
    (queued, slow) = (owner(), SlowOwner(authors))
    writer = Owner(authors[0], authors[1])
    book = Owner(Book(id: UUID(), title: "", author: authors[0], editors: Array(authors[1...])))
    for store in stores { manager.register(store) }
    for owner in lists + [writer] { manager.register(owner) }
    manager.register(book)
    manager.register(queued, on: queue)
    manager.register(slow)
    guard events.contains(.writesWithinUpdates) else { return }
    writer.onUpdate = { [stores, weak writer] _ in
      guard let author = writer?.things.first, author.name.hasSuffix("7") else { return }
      stores[0].update(Author.self, id: 1) { $0.name = "after \(author.name)" }
    }
  }

  func step(_ name: String, _ random: inout Seeded) {
    if events.contains(.removals), Int.random(in: 0..<12, using: &random) == 0 { return remove(&random) }
    if !events.contains(.writes) || Bool.random(using: &random) { return push(name, &random) }
    let store = stores[Int.random(in: stores.indices, using: &random)]
    if events.contains(.removals), Int.random(in: 0..<8, using: &random) == 0 {
      let name = AliasKey<Author>(named: "back")
      store.store(Author(id: Self.firstToGo, name: "back"), named: name)
    } else {
      let id = Int.random(in: Self.ids, using: &random)
      // Few different ones, so that two writers often have the same.
      let isStamped = events.contains(.stamps) && Int.random(in: 0..<3, using: &random) == 0
      let stamp = isStamped ? (Date().stamp * 1_000).rounded() / 1_000 + 0.001 : nil
      store.update(Author.self, id: id, modifiedAt: stamp) { $0.name = name }
    }
  }

  private func remove(_ random: inout Seeded) {
    let id = Int.random(in: Self.firstToGo..<Self.ids.upperBound, using: &random)
    if !stores.isEmpty, Bool.random(using: &random) {
      let store = stores[Int.random(in: stores.indices, using: &random)]
      guard store.remove(Author.self, id: id) else { return }
    } else {
      manager.pushRemovedObject(Author(id: id, name: ""))
    }
    if id == Self.goneForGood { removals.withLock { $0 = true } }
  }

  private func push(_ name: String, _ random: inout Seeded) {
    func author() -> Author { Author(id: Int.random(in: Self.ids, using: &random), name: name) }
    switch Int.random(in: 0..<8, using: &random) {
    case 0: manager.pushUpdatedObjects([author(), author()])
    case 1: manager.pushUpdatedObject(Book(id: UUID(), title: "", author: author()))
    // Takes back what was there at first, and perhaps is on its way.
    case 2: manager.pushUpdatedObject(Author(id: Int.random(in: Self.ids, using: &random), name: ""))
    case 3: manager.register(lists[0])
    case 4: _ = manager.pullUpdatedObject(for: author())
    case 5 where events.contains(.stamps):
      let stamp = Date().stamp + Double.random(in: -0.002...0.002, using: &random)
      manager.pushUpdatedObject(author(), modifiedAt: stamp)
    default: manager.pushUpdatedObject(author())
    }
  }

  /// Returns when nothing has changed for a while: what one is told, it may push on to others.
  func rest() async {
    var (last, quiet) = ([[String]](), 0)
    for _ in 0..<1_000 where quiet < 5 {
      for store in stores { await store.settled() }
      queue.sync {}
      slow.rest()
      let names = Self.ids.map { self.names(of: $0) }
      quiet = names == last ? quiet + 1 : 0
      last = names
    }
  }

  /// Whether one was removed for good.
  var isGone: Bool { removals.withLock { $0 } }

  /// How many have the author if nobody removes it.
  func count(of id: Int) -> Int { 5 + (id < 2 ? 1 : 0) + stores.count }

  func names(of id: Int) -> [String] {
    var authors = lists.flatMap(\.things) + queued.things + slow.things + writer.things
    for book in book.things { authors += [book.author] + book.editors }
    authors += stores.compactMap { $0.value(Author.self, id: id) }
    return authors.filter { $0.id == id }.map(\.name)
  }
}

/// Merges later, on a queue of its own, some time after it was told.
private final class SlowOwner: ConsistentEnvironment, Sendable {
  private let authors: Locked<[Author]>
  private let queue = DispatchQueue(label: "slow")

  init(_ authors: [Author]) { self.authors = Locked(authors) }

  var things: [Author] { authors.withLock { $0 } }
  var objects: [any ConsistentObject] { things }

  func update(with object: any ConsistentObject) {
    queue.async {
      usleep(50)
      self.authors.withLock { $0 = $0.updated(with: object) }
    }
  }

  func rest() { queue.sync {} }
}
