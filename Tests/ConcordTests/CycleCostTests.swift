import Concord
import Synchronization
import Testing

/// How often the store calls what belongs to a guest.
private let work = Counter()

private struct Guest: Aggregate, Equatable {
  let id: Int
  var name = 0
  var friends: [Guest] {
    get {
      work.increment()
      return stored
    }
    set {
      work.increment()
      stored = newValue
    }
  }
  private var stored: [Guest] = []

  init(_ id: Int) { self.id = id }

  static func == (lhs: Guest, rhs: Guest) -> Bool {
    work.increment()
    return lhs.id == rhs.id && lhs.name == rhs.name && lhs.stored == rhs.stored
  }

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    work.increment()
    return [.init(\.friends)]
  }

  var size: Int { stored.reduce(1) { $0 + $1.size } }
  var known: [Guest] { stored }
}

// One after the other, since all of them count in one place.
@Suite("What a cycle costs is what changed, not how large it is", .serialized)
struct CycleCostTests {
  private let store = EntityStore(delivery: .immediate)

  /// Each knows the next ones, round and round.
  private func ring(_ count: Int, friends: Int) -> [EntityObserver<Guest>] {
    let guests = (0..<count).map { store.store(Guest($0)) }
    for id in 0..<count {
      let others = (1...friends).map { guests[(id + $0 * $0) % count].value }.filter { $0.id != id }
      store.update(Guest.self, id: id) { $0.friends = others }
    }
    return guests
  }

  private func counted(_ body: () -> Void) -> Int {
    let before = work.value
    body()
    return work.value - before
  }

  @Test("A value is no larger than its own relations", arguments: [20, 60, TestOptions.isLong ? 2_000 : 500])
  func size(count: Int) {
    let guests = ring(count, friends: 5)
    #expect(guests.allSatisfy { $0.value.size <= 6 })
    #expect(store._checkInvariants() == [])
  }

  @Test("Updating one and reading it does not depend on how many there are")
  func updateAndRead() {
    func cost(_ count: Int) -> Int {
      let guests = ring(count, friends: 5)
      _ = guests.map(\.value)
      defer { store.removeAll() }
      return counted {
        for text in 1...10 {
          store.update(Guest.self, id: 3) { $0.name = text }
          _ = guests[3].value
          _ = guests[count / 2].value
        }
      }
    }
    let (few, many) = (cost(50), cost(200))
    #expect(many <= few * 3 / 2, "\(few) calls for 50, \(many) for 200")
  }

  @Test("With some of them observed, it depends on who shows the one that changed")
  func observed() {
    func cost(_ count: Int) -> Int {
      let guests = ring(count, friends: 5)
      let told = Counter()
      let subscriptions = guests.prefix(20).map { $0.observe { _ in told.increment() } }
      defer {
        for subscription in subscriptions { subscription.unsubscribe() }
        store.removeAll()
      }
      return counted { for text in 1...10 { store.update(Guest.self, id: 10) { $0.name = text } } }
    }
    let (few, many) = (cost(50), cost(200))
    #expect(many <= few * 3 / 2, "\(few) calls for 50, \(many) for 200")
  }

  // Each of the others shows the one that changed, by a computed property, whose elements all have to be looked at.
  @Test("When all know each other and all are observed, one update costs no more than what they show")
  func clique() {
    func cost(_ count: Int) -> Int {
      let guests = (0..<count).map { store.store(Guest($0)) }
      for id in 0..<count {
        let others = guests.map(\.value).filter { $0.id != id }
        store.update(Guest.self, id: id) { $0.friends = others }
      }
      let told = Counter()
      let subscriptions = guests.map { $0.observe { _ in told.increment() } }
      defer {
        for subscription in subscriptions { subscription.unsubscribe() }
        store.removeAll()
      }
      let before = told.value
      let cost = counted { store.update(Guest.self, id: 1) { $0.name = 1 } }
      #expect(told.value - before == count)
      #expect(guests.allSatisfy { $0.value.size == count })
      return cost
    }
    let (few, many) = (cost(6), cost(24))
    #expect(many <= few * 6, "\(few) calls for 6, \(many) for 24")
  }

  @Test("Opening and closing a ring costs what the ring is, not what it was times what it is")
  func openedAndClosed() {
    func cost(_ count: Int) -> Int {
      let guests = ring(count, friends: 1)
      _ = guests.map(\.value)
      defer { store.removeAll() }
      return counted {
        store.update(Guest.self, id: 0) { $0.friends = [] }
        _ = guests[1].value
        store.update(Guest.self, id: 0) { [one = guests[1].value] in $0.friends = [one] }
        _ = guests[count - 1].value
      }
    }
    let (few, many) = (cost(16), cost(64))
    #expect(many <= few * 6, "\(few) calls for 16, \(many) for 64")
  }

  // Counted: what a guest is asked for, and so what the store brings up to date.
  @Test("A friendship in a graph of people costs what changes, whatever their number")
  func friendship() {
    func cost(_ count: Int) -> Int {
      let guests = ring(count, friends: 5)
      _ = guests.map(\.value)
      defer { store.removeAll() }
      let known = guests[count / 2].value
      return counted {
        store.update(Guest.self, id: 3) { $0.friends += [known] }
        store.update(Guest.self, id: 4) { $0.friends += [Guest(count)] }
        store.update(Guest.self, id: 3) { $0.friends.removeLast() }
        _ = guests[3].value
      }
    }
    let (few, many) = (cost(60), cost(240))
    #expect(many <= few * 3 / 2, "\(few) calls for 60, \(many) for 240")
  }
}

@Suite("What parents cost beside a child that changes", .serialized)
struct ParentCostTests {
  private struct Author: Identifiable, Equatable {
    let id: Int
    var posts = 0
  }

  private struct Post: Aggregate, Equatable {
    let id: Int
    var author: Author
    static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { [.init(\.author)] }
    var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.author)] }
  }

  enum Way: CaseIterable, Sendable { case stored, updated, inTransaction, named }

  /// Stores posts, each with the newest count of its author.
  ///
  /// - Returns: the greatest number of posts that the next change of the author had to mark.
  private func marked(_ count: Int, _ way: Way) -> Int {
    let store = EntityStore(delivery: .immediate)
    var kept: [EntityObserver<Post>] = []
    var most = 0
    func add(_ store: EntityStore) {
      for id in 0..<count {
        let post = Post(id: id, author: Author(id: 0, posts: id))
        switch way {
        case .named: store.store(post, named: AliasKey<Post>("\(id)"))
        case .stored: kept.append(store.store(post))
        case .updated, .inTransaction:
          kept.append(store.store(post))
          store.update(Author.self, id: 0) { $0.posts += 1 }
        }
        most = max(most, store._mostUnmarkedParents())
      }
    }
    if way == .inTransaction { store.transaction { add($0) } } else { add(store) }
    let last = store.value(Author.self, id: 0)?.posts
    #expect(last == (way == .stored || way == .named ? count - 1 : count))
    #expect(store.value(Post.self, id: 0)?.author.posts == last)
    #expect(store._checkInvariants() == [])
    return most
  }

  @Test(
    "A mark that is set costs once: a change marks the parents that came since the last one", arguments: Way.allCases)
  func posts(way: Way) {
    #expect(marked(200, way) <= 2)
  }
}
