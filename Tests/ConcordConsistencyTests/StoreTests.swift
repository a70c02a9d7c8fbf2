import Concord
import ConcordConsistency
import Dispatch
import Synchronization
import Testing

@Suite("A store among the owners")
struct StoreTests {
  let manager = ConsistencyManager()
  let store = EntityStore(delivery: .immediate)

  @Test("A push updates the entities that a store has, wherever they stand")
  func pushToStore() {
    manager.register(store)
    let writer = store.store(Writer(id: 1, name: "Ada"))
    let novel = store.store(Novel(id: "n", title: "Novel", writer: Writer(id: 2, name: "Bob")))
    manager.pushUpdatedObject(Writer(id: 1, name: "Ada L."))
    manager.pushUpdatedObject(Writer(id: 2, name: "Bob B."))
    #expect(writer.value.name == "Ada L.")
    #expect(novel.value.writer.name == "Bob B.")
  }

  @Test("A push of an aggregate updates what is inside of it, too")
  func pushAggregate() {
    manager.register(store)
    let writer = store.store(Writer(id: 1, name: "Ada"))
    manager.pushUpdatedObject(Novel(id: "n", title: "Novel", writer: Writer(id: 1, name: "Ada L.")))
    #expect(writer.value.name == "Ada L.")
    #expect(store.find(Novel.self, id: "n") == nil)
  }

  @Test("An id may be made with a call of the manager")
  func idCallsManager() throws {
    let store = store
    let done = DispatchSemaphore(value: 0)
    DispatchQueue(label: "writer").async {
      Guest.manager.register(store)
      Guest.manager.register(Guest.owner)
      let guest = store.store(Guest(id: "1", name: "Ada"))
      store.update(Guest.self, id: "1") { $0.name = "Ada L." }
      withExtendedLifetime(guest) {}
      done.signal()
    }
    try #require(done.wait(timeout: .now() + 60) == .success)
    #expect(Guest.owner.thing.name == "Ada L.")
  }

  @Test("A push never stores what the store does not have")
  func neverInserts() {
    manager.register(store)
    manager.pushUpdatedObjects([Writer(id: 1, name: "Ada"), Writer(id: 2, name: "Bob")])
    #expect(store.find(Writer.self, id: 1) == nil)
  }

  @Test("A push of many is one transaction")
  func oneTransaction() {
    manager.register(store)
    let shelf = store.store((0..<10).map { Writer(id: $0, name: "old") }, named: "shelf")
    let calls = Mutex<[[String]]>([])
    let subscription = shelf.observe { writers in calls.withLock { $0.append(writers.map(\.name)) } }
    manager.pushUpdatedObjects((0..<20).map { Writer(id: $0, name: "new") })
    #expect(calls.withLock { $0.count } == 2)
    #expect(calls.withLock { $0.last } == Array(repeating: "new", count: 10))
    subscription.unsubscribe()
  }

  @Test("A change in a store reaches the owners")
  func storeToOwners() {
    manager.register(store)
    let owner = Owner(Novel(id: "n", title: "Novel", writer: Writer(id: 1, name: "Ada")))
    manager.register(owner)
    let writer = store.store(Writer(id: 1, name: "Ada L."))
    #expect(owner.thing.writer.name == "Ada L.")
    store.update(Writer.self, id: 1) { $0.name = "A. L." }
    #expect(owner.thing.writer.name == "A. L.")
    let novel = store.store(Novel(id: "n", title: "New", writer: Writer(id: 1, name: "Countess")))
    #expect(owner.thing.title == "New")
    #expect(owner.thing.writer.name == "Countess")
    #expect(writer.value.name == novel.value.writer.name)
  }

  @Test("A transaction reaches the owners at once, when it has committed")
  func transaction() {
    manager.register(store)
    let owner = Owner(Writer(id: 1, name: "Ada"), Writer(id: 2, name: "Bob"))
    manager.register(owner)
    let writers = [store.store(Writer(id: 1, name: "Ada")), store.store(Writer(id: 2, name: "Bob"))]
    let before = owner.updates.count
    store.transaction { store in
      store.update(Writer.self, id: 1) { $0.name = "x" }
      store.update(Writer.self, id: 1) { $0.name = "Ada L." }
      store.update(Writer.self, id: 2) { $0.name = "Bob B." }
      #expect(owner.updates.count == before)
    }
    #expect(owner.updates.count == before + 1)
    #expect(owner.things.map(\.name) == ["Ada L.", "Bob B."])
    #expect(writers.map(\.value.name) == ["Ada L.", "Bob B."])
  }

  @Test("A push from within a transaction is part of it, and the rest of it reaches the owners, too")
  func pushWithinTransaction() {
    manager.register(store)
    let owner = Owner(Writer(id: 1, name: "Ada"), Writer(id: 2, name: "Bob"))
    manager.register(owner)
    let writers = [store.store(Writer(id: 1, name: "Ada")), store.store(Writer(id: 2, name: "Bob"))]
    store.transaction { store in
      store.update(Writer.self, id: 1) { $0.name = "Ada L." }
      manager.pushUpdatedObject(Writer(id: 2, name: "Bob B."))
    }
    #expect(owner.things.map(\.name) == ["Ada L.", "Bob B."])
    #expect(writers.map(\.value.name) == ["Ada L.", "Bob B."])
  }

  @Test("A transaction that throws takes back what was pushed within it from the store, and not from the owners")
  func pushWithinThrowingTransaction() {
    struct Failure: Error {}
    manager.register(store)
    let owner = Owner(Writer(id: 1, name: "Ada"))
    manager.register(owner)
    let writer = store.store(Writer(id: 1, name: "Ada"))
    #expect(throws: Failure.self) {
      try store.transaction { _ in
        manager.pushUpdatedObject(Writer(id: 1, name: "Ada L."))
        throw Failure()
      }
    }
    #expect((writer.value.name, owner.thing.name) == ("Ada", "Ada L."))
    // What is only written to the store reaches nobody.
    try? store.transaction { tx in
      tx.update(Writer.self, id: 1) { $0.name = "never" }
      throw Failure()
    }
    #expect((writer.value.name, owner.thing.name) == ("Ada", "Ada L."))
    store.update(Writer.self, id: 1) { $0.name = "A. L." }
    #expect((writer.value.name, owner.thing.name) == ("A. L.", "A. L."))
  }

  @Test("A push comes to no owner twice, and ends")
  func noLoop() {
    let second = EntityStore(delivery: .immediate)
    manager.register(store)
    manager.register(second)
    let owner = Owner(Loose(id: "1", name: "Ada"))
    manager.register(owner)
    let first = (store.store(Loose(id: "1", name: "Ada")), second.store(Loose(id: "1", name: "Ada")))
    let before = owner.updates.count
    manager.pushUpdatedObject(Loose(id: "1", name: "pushed"))
    #expect(owner.updates.count == before + 1)
    #expect(first.0.value.name == "pushed")
    #expect(first.1.value.name == "pushed")
    store.update(Loose.self, id: "1") { $0.name = "stored" }
    #expect(owner.updates.count == before + 2)
    #expect(owner.thing.name == "stored")
    #expect(first.1.value.name == "stored")
  }

  @Test("A store registered twice hears of everything once")
  func twice() {
    manager.register(store)
    manager.register(store)
    let owner = Owner(Writer(id: 1, name: "Ada"))
    manager.register(owner)
    let writer = store.store(Writer(id: 1, name: "Ada L."))
    #expect(owner.updates.count == 1)
    #expect(writer.value.name == "Ada L.")
  }

  @Test("Pulling prefers what a store has")
  func pull() {
    let owner = Owner(Writer(id: 1, name: "Ada"), Writer(id: 2, name: "Bob B."))
    manager.register(owner)
    let novel = store.store(Novel(id: "n", title: "Stored", writer: Writer(id: 1, name: "Ada L.")))
    manager.register(store)
    let pulled = manager.pullUpdatedObject(for: Novel(id: "n", title: "", writer: Writer(id: 1, name: "")))
    #expect(pulled.title == "Stored")
    #expect(pulled.writer.name == "Ada L.")
    let others = manager.pullUpdatedObjects(for: [1, 2, 3].map { Writer(id: $0, name: "") })
    #expect(others.map(\.name) == ["Ada L.", "Bob B.", ""])
    #expect(novel.value.title == "Stored")
  }

  @Test("The manager keeps no store alive")
  func weakly() {
    weak var gone: EntityStore?
    do {
      let passing = EntityStore(delivery: .immediate)
      gone = passing
      manager.register(passing)
      passing.store(Writer(id: 1, name: "Ada"), named: "me")
    }
    #expect(gone == nil)
    manager.pushUpdatedObject(Writer(id: 1, name: "Ada L."))
  }

  @Test("An owner may push from a store's callback, and write to the store in an update")
  func callbacks() {
    manager.register(store)
    let owner = Owner(Writer(id: 2, name: "Bob"), Writer(id: 1, name: "Ada"))
    manager.register(owner)
    owner.onUpdate = { [store] object in
      guard let writer = object as? Writer, writer.id == 1 else { return }
      store.update(Writer.self, id: 3) { $0.name = writer.name }
    }
    let third = store.store(Writer(id: 3, name: "Cy"))
    let first = store.store(Writer(id: 1, name: "Ada"))
    let manager = manager
    let subscription = first.observe { manager.pushUpdatedObject(Writer(id: 2, name: $0.name)) }
    store.update(Writer.self, id: 1) { $0.name = "everybody" }
    #expect(owner.thing.name == "everybody")
    #expect(third.value.name == "everybody")
    subscription.unsubscribe()
  }

  @Test("Threads that push and write at once leave store and owners equal")
  func threads() async {
    manager.register(store)
    let owner = Owner(Writer(id: 1, name: ""), Writer(id: 2, name: ""))
    manager.register(owner)
    let writers = [store.store(Writer(id: 1, name: "")), store.store(Writer(id: 2, name: ""))]
    let (manager, store) = (manager, store)
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for round in 0..<200 {
        switch thread {
        case 0: manager.pushUpdatedObject(Writer(id: 1, name: "\(round)"))
        case 1: store.update(Writer.self, id: 2) { $0.name = "\(round)" }
        case 2: _ = manager.pullUpdatedObject(for: Writer(id: 1, name: ""))
        default: manager.pushUpdatedObject(Writer(id: 9, name: "\(round)"))
        }
      }
    }
    await store.settled()
    #expect(owner.things.map(\.name) == ["199", "199"])
    #expect(writers.map(\.value.name) == ["199", "199"])
  }
}

@Suite("Stores that push at the same time")
struct CrossingTests {
  @Test("Come to rest after about as many changes as there were writes")
  func crossing() async {
    let manager = ConsistencyManager()
    let stores = (0..<2).map { _ in EntityStore(delivery: .immediate) }
    let changes = Locked(0)
    let kept: [Any & Sendable] = stores.flatMap { store -> [Any & Sendable] in
      manager.register(store)
      let subscription = store.observeChanges { _ in changes.withLock { $0 += 1 } }
      return [store.store(Writer(id: 1, name: "")), subscription]
    }
    let writes = 500
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for round in 0..<writes { stores[thread / 2].update(Writer.self, id: 1) { $0.name = "\(thread) \(round)" } }
    }
    for _ in 0..<10 { for store in stores { await store.settled() } }
    let names = Set(stores.map { $0.value(Writer.self, id: 1)?.name })
    #expect(names.count == 1)
    // Each write, the other store's taking it, and what had to be pushed once more.
    #expect(changes.withLock { $0 } < writes * 4 * 4)
    withExtendedLifetime(kept) {}
  }
}

private struct Writer: Identifiable, Equatable {
  let id: Int
  var name: String
}

extension Writer: StaticallyConsistent {
  var properties: [Property] { [("name", name)] }
  func setting(property: Property) -> Writer { Writer(id: id, name: property.value as? String ?? name) }
  static func declareConsistentParts(in types: inout ConsistentTypes) {}
  func visitConsistentParts(_ visitor: ConsistentVisitor) {}
  func mergingConsistentParts(_ merge: ConsistentMerge) -> Writer? { nil }
}

private struct Novel: Aggregate, ConsistentObject {
  let id: String
  var title: String
  var writer: Writer

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Novel>] { [.init(\.writer)] }
  var properties: [Property] { [("title", title), ("writer", writer)] }

  func setting(property: Property) -> Novel {
    var copy = self
    if let value = property.value as? String { copy.title = value }
    if let value = property.value as? Writer { copy.writer = value }
    return copy
  }
}

/// Without `Equatable`, so that only the origin of a change ends a loop.
private struct Loose: Identifiable, ConsistentObject {
  let id: String
  var name: String
  var properties: [Property] { [("name", name)] }
  func setting(property: Property) -> Loose { self }
}

private struct Guest: ConsistentObject, Identifiable, Equatable {
  static let manager = ConsistencyManager()
  static let owner = Owner(Guest(id: "1"))

  let id: String
  var name = ""
  var consistentID: AnyHashable {
    _ = Self.manager.isPaused(Self.owner)
    return AnyHashable(id)
  }
  var properties: [Property] { [] }
  func setting(property: Property) -> Guest { self }
}
