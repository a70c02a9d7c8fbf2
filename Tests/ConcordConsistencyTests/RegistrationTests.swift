import Concord
import Dispatch
import Foundation
import Synchronization
import Testing

@testable import ConcordConsistency

@Suite("Registering, and leaving")
struct RegistrationTests {
  let manager = ConsistencyManager()

  @Test("Registering again keeps the order of pushes")
  func order() {
    let owner = Owner(User("1", "0"))
    owner.onUpdate = { [manager, unowned owner] object in
      // Within the first push, a second one comes, the owner registers again, and a third one comes.
      guard (object as? User)?.name == "1" else { return }
      manager.pushUpdatedObject(User("1", "2"))
      manager.register(owner)
      manager.pushUpdatedObject(User("1", "3"))
    }
    manager.register(owner)
    manager.pushUpdatedObject(User("1", "1"))
    #expect(owner.updates.map { ($0 as? User)?.name } == ["1", "2", "3"])
    #expect(owner.thing.name == "3")
  }

  @Test("Registering again at another place keeps the order, and what was pushed before comes there")
  func place() {
    let queue = DispatchQueue(label: "owner")
    let owner = Owner(User("1", "0"))
    queue.suspend()
    manager.register(owner, on: queue)
    manager.pushUpdatedObject(User("1", "1"))
    manager.register(owner)
    manager.pushUpdatedObject(User("1", "2"))
    #expect(owner.updates.map { ($0 as? User)?.name } == ["1", "2"])
    queue.resume()
    queue.sync {}
    #expect(owner.updates.count == 2)
  }

  @Test("An owner that was unregistered is told nothing, and is asked for nothing")
  func unregister() {
    let owner = Owner(User("1", "Ada"))
    manager.register(owner)
    manager.unregister(owner)
    manager.pushUpdatedObject(User("1", "Ada L."))
    #expect(owner.updates.isEmpty)
    #expect(manager.pullUpdatedObject(for: User("1", "mine")).name == "mine")
    manager.unregister(owner)
    manager.register(owner)
    manager.pushUpdatedObject(User("1", "Ada L."))
    #expect(owner.thing.name == "Ada L.")
  }

  @Test("An owner that unregisters within an update is not told of what was pushed meanwhile")
  func unregisterWithin() {
    let owner = Owner(User("1", "0"))
    owner.onUpdate = { [manager, unowned owner] _ in
      manager.pushUpdatedObject(User("1", "2"))
      manager.unregister(owner)
    }
    manager.register(owner)
    manager.pushUpdatedObject(User("1", "1"))
    #expect(owner.updates.count == 1)
  }

  @Test("An owner that one thread unregisters while others push is told nothing new afterwards")
  func unregisterWhilePushing() {
    for round in 0..<50 {
      let manager = ConsistencyManager()
      let owner = Owner(User("1", "0"))
      manager.register(owner)
      let isOver = Mutex(false)
      let thread = Thread {
        for version in 0..<200 where !isOver.withLock({ $0 }) { manager.pushUpdatedObject(User("1", "\(version)")) }
      }
      thread.start()
      while round.isMultiple(of: 2), owner.updates.isEmpty, !thread.isFinished {}
      manager.unregister(owner)
      isOver.withLock { $0 = true }
      let told = owner.updates.count
      for version in 0..<5 { manager.pushUpdatedObject(User("1", "late \(version)")) }
      while !thread.isFinished { usleep(10) }
      // One that the other thread was just looking at.
      #expect(owner.updates.count <= told + 1)
      #expect(!owner.thing.name.hasPrefix("late"))
    }
  }

  @Test("An owner that belongs to no actor is called on the one it is registered for")
  func onActor() async {
    let owner = Owner(User("1", "Ada"))
    owner.onUpdate = { _ in MainActor.assertIsolated() }
    manager.register(owner, on: MainActor.shared)
    manager.pushUpdatedObject(User("1", "Ada L."))
    for _ in 0..<10_000 where owner.updates.isEmpty { await Task.yield() }
    #expect(await MainActor.run { owner.thing.name } == "Ada L.")
  }

  @Test("A store that was unregistered follows nobody, and nobody follows it")
  func unregisterStore() {
    let store = EntityStore(delivery: .immediate)
    manager.register(store)
    let owner = Owner(Author(id: 1, name: "Ada"))
    manager.register(owner)
    let author = store.store(Author(id: 1, name: "Ada"))
    manager.unregister(store)
    manager.pushUpdatedObject(Author(id: 1, name: "Ada L."))
    #expect(author.value.name == "Ada")
    store.update(Author.self, id: 1) { $0.name = "A. L." }
    #expect(owner.thing.name == "Ada L.")
  }

  @Test("Registering looks at the others only when their number has doubled")
  func linear() {
    var registrations = Registrations()
    var owners: [Owner<User>] = []
    var looks = 0
    for id in 0..<16_000 {
      let owner = Owner(User("\(id)", ""))
      owners.append(owner)
      looks += registrations.insert(Registration(owner, place: .pushingThread)).count
    }
    // Each time to look at all would be 128,000,000.
    #expect(looks < 2 * owners.count && registrations.all.count == owners.count)
  }

  @Test("An owner is released where it lives, and leaves nothing behind")
  func released() {
    let released = Mutex(0)
    for _ in 0..<1_000 {
      let owner = Passing { released.withLock { $0 += 1 } }
      manager.register(owner)
    }
    #expect(released.withLock { $0 } == 1_000)
  }

  @Test("An owner that belongs to an actor is released with it, and leaves nothing behind", arguments: [false, true])
  func releasedWithActor(isNamed: Bool) async {
    weak var owner: Owner<User>?
    do {
      let library = Library()
      await library.open(manager, isNamed: isNamed)
      owner = library.shelf
    }
    // The thread that ran the actor may retain it a little longer.
    for _ in 0..<10_000 where owner != nil { await Task.yield() }
    #expect(owner == nil)
    manager.pushUpdatedObject(User("1", "Ada L."))
  }

  @Test("An owner that outlives its actor is called no longer")
  func outlivingActor() async {
    let owner = Owner(User("1", "Ada"))
    weak var released: Library?
    do {
      let library = Library()
      manager.register(owner, on: library)
      released = library
    }
    for _ in 0..<10_000 where released != nil { await Task.yield() }
    #expect(released == nil)
    manager.pushUpdatedObject(User("1", "Ada L."))
    #expect(owner.updates.isEmpty)
  }
}

/// An actor with an owner.
private actor Library {
  let shelf = Owner(User("1", "Ada"))

  func open(_ manager: ConsistencyManager, isNamed: Bool) {
    if isNamed { manager.register(shelf, isolatedTo: self) } else { manager.register(shelf) }
  }
}

private final class Passing: ConsistentEnvironment, Sendable {
  private let onRelease: @Sendable () -> Void

  init(onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }
  deinit { onRelease() }
  var objects: [any ConsistentObject] { [] }
  func update(with object: any ConsistentObject) {}
}
