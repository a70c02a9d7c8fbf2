import Concord
import ConcordConsistency
import Testing

@Suite("A removed object goes everywhere")
struct RemovalTests {
  let ada = User("1", "Ada")
  let bob = User("2", "Bob")
  let manager = ConsistencyManager()
  let store = EntityStore(delivery: .immediate)

  private func removing(_ object: any ConsistentObject) -> ConsistentBatch { ConsistentBatch([], removing: [object]) }

  @Test("Out of optionals, arrays and dictionaries, at every depth; what is beside it stays")
  func everyPlace() {
    let video = Video("v", "Film", user: ada, likers: [ada, bob, ada], byCity: ["Paris": [ada, bob], "Rome": [ada]])
    let left = video.updated(with: removing(ada))
    #expect(left.user == nil)
    #expect(left.likers.map(\.name) == ["Bob"])
    #expect(left.likersByCity.mapValues { $0.map(\.name) } == ["Paris": ["Bob"], "Rome": []])
    #expect(left.title == "Film")
    let badge = Badge(id: "b", title: "Gold")
    let deep = [[Video("v", "", user: User("1", "Ada", badge: badge))]].updated(with: removing(badge))
    #expect(deep[0][0].user?.name == "Ada")
    #expect(deep[0][0].user?.badge == nil)
  }

  @Test("Out of collections of every kind, which keep what they are")
  func collections() {
    let users = [bob, ada, bob]
    #expect(users.updated(with: removing(ada)).count == 2)
    #expect(ContiguousArray(users).updated(with: removing(ada)).map(\.name) == ["Bob", "Bob"])
    let slice = users[1...].updated(with: removing(ada))
    #expect(slice.map(\.name) == ["Bob"])
    #expect(slice.startIndex == 1)
    #expect(["a": ada, "b": bob].updated(with: removing(ada)).keys.sorted() == ["b"])
    #expect(Optional(ada).updated(with: removing(ada)) == nil)
    #expect([Optional(ada), bob].updated(with: removing(ada)).map { $0?.name } == [nil, "Bob"])
    let mixed: [any ConsistentObject] = [ada, Video("v", "", user: ada), bob]
    let left = mixed.updated(with: removing(ada))
    #expect(left.count == 2)
    #expect((left[0] as? Video)?.user == nil)
  }

  @Test("Out of generated objects, and long lists of them")
  func generated() {
    let authors = (0..<100).map { Author(id: $0, name: "\($0)") }
    let left = authors.updated(with: removing(authors[7]))
    #expect(left.map(\.id) == (0..<100).filter { $0 != 7 })
    #expect(Set(authors).updated(with: removing(authors[7])).count == 99)
    var book = Book(id: .init(), title: "", author: authors[1], editors: Array(authors[2..<40]), translator: authors[3])
    book.anything = [authors[3], authors[4]]
    let updated = book.updated(with: removing(authors[3]))
    #expect(updated.editors.count == 37)
    #expect(updated.translator == nil)
    #expect(updated.anything.count == 1)
    #expect(updated.author.id == 1)
  }

  @Test("What cannot do without it goes with it, up to where something can")
  func required() {
    let channel = Channel(id: "c", owner: ada, page: Page(things: [ada, bob], cover: .user(bob)), covers: [.user(ada)])
    #expect([channel].updated(with: removing(ada)).isEmpty)
    // A case cannot do without its payload, and the page not without its cover; the optional one is left out.
    #expect([channel].updated(with: removing(bob)).isEmpty)
    let other = Channel(id: "c", owner: bob, page: Page(things: [ada], cover: .none), covers: [.user(ada), .user(bob)])
    let left = [other].updated(with: removing(ada))
    #expect(left.first?.page.things.isEmpty == true)
    #expect(left.first?.covers.count == 2)
    guard case nil? = left.first?.covers.first else { Issue.record("the cover is there"); return }
    let author = Author(id: 1, name: "")
    let book = Book(id: .init(), title: "", author: author)
    var outer = Book(id: .init(), title: "outer", author: Author(id: 2, name: ""))
    outer.byLanguage = ["en": book]
    #expect(outer.updated(with: removing(author)).byLanguage?.isEmpty == true)
    #expect([book].updated(with: removing(author)).isEmpty)
  }

  @Test("Out of what is pushed together with it, and whatever state of it is pushed")
  func together() {
    let batch = ConsistentBatch(
      [User("1", "newer"), Video("v", "new", user: ada, likers: [ada, bob])], removing: [ada])
    let left = [Video("v", "old", user: ada)].updated(with: batch)
    #expect(left[0].title == "new")
    #expect(left[0].user == nil)
    #expect(left[0].likers.map(\.name) == ["Bob"])
    #expect([ada].updated(with: batch).isEmpty)
    // An object that cannot do without it is pushed in vain.
    let channel = Channel(id: "c", owner: ada, page: Page(things: [], cover: .none))
    let old = Channel(id: "c", owner: bob, page: Page(things: [], cover: .none))
    #expect([old].updated(with: ConsistentBatch([channel], removing: [ada])).isEmpty)
  }

  @Test("In diamonds, chains and rings of instances")
  func shapes() {
    let leaf = Node("leaf", "", [])
    let diamond = (0..<40).reduce(leaf) { below, layer in Node("\(layer)", "", [below, below]) }
    var node = diamond.updated(with: removing(leaf))
    for _ in 0..<39 { node = node.friends[1] }
    #expect(node.friends.isEmpty)
    var chain = (0..<10_000).reduce(leaf) { below, layer in Node("\(layer)", "", [below]) }.updated(
      with: removing(leaf))
    while let next = chain.friends.first { chain = next }
    #expect(chain.id == "0")
    let (a, b) = (Person("a", "Ada"), Person("b", "Bob"))
    (a.friends, b.friends) = ([b], [a, b])
    #expect(a.updated(with: removing(b)).friends.isEmpty)
  }

  @Test("A container of one's own decides for itself")
  func ownContainer() {
    let pair = Pair(left: ada, right: bob)
    #expect(pair.updated(with: removing(ada)).left == nil)
    #expect(pair.updated(with: removing(ada)).right?.name == "Bob")
    #expect(pair.updated(with: User("2", "Bob B.")).right?.name == "Bob B.")
    #expect(Shelf([ada, bob]).updated(with: removing(ada)).map(\.name) == ["Bob"])
    #expect(Shelf([ada, bob]).updated(with: User("2", "Bob B.")).map(\.name) == ["Ada", "Bob B."])
    #expect(
      Video("v", "", user: ada).updated(with: Wrapping(id: "w", shelf: Shelf([User("1", "A")]))).user?.name == "A")
  }

  @Test("Owners lose it, and one to whom it belongs is told so")
  func owners() {
    let users = Owner(ada, bob)
    let video = Owner(Video("v", "Film", user: ada))
    let channel = Owner(Channel(id: "c", owner: ada, page: Page(things: [], cover: .none)))
    let stranger = Owner(bob)
    for owner in [users, stranger] { manager.register(owner) }
    manager.register(video)
    manager.register(channel)
    // Only type and id count.
    manager.pushRemovedObject(User("1", "whoever"))
    #expect(users.things.map(\.name) == ["Bob"])
    #expect(users.removed.compactMap { ($0 as? User)?.name } == ["Ada"])
    #expect(video.thing.user == nil)
    #expect(video.removed.isEmpty)
    #expect(channel.things.isEmpty)
    #expect(channel.removed.map(\.id) == ["c"])
    #expect(stranger.updates.isEmpty)
    manager.pushRemovedObject(ada)
    #expect((users.updates.count, video.updates.count, channel.updates.count) == (1, 1, 1))
    // A push does not bring it back.
    manager.pushUpdatedObject(ada)
    #expect(users.updates.count == 1)
  }

  @Test("An owner that keeps it is told each time, and one that pushes it while it is told comes to an end")
  func kept() {
    let owner = Keeping(ada)
    owner.onRemoval = { [manager] in manager.pushRemovedObject($0) }
    manager.register(owner)
    manager.pushRemovedObject(ada)
    #expect(owner.removals == 1)
    manager.pushRemovedObject(ada)
    #expect(owner.removals == 2)
    manager.pushUpdatedObject(User("1", "Ada L."))
    #expect(owner.user.name == "Ada L.")
    let before = owner.updates
    manager.pushUpdatedObject(bob)
    #expect(owner.updates == before)
    manager.pushRemovedObjects([ada, bob])
    #expect(owner.removals == 3)
  }

  @Test("An owner that has it again is told again")
  func again() {
    let owner = Owner(ada, bob)
    manager.register(owner)
    manager.pushRemovedObjects([ada, User("3", "Cy")])
    #expect(owner.things.map(\.name) == ["Bob"])
    owner.things.append(ada)
    manager.pushRemovedObject(ada)
    #expect(owner.things.map(\.name) == ["Bob"])
    #expect(owner.removed.count == 2)
    // So is one that takes it away later, and has it again then.
    let slow = Later([Video("v", "", user: ada)])
    manager.register(slow)
    manager.pushRemovedObject(ada)
    #expect(slow.videos[0].user != nil)
    slow.drain()
    #expect(slow.videos[0].user == nil)
    slow.videos[0].user = ada
    manager.pushRemovedObject(ada)
    slow.drain()
    #expect(slow.videos[0].user == nil)
  }

  @Test("An owner that does not merge batches is told of its own")
  func notMerging() {
    let owner = Keeping(ada)
    owner.merges = false
    manager.register(owner)
    manager.pushRemovedObjects([bob, ada])
    #expect(owner.removals == 1)
  }

  @Test("Stores lose it, wherever it stands, as one transaction")
  func stores() {
    manager.register(store)
    let writers = (0..<3).map { Author(id: $0, name: "\($0)") }
    let all = store.store(writers, named: "all")
    let novel = store.store(Story(id: "s", author: writers[0], editors: writers))
    let owner = Owner(Story(id: "s", author: writers[0], editors: writers))
    manager.register(owner)
    manager.pushRemovedObjects([writers[1], writers[2]])
    #expect(all.value.map(\.id) == [0])
    #expect(novel.value.editors.map(\.id) == [0])
    #expect(owner.thing.editors.map(\.id) == [0])
    #expect(owner.updates.count == 1)
    #expect(store.find(Author.self, id: 1) == nil)
    // The story cannot do without its author, in the store or at an owner.
    manager.pushRemovedObject(writers[0])
    #expect(store.find(Story.self, id: "s") == nil)
    #expect(owner.things.isEmpty)
    #expect(owner.removed.count == 1)
    #expect(store._checkInvariants().isEmpty)
  }

  @Test("What is removed from a store, its owners lose, and other stores")
  func removedFromStore() {
    let second = EntityStore(delivery: .immediate)
    manager.register(store)
    manager.register(second)
    let authors = (0..<3).map { Author(id: $0, name: "\($0)") }
    let kept = (
      store.store(authors, named: "all"), second.store(authors, named: "all"),
      store.store(Story(id: "s", author: authors[0], editors: authors))
    )
    let list = Owner(authors[0], authors[1], authors[2])
    let story = Owner(Story(id: "s", author: authors[0], editors: authors))
    manager.register(list)
    manager.register(story)
    store.transaction(context: "cleaner") { tx in
      tx.update(Author.self, id: 2) { $0.name = "two" }
      tx.remove(Author.self, id: 1)
    }
    #expect(list.things.map(\.name) == ["0", "two"])
    #expect(list.removed.count == 1)
    #expect(list.updates.count == 1)
    #expect(story.thing.editors.map(\.name) == ["0", "two"])
    #expect(second.value(Author.self, id: 1) == nil)
    #expect(second.value(Author.self, id: 2)?.name == "two")
    // The story goes with its author.
    second.remove(Author.self, id: 0)
    #expect(store.value(Story.self, id: "s") == nil)
    #expect(story.things.isEmpty)
    #expect(list.things.map(\.name) == ["two"])
    store.removeAll()
    #expect(list.things.isEmpty)
    #expect(second.value(Author.self, id: 2) == nil)
    withExtendedLifetime(kept) {}
  }

  @Test("What a store lets go stays with the owners, also what leaves with something removed")
  func released() {
    manager.register(store)
    let authors = (0..<2).map { Author(id: $0, name: "\($0)") }
    let list = Owner(authors[0], authors[1])
    manager.register(list)
    do {
      let observer = store.store(authors[0])
      #expect(observer.value.name == "0")
    }
    #expect(store.find(Author.self, id: 0) == nil)
    let story = store.store(Story(id: "s", author: authors[0], editors: [authors[1]]))
    store.update(Story.self, id: "s") { $0.editors = [] }
    #expect(store.find(Author.self, id: 1) == nil)
    store.remove(Story.self, id: "s")
    #expect(store.find(Author.self, id: 0) == nil)
    #expect(list.things.map(\.name) == ["0", "1"])
    #expect(list.updates.isEmpty)
    withExtendedLifetime(story) {}
  }

  @Test("A removal that is taken back removes nothing")
  func takenBack() {
    struct Failure: Error {}
    manager.register(store)
    let author = store.store(Author(id: 1, name: "Ada"))
    let owner = Owner(Author(id: 1, name: "Ada"))
    manager.register(owner)
    try? store.transaction { tx in
      tx.remove(Author.self, id: 1)
      throw Failure()
    }
    #expect(owner.things.count == 1)
    #expect(author.value.name == "Ada")
  }

  @Test("A store that is told of a new part and of the removal of the old one keeps what had it")
  func replaced() {
    manager.register(store)
    let (old, new) = (Author(id: 1, name: "old"), Author(id: 2, name: "new"))
    let story = store.store(Story(id: "s", author: old, editors: []))
    let owner = Owner(Story(id: "s", author: old, editors: []))
    manager.register(owner)
    owner.onUpdate = { [manager] object in
      guard object is Story else { return }
      manager.pushRemovedObject(Author(id: 1, name: ""))
    }
    manager.pushUpdatedObject(Story(id: "s", author: new, editors: []))
    #expect(story.value.author == new)
    #expect(owner.thing.author == new)
    #expect(store.find(Author.self, id: 1) == nil)
  }
}

/// Keeps its user, whatever happens.
// Unchecked because the tests use it on one thread.
private final class Keeping: ConsistentEnvironment, @unchecked Sendable {
  var user: User
  var merges = true
  var updates = 0
  var removals = 0
  var onRemoval: (any ConsistentObject) -> Void = { _ in }

  init(_ user: User) { self.user = user }

  var objects: [any ConsistentObject] { [user] }

  func update(with object: any ConsistentObject) {
    updates += 1
    if merges, updates < 100 { user = user.updated(with: object) }
  }

  func objectWasRemoved(_ object: any ConsistentObject) {
    removals += 1
    if removals < 100 { onRemoval(object) }
  }
}

/// Merges later.
// Unchecked because the test uses it on one thread.
private final class Later: ConsistentEnvironment, @unchecked Sendable {
  var videos: [Video]
  private var pending: [any ConsistentObject] = []

  init(_ videos: [Video]) { self.videos = videos }

  var objects: [any ConsistentObject] { videos }
  func update(with object: any ConsistentObject) { pending.append(object) }

  func drain() {
    for object in pending { videos = videos.updated(with: object) }
    pending = []
  }
}

/// An aggregate to a store, written by hand to a manager.
struct Story: Aggregate, ConsistentObject {
  let id: String
  var title = ""
  var author: Author
  var editors: [Author]

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Story>] { [.init(\.author), .init(\.editors)] }
  var properties: [Property] { [("title", title), ("author", author), ("editors", editors)] }

  func setting(property: Property) -> Story {
    var copy = self
    switch property.label {
    case "title": if let value = property.value as? String { copy.title = value }
    case "author": if let value = property.value as? Author { copy.author = value }
    case "editors": if let value = property.value as? [Author] { copy.editors = value }
    default: break
    }
    return copy
  }
}

/// A container that can do without either.
private struct Pair: ConsistentValue {
  var left: User?
  var right: User?

  static func declareConsistentTypes(in types: inout ConsistentTypes) { types.include(User.self) }

  func visitConsistentObjects(_ visitor: ConsistentVisitor) {
    visitor.visit(left)
    visitor.visit(right)
  }

  func merged(by merge: ConsistentMerge) -> Pair? {
    var copy = self
    for side in [\Pair.left, \Pair.right] {
      guard let user = self[keyPath: side] else { continue }
      switch merge.fate(of: user) {
      case .stays: break
      case .changes(let newer): copy[keyPath: side] = newer
      case .goes: copy[keyPath: side] = nil
      }
    }
    return copy
  }
}

/// A collection for which nothing is written.
private struct Shelf: ConsistentCollection, MutableCollection, RangeReplaceableCollection, Sendable {
  private var users: [User] = []
  init() {}
  var startIndex: Int { users.startIndex }
  var endIndex: Int { users.endIndex }
  func index(after index: Int) -> Int { index + 1 }

  subscript(index: Int) -> User {
    get { users[index] }
    set { users[index] = newValue }
  }

  mutating func replaceSubrange<C: Collection>(_ range: Range<Int>, with new: C) where C.Element == User {
    users.replaceSubrange(range, with: new)
  }
}

private struct Wrapping: ConsistentObject {
  let id: String
  var shelf: Shelf
  var properties: [Property] { [("shelf", shelf)] }
  func setting(property: Property) -> Wrapping { self }
}
