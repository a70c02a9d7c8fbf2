import ConcordConsistency
import Synchronization
import Testing

@Suite("Who is told of a push, and of what")
struct TellingTests {
  let manager = ConsistencyManager()

  @Test("Only the owners whose objects a push touches")
  func touched() {
    let ada = Owner(User("1", "Ada"))
    let bob = Owner(User("2", "Bob"))
    let video = Owner(Video("v", "Film", likers: [User("1", "Ada")]))
    for owner in [ada, bob] { manager.register(owner) }
    manager.register(video)
    manager.pushUpdatedObject(User("1", "Ada L."))
    #expect((ada.updates.count, bob.updates.count, video.updates.count) == (1, 0, 1))
    // A film that nobody has, with a badge that nobody has, by a person whom somebody has.
    manager.pushUpdatedObject(Video("w", "Short", user: User("2", "Bob B.", badge: Badge(id: "b", title: "Gold"))))
    #expect((ada.updates.count, bob.updates.count, video.updates.count) == (1, 1, 1))
    #expect(bob.thing.name == "Bob B.")
  }

  @Test("Nobody, if a push changes nothing")
  func unchanged() {
    let owner = Owner(Video("v", "Film", user: User("1", "Ada", badge: Badge(id: "b", title: "Gold"))))
    manager.register(owner)
    manager.pushUpdatedObject(User("1", "Ada", badge: Badge(id: "b", title: "Gold")))
    manager.pushUpdatedObject(owner.thing)
    #expect(owner.updates.isEmpty)
  }

  @Test("A field that is not listed is a change")
  func unlistedField() {
    let owner = Owner(Photo(id: "p", name: "old"))
    manager.register(owner)
    manager.pushUpdatedObject(Photo(id: "p", name: "new"))
    #expect(owner.thing.name == "new")
    #expect(owner.updates.count == 1)
  }

  @Test("Owners that push what they have in didSet come to an end")
  func loop() {
    let owners = (0..<3).map { _ in Pushing(Padded(id: "1", name: "Ada"), manager) }
    for owner in owners { manager.register(owner) }
    manager.pushUpdatedObject(Padded(id: "1", name: "Ada L.", isNew: true))
    #expect(owners.map(\.object.name) == ["Ada L.", "Ada L.", "Ada L."])
    #expect(owners.allSatisfy { $0.updates <= 2 })
    owners[1].object = Padded(id: "1", name: "A. L.")
    #expect(owners.map(\.object.name) == ["A. L.", "A. L.", "A. L."])
    #expect(owners.allSatisfy { $0.updates <= 4 })
  }

  @Test("So does one that has an object which it never takes")
  func stubbornLoop() {
    let owner = Pushing(Padded(id: "1", name: "Ada"), manager)
    owner.others = [Badge(id: "b", title: "Silver")]
    manager.register(owner)
    manager.pushUpdatedObject(Badge(id: "b", title: "Gold"))
    manager.pushUpdatedObject(Padded(id: "1", name: "Ada L."))
    #expect(owner.object.name == "Ada L.")
    #expect(owner.updates <= 6)
  }

  @Test("An owner that looks for an object of a type gets each of them, as with the earlier system")
  func each() {
    let seen = Mutex<[String]>([])
    let owner = Looking([User("1", "Ada"), User("2", "Bob"), Badge(id: "b", title: "Silver")]) { object in
      if let user = object as? User { seen.withLock { $0.append(user.name) } }
    }
    manager.register(owner)
    let pushed: [any ConsistentObject] = [User("1", "A"), Badge(id: "b", title: "Gold"), User("2", "B")]
    manager.pushUpdatedObjects(pushed)
    #expect(seen.withLock { $0 } == ["A", "B"])
  }

  @Test("One that merges is called once, with all of them")
  func once() {
    let owner = Owner(User("1", "Ada"), User("2", "Bob"))
    manager.register(owner)
    manager.pushUpdatedObjects([User("1", "A"), User("2", "B"), User("3", "C")])
    #expect(owner.updates.count == 1)
    #expect(owner.things.map(\.name) == ["A", "B"])
  }

  @Test("Each of several objects comes with the states that count, whatever is in it")
  func eachIsCurrent() {
    let seen = Mutex<[String]>([])
    let owner = Looking([User("1", "Ada"), Video("v", "", user: User("1", "Ada"))]) { object in
      if let video = object as? Video { seen.withLock { $0.append(video.user?.name ?? "") } }
      if let user = object as? User { seen.withLock { $0.append(user.name) } }
    }
    manager.register(owner)
    let pushed: [any ConsistentObject] = [User("1", "new"), Video("v", "Film", user: User("1", "stale"))]
    manager.pushUpdatedObjects(pushed)
    #expect(seen.withLock { $0 } == ["new", "new"])
  }

  @Test("An owner that is slow to take a push misses none that comes meanwhile, also one that takes it back")
  @MainActor
  func slow() async {
    let owner = Slow(User("1", "old"))
    manager.register(owner)
    manager.pushUpdatedObject(User("1", "new"))
    manager.pushUpdatedObject(User("1", "old"))
    manager.pushUpdatedObject(User("1", "new"))
    manager.pushUpdatedObject(User("1", "old"))
    #expect(owner.user.name == "old")
    await owner.drain()
    #expect(owner.taken == ["new", "old", "new", "old"])
    // Once it has caught up, it is told of what changes something only.
    manager.pushUpdatedObject(User("1", "old"))
    #expect(owner.pending.isEmpty)
  }
}

@Suite("Owners that show what they own in one piece")
struct ShowingTests {
  @Test("Are told of the same, without a box for each object")
  func shown() {
    let manager = ConsistencyManager()
    let list = List((0..<100).map { Author(id: $0, name: "") })
    manager.register(list)
    manager.pushUpdatedObject(Author(id: 100, name: "new"))
    #expect(list.updates == 0)
    manager.pushUpdatedObject(Author(id: 99, name: "new"))
    manager.pushUpdatedObject(Author(id: 99, name: "new"))
    #expect(list.updates == 1)
    #expect(list.authors[99].name == "new")
    manager.pushUpdatedObjects([Author(id: 0, name: "first"), Author(id: 99, name: "")])
    #expect(list.updates == 2)
    #expect(list.authors.map(\.name).filter { !$0.isEmpty } == ["first"])
  }
}

// Unchecked because the test uses it on one thread.
private final class List: ConsistentEnvironment, @unchecked Sendable {
  var authors: [Author]
  var updates = 0

  init(_ authors: [Author]) { self.authors = authors }

  var objects: [any ConsistentObject] {
    Issue.record("each object is boxed")
    return authors
  }

  func showObjects(to look: inout ConsistentLook) { look.look(into: authors) }

  func update(with object: any ConsistentObject) {
    updates += 1
    authors = authors.updated(with: object)
  }
}

/// Has space between its fields, whose bits are nobody's.
private struct Padded: ConsistentObject {
  let id: String
  var isNew = false
  var name: String

  init(id: String, name: String, isNew: Bool = false) {
    self.id = id
    // A string of its own, so that equal names are at different addresses.
    self.name = String(name.map { $0 }) + String(repeating: " ", count: 0)
    self.isNew = isNew
  }

  var properties: [Property] { [] }
  func setting(property: Property) -> Padded { self }
}

// Unchecked because the test uses it on one thread.
private final class Pushing: ConsistentEnvironment, @unchecked Sendable {
  var updates = 0
  let manager: ConsistencyManager
  var object: Padded {
    didSet { manager.pushUpdatedObject(Padded(id: object.id, name: object.name, isNew: object.isNew)) }
  }

  init(_ object: Padded, _ manager: ConsistencyManager) {
    self.object = object
    self.manager = manager
  }

  var others: [any ConsistentObject] = []

  var objects: [any ConsistentObject] { [object] + others }

  func update(with object: any ConsistentObject) {
    updates += 1
    if updates < 100 { self.object = self.object.updated(with: object) }
  }
}

private final class Looking: ConsistentEnvironment, Sendable {
  let objects: [any ConsistentObject]
  let look: @Sendable (any ConsistentObject) -> Void

  init(_ objects: [any ConsistentObject], look: @escaping @Sendable (any ConsistentObject) -> Void) {
    self.objects = objects
    self.look = look
  }

  func update(with object: any ConsistentObject) { look(object) }
}

/// Takes what was pushed later, when it is asked to.
@MainActor
private final class Slow: @MainActor ConsistentEnvironment {
  var user: User
  var pending: [any ConsistentObject] = []
  var taken: [String] = []

  init(_ user: User) {
    self.user = user
  }

  var objects: [any ConsistentObject] { [user] }

  func update(with object: any ConsistentObject) {
    pending.append(object)
  }

  func drain() async {
    for object in pending {
      user = user.updated(with: object)
      taken.append(user.name)
    }
    pending = []
  }
}
