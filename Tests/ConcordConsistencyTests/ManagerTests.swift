import Concord
import ConcordConsistency
import Dispatch
import Foundation
import Synchronization
import Testing

@Suite("The manager")
struct ManagerTests {
  let manager = ConsistencyManager()

  @Test("A push reaches every owner, at every depth")
  func push() {
    let user = Owner(User("1", "Ada"))
    let videos = Owner(Video("v", "Film", user: User("1", "Ada")), Video("w", "Short", likers: [User("1", "Ada")]))
    manager.register(user)
    manager.register(videos)
    manager.pushUpdatedObject(User("1", "Ada L."))
    #expect(user.thing.name == "Ada L.")
    #expect(videos.things[0].user?.name == "Ada L.")
    #expect(videos.things[1].likers[0].name == "Ada L.")
  }

  @Test("A push of one object hands over that very object")
  func pushOfOne() {
    let owner = Owner(User("1", "Ada"))
    manager.register(owner)
    manager.pushUpdatedObject(User("1", "A"))
    manager.pushUpdatedObjects([User("1", "B")])
    manager.pushUpdatedObjects([User]())
    #expect(owner.updates.count == 2)
    #expect(owner.updates.allSatisfy { $0 is User })
    #expect(owner.thing.name == "B")
  }

  @Test("A push of many calls each owner once, and reads each of its objects once")
  func pushOfMany() {
    let reads = Counter()
    let owner = Owner(Counting(id: "1", user: User("5", "old"), reads: reads))
    manager.register(owner)
    manager.pushUpdatedObjects((0..<100).map { User("\($0)", "new") })
    #expect(owner.updates.count == 1)
    #expect((owner.updates.first as? ConsistentBatch)?.objects.count == 100)
    #expect(owner.thing.user.name == "new")
    // A look at whether anything changes, a walk, and a look at whether the new value was taken.
    #expect(reads.count <= 3)
  }

  @Test("Owners are held weakly")
  func weakly() {
    weak var gone: Owner<User>?
    do {
      let owner = Owner(User("1", "Ada"))
      gone = owner
      manager.register(owner)
    }
    manager.pushUpdatedObject(User("1", "A"))
    #expect(gone == nil)
    #expect(manager.pullUpdatedObject(for: User("1", "mine")).name == "mine")
  }

  @Test("An owner that registers twice is called once")
  func twice() {
    let owner = Owner(User("1", "Ada"))
    manager.register(owner)
    manager.register(owner)
    manager.pushUpdatedObject(User("1", "A"))
    #expect(owner.updates.count == 1)
  }

  @Test("Pulling merges what all owners have")
  func pull() {
    let users = Owner(User("1", "Ada L."))
    let videos = Owner(Video("v", "Film", user: User("2", "Bob B.")))
    manager.register(users)
    manager.register(videos)
    let stale = Video("w", "Short", user: User("1", "Ada"), likers: [User("2", "Bob"), User("3", "Cy")])
    let pulled = manager.pullUpdatedObject(for: stale)
    #expect(pulled.user?.name == "Ada L.")
    #expect(pulled.likers.map(\.name) == ["Bob B.", "Cy"])
    let mixed = manager.pullUpdatedObjects(for: [stale, User("2", "Bob")] as [any ConsistentObject])
    #expect((mixed[1] as? User)?.name == "Bob B.")
  }

  @Test("A push from within an update comes after it, at all owners in the same order")
  func pushWithinUpdate() {
    let first = Owner(User("1", "Ada"))
    let second = Owner(User("1", "Ada"))
    first.onUpdate = { [manager] object in
      if (object as? User)?.name == "A" { manager.pushUpdatedObject(User("1", "B")) }
    }
    manager.register(first)
    manager.register(second)
    manager.pushUpdatedObject(User("1", "A"))
    #expect(first.updates.map { ($0 as? User)?.name } == ["A", "B"])
    #expect(second.updates.map { ($0 as? User)?.name } == ["A", "B"])
  }

  @Test("Registering and pushing within an update, and losing the last reference there, is fine")
  func registerWithinUpdate() {
    let late = Owner(User("1", "Ada"))
    let owner = Owner(User("1", "Ada"))
    owner.onUpdate = { [manager] _ in manager.register(late) }
    manager.register(owner)
    manager.pushUpdatedObject(User("1", "A"))
    manager.pushUpdatedObject(User("1", "B"))
    #expect(late.thing.name == "B")
  }

  @Test("An owner registered on the main actor is called there, wherever the push comes from")
  @MainActor
  func mainActor() async {
    let screen = Screen(User("1", "Ada"))
    manager.register(screen)
    manager.pushUpdatedObject(User("1", "from main"))
    #expect(screen.user.name == "from main")
    let manager = manager
    await withCheckedContinuation { continuation in
      screen.onUpdate = { continuation.resume() }
      DispatchQueue.global().async { manager.pushUpdatedObject(User("1", "from elsewhere")) }
    }
    #expect(screen.user.name == "from elsewhere")
  }

  @Test("An owner on the main actor has at once what a store was told there")
  @MainActor
  func mainActorAndStore() {
    let screen = AuthorScreen(Author(id: 1, name: "Ada"))
    let store = EntityStore(delivery: .immediate)
    manager.register(screen)
    manager.register(store)
    let author = store.store(Author(id: 1, name: "Ada L."))
    #expect(screen.author.name == "Ada L.")
    store.update(Author.self, id: 1) { $0.name = "A. L." }
    #expect(screen.author.name == "A. L.")
    #expect(manager.pullUpdatedObject(for: Author(id: 1, name: "")).name == author.value.name)
  }

  @Test("Pushes from elsewhere and from the main actor arrive in order")
  @MainActor
  func orderOnMainActor() async {
    let screen = Screen(User("1", "Ada"))
    manager.register(screen)
    let manager = manager
    await Task.detached {
      for version in 0..<50 { manager.pushUpdatedObject(User("1", "\(version)")) }
    }.value
    manager.pushUpdatedObject(User("1", "last"))
    #expect(screen.names.last == "last")
    #expect(screen.names.dropLast() == (0..<50).map { "\($0)" }[...])
  }

  @Test("Pulling from another thread reads a main actor's owner on the main actor")
  @MainActor
  func pullFromElsewhere() async {
    let screen = Screen(User("1", "Ada L."))
    manager.register(screen)
    let manager = manager
    let name = await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(returning: manager.pullUpdatedObject(for: User("1", "Ada")).name)
      }
    }
    #expect(name == "Ada L.")
  }

  @Test("An owner registered within an actor is called on that actor")
  func actor() async {
    let home = Home()
    await home.register(with: manager)
    await home.push("from within", with: manager)
    #expect(await home.name == "from within")
    manager.pushUpdatedObject(User("1", "from outside"))
    for _ in 0..<1000 where await home.name != "from outside" { await Task.yield() }
    #expect(await home.name == "from outside")
    #expect(await home.pull(with: manager) == "from outside")
    #expect(manager.pullUpdatedObject(for: User("1", "mine")).name == "mine")
  }

  @Test("An owner registered on a queue is called on it, in order")
  func queue() {
    let queue = DispatchQueue(label: "owner")
    let owner = Owner(User("1", "Ada"))
    owner.onUpdate = { _ in dispatchPrecondition(condition: .onQueue(queue)) }
    manager.register(owner, on: queue)
    for version in 0..<100 { manager.pushUpdatedObject(User("1", "\(version)")) }
    let pulled = manager.pullUpdatedObject(for: User("1", "")).name
    #expect(pulled == "99")
    queue.sync {
      manager.pushUpdatedObject(User("1", "within"))
      #expect(owner.thing.name == "within")
      #expect(manager.pullUpdatedObject(for: User("1", "")).name == "within")
    }
    #expect(owner.updates.map { ($0 as? User)?.name ?? "" } == (0..<100).map { "\($0)" } + ["within"])
  }

  @Test("Owners registered on the main queue are called at once by code there")
  @MainActor
  func mainQueue() {
    let owners = (0..<3).map { _ in Owner(User("1", "Ada")) }
    for owner in owners { manager.register(owner, on: DispatchQueue.main) }
    manager.register(owners[0], on: DispatchQueue.main)
    manager.pushUpdatedObject(User("1", "Ada L."))
    #expect(owners.map(\.thing.name) == ["Ada L.", "Ada L.", "Ada L."])
  }

  @Test("Owners that wait for each other's threads hold nobody up for long")
  func noDeadlock() {
    let (first, second) = (Owner(User("1", "")), Owner(User("2", "")))
    let (entered, finished) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let manager = manager
    // The other thread calls `first`, which waits for this thread, which pushes to `first`.
    first.onUpdate = { object in
      guard (object as? User)?.name == "waiting" else { return }
      entered.signal()
      #expect(finished.wait(timeout: .now() + 30) == .success)
    }
    manager.register(first)
    manager.register(second)
    let thread = Thread { manager.pushUpdatedObject(User("1", "waiting")) }
    thread.start()
    entered.wait()
    manager.pushUpdatedObject(User("2", "pushed"))
    #expect(second.thing.name == "pushed")
    finished.signal()
  }

  @Test("Any number of threads may register, push and pull; calls of one owner never overlap")
  func threads() {
    let owners = (0..<4).map { _ in Owner(User("1", "Ada"), User("2", "Bob")) }
    let inside = Mutex(0)
    for owner in owners.prefix(1) {
      owner.onUpdate = { _ in
        let count = inside.withLock { count in
          count += 1
          return count
        }
        #expect(count == 1)
        inside.withLock { $0 -= 1 }
      }
    }
    for owner in owners { manager.register(owner) }
    let manager = manager
    let stage = DispatchQueue(label: "stage")
    let staged = Owner(User("1", "Ada"))
    manager.register(staged, on: stage)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for round in 0..<100 {
        let passing = Owner(User("1", "Ada"))
        manager.register(passing, on: stage)
        manager.pushUpdatedObject(User("1", "\(thread) \(round)"))
        manager.pushUpdatedObjects([User("1", "\(thread) \(round)!"), User("2", "b")])
        #expect(manager.pullUpdatedObject(for: User("2", "")).name == "b")
      }
    }
    stage.sync {}
    for owner in owners {
      #expect(owner.updates.count == 1600)
      #expect(owner.things[0].name == owners[0].things[0].name)
      #expect(owner.things[1].name == "b")
    }
    #expect(staged.thing.name == owners[0].things[0].name)
  }
}

@MainActor
private final class AuthorScreen: @MainActor ConsistentEnvironment {
  var author: Author

  init(_ author: Author) { self.author = author }

  var objects: [any ConsistentObject] { [author] }
  func update(with object: any ConsistentObject) { author = author.updated(with: object) }
}

@MainActor
private final class Screen: @MainActor ConsistentEnvironment {
  var user: User
  var names: [String] = []
  var onUpdate: () -> Void = {}

  init(_ user: User) {
    self.user = user
  }

  var objects: [any ConsistentObject] {
    MainActor.assertIsolated()
    return [user]
  }

  func update(with object: any ConsistentObject) {
    MainActor.assertIsolated()
    user = user.updated(with: object)
    names.append(user.name)
    onUpdate()
  }
}

private actor Home {
  let owner = Owner(User("1", "Ada"))

  func register(with manager: ConsistencyManager) {
    owner.onUpdate = { _ in self.assertIsolated() }
    manager.register(owner, isolatedTo: self)
  }

  func push(_ name: String, with manager: ConsistencyManager) {
    manager.pushUpdatedObject(User("1", name))
  }

  func pull(with manager: ConsistencyManager) -> String {
    manager.pullUpdatedObject(for: User("1", "")).name
  }

  var name: String { owner.thing.name }
}

private struct Counting: ConsistentObject {
  let id: String
  var user: User
  let reads: Counter

  var properties: [Property] {
    reads.count += 1
    return [("user", user)]
  }

  func setting(property: Property) -> Counting {
    Counting(id: id, user: property.value as? User ?? user, reads: reads)
  }
}
