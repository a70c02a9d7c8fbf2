import Concord
import ConcordTestHeap
import Testing

@Suite("Weak memory")
struct WeakMemoryTests {
  let store = EntityStore(delivery: .immediate)

  private func isThere(_ id: Int) -> Bool { store.find(Tag.self, id: id) != nil }

  @Test("What nobody keeps is gone at once")
  func gone() {
    store.store(Tag(id: 0, text: 0))
    #expect(!isThere(0))
    store.store([Tag(id: 0, text: 0), Tag(id: 1, text: 1)])
    #expect(!isThere(0))
    #expect(!isThere(1))
  }

  @Test("An observer keeps its entity, and every copy of it does")
  func observer() {
    var first: EntityObserver<Tag>? = store.store(Tag(id: 0, text: 0))
    var second = first
    #expect(first?.value.text == 0)
    first = nil
    #expect(isThere(0))
    #expect(second?.value.text == 0)
    second = nil
    #expect(!isThere(0))
  }

  @Test("A found observer keeps it as well")
  func found() {
    var first: EntityObserver<Tag>? = store.store(Tag(id: 0, text: 0))
    var found = store.find(Tag.self, id: 0)
    first = nil
    #expect(first == nil)
    #expect(isThere(0))
    found = nil
    #expect(found == nil)
    #expect(!isThere(0))
  }

  @Test("A subscription keeps it until it ends")
  func subscription() {
    let subscription = store.store(Tag(id: 0, text: 0)).observe { _ in }
    #expect(isThere(0))
    subscription.pause()
    #expect(isThere(0))
    subscription.resume()
    subscription.unsubscribe()
    #expect(!isThere(0))
  }

  @Test("A subscription that is dropped ends")
  func droppedSubscription() {
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0))
    var subscription: Subscription? = tag.observe { log.append($0.text) }
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(subscription != nil)
    subscription = nil
    store.update(Tag.self, id: 0) { $0.text = 2 }
    #expect(log.values == [0, 1])
  }

  @Test("A living parent keeps its children, at every depth")
  func parents() {
    var top: EntityObserver<Person>? = store.store(
      Person(
        id: 0, name: 0, friends: [Person(id: 1, name: 0, partner: Person(id: 2, name: 0, tag: Tag(id: 0, text: 0)))]))
    #expect(isThere(0))
    #expect(store.find(Person.self, id: 2) != nil)
    #expect(top != nil)
    top = nil
    #expect(!isThere(0))
    for id in 0...2 { #expect(store.find(Person.self, id: id) == nil) }
  }

  @Test("A parent that leaves a child out lets it go")
  func leftOut() {
    let person = store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)))
    store.update(Person.self, id: 0) { $0.tag = nil }
    #expect(!isThere(0))
    withExtendedLifetime(person) {}
  }

  @Test("An alias keeps its entity, until it is removed or re-pointed")
  func alias() {
    let key: AliasKey<Tag> = "tag"
    store.store(Tag(id: 0, text: 0), named: key)
    #expect(isThere(0))
    store.store(Tag(id: 1, text: 0), named: key)
    #expect(!isThere(0))
    #expect(isThere(1))
    store.removeAlias(named: key)
    #expect(!isThere(1))
  }

  @Test("An alias of a collection keeps all of it")
  func collectionAlias() {
    let key: AliasKey<[Tag]> = "tags"
    store.store([Tag(id: 0, text: 0), Tag(id: 1, text: 0)], named: key)
    #expect(isThere(0) && isThere(1))
    store.update(named: key) { $0.removeFirst() }
    #expect(!isThere(0))
    #expect(isThere(1))
    store.removeAllAlias()
    #expect(!isThere(1))
  }

  @Test("Cycles keep nobody alive")
  func cycles() {
    var observer: EntityObserver<Person>? = store.store(
      Person(
        id: 0, name: 0, friends: [Person(id: 1, name: 0, friends: [Person(id: 0, name: 0)]), Person(id: 0, name: 0)]))
    #expect(store.find(Person.self, id: 1) != nil)
    #expect(observer != nil)
    observer = nil
    #expect(store.find(Person.self, id: 0) == nil)
    #expect(store.find(Person.self, id: 1) == nil)
  }

  @Test("A cycle with an observer at any place of it lives, all of it")
  func observedCycle() {
    var observer: EntityObserver<Person>? = store.store(
      Person(
        id: 0, name: 0,
        friends: [
          Person(
            id: 1, name: 0,
            friends: [Person(id: 2, name: 0, friends: [Person(id: 0, name: 0, friends: [Person(id: 1, name: 0)])])])
        ]))
    var other = store.find(Person.self, id: 2)
    #expect(observer != nil)
    observer = nil
    for id in 0...2 { #expect(store.find(Person.self, id: id) != nil) }
    #expect(other?.value.id == 2)
    other = nil
    for id in 0...2 { #expect(store.find(Person.self, id: id) == nil) }
  }

  @Test("Inside a transaction nothing is let go of before its end")
  func transaction() {
    store.transaction { store in
      store.store(Tag(id: 0, text: 0))
      #expect(isThere(0))
    }
    #expect(!isThere(0))
  }

  @Test("An observer that waits keeps what comes")
  func waiting() {
    var waiting: EntityObserver<Tag?>? = store.observer(Tag.self, id: 0)
    store.store(Tag(id: 0, text: 1))
    #expect(waiting?.value == Tag(id: 0, text: 1))
    waiting = nil
    #expect(!isThere(0))
  }

  @Test("A values sequence keeps its entity as long as it is iterated")
  func sequence() async {
    // Functions of their own, at whose end what they hold is gone for certain.
    func begin() -> some AsyncIteratorProtocol<Tag, Never> {
      store.store(Tag(id: 0, text: 0)).values.makeAsyncIterator()
    }
    func iterate() async {
      var iterator = begin()
      #expect(await iterator.next(isolation: nil)?.text == 0)
      #expect(isThere(0))
      withExtendedLifetime(iterator) {}
    }
    await iterate()
    #expect(!isThere(0))
  }

  @Test("Observers may outlive the store's last reference")
  func storeGone() {
    var store: EntityStore? = EntityStore(delivery: .immediate)
    let observer = store?.store(Tag(id: 0, text: 1))
    let subscription = observer?.observe { _ in }
    store = nil
    #expect(store == nil)
    #expect(observer?.value.text == 1)
    subscription?.unsubscribe()
  }

  private final class Token: Sendable {}

  private struct Member: Aggregate {
    let id: Int
    let token: Token
    var friends: [Member] = []
    var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.friends)] }
  }

  @Test("A store that goes leaves nothing: what was named, what is in cycles, what was removed, what was never stored")
  func nothingLeft() {
    weak var (named, inCycle, below, removed): (Token?, Token?, Token?, Token?)
    weak var shared: EntityStore?
    do {
      let store = EntityStore(delivery: .immediate)
      let tokens = (0..<4).map { _ in Token() }
      (named, inCycle, below, removed) = (tokens[0], tokens[1], tokens[2], tokens[3])
      store.store(Member(id: 0, token: tokens[0]), named: AliasKey<Member>("one"))
      store.store([Member(id: 4, token: tokens[0])], named: AliasKey<[Member]>("some"))
      let second = Member(id: 2, token: tokens[2], friends: [Member(id: 1, token: tokens[1])])
      let first = store.store(Member(id: 1, token: tokens[1], friends: [second]))
      let third = store.store(Member(id: 3, token: tokens[3]))
      store.remove(Member.self, id: 3)
      let never = store.observer(Tag.self, id: 7)
      shared = store
      withExtendedLifetime((first, third, never)) {
        #expect(named != nil && inCycle != nil && below != nil && removed != nil && shared != nil)
      }
    }
    #expect(shared == nil)
    #expect(named == nil && inCycle == nil && below == nil && removed == nil)
  }

  @Test("What goes leaves nothing behind in the store, in a cycle neither", arguments: [false, true])
  func nothingLeftInStore(isCycle: Bool) {
    weak var (first, second): (Token?, Token?)
    let store = EntityStore(delivery: .immediate)
    do {
      let tokens = (Token(), Token())
      (first, second) = tokens
      let friends = isCycle ? [Member(id: 1, token: tokens.0)] : []
      let observer = store.store(
        Member(id: 1, token: tokens.0, friends: [Member(id: 2, token: tokens.1, friends: friends)]))
      withExtendedLifetime(observer) { #expect(first != nil && second != nil) }
    }
    #expect(first == nil && second == nil)
    withExtendedLifetime(store) {}
  }

  @Test("A named entity that holds an observer of its own store keeps all of it, until the name is removed")
  func cycleThroughName() {
    struct Row: Identifiable, Sendable {
      let id: Int
      let token: Token
      var observer: EntityObserver<Tag>
    }
    weak var token: Token?
    for isRemoved in [false, true] {
      do {
        let store = EntityStore(delivery: .immediate)
        let row = Row(id: 0, token: Token(), observer: store.store(Tag(id: 0, text: 0)))
        token = row.token
        store.store(row, named: AliasKey<Row>("row"))
        if isRemoved { store.removeAllAlias() }
      }
      #expect((token == nil) == isRemoved)
    }
  }

  @Test("Stores that come and go take no memory")
  func storesComeAndGo() async {
    await #expect(processExitsWith: .success) {
      func comeAndGo(_ count: Int) {
        for _ in 0..<count {
          let store = EntityStore(delivery: .immediate)
          let observer = store.store(Person(id: 1, name: 0, tag: Tag(id: 1, text: 0)))
          let member = store.store(Member(id: 1, token: Token(), friends: [Member(id: 2, token: Token())]))
          withExtendedLifetime((observer, member)) {}
        }
      }
      comeAndGo(100)
      let before = heapInUse()
      comeAndGo(1_000)
      let after = heapInUse()
      #expect(before == 0 || after - before < 100_000, "\(after - before) bytes for 1,000 stores")
    }
  }

  @Test("An entity may hold observers and subscriptions, which go with it")
  func observersInside() {
    struct Row: Identifiable, Sendable {
      let id: Int
      var observer: EntityObserver<Tag>
      var subscription: Subscription
    }
    let log = Log<Int>()
    func row(_ tag: Int) -> Row {
      let observer = store.store(Tag(id: tag, text: tag))
      return Row(id: 0, observer: observer, subscription: observer.observe { log.append($0.text) })
    }
    var observer: EntityObserver<Row>? = store.store(row(1))
    store.store(row(2))
    #expect(!isThere(1))
    store.update(Row.self, id: 0) { $0 = row(3) }
    #expect(!isThere(2))
    #expect(isThere(3))
    #expect(observer?.value.observer.value.text == 3)
    store.update(Tag.self, id: 3) { $0.text = 4 }
    #expect(log.values == [1, 2, 3, 4])
    observer = nil
    #expect(!isThere(3))
    #expect(store._checkInvariants().isEmpty)
  }

  @Test("After a peak nothing is left")
  func peak() {
    for _ in 0..<3 {
      var observers = (0..<2_000).map { store.store(Person(id: $0, name: 0, tag: Tag(id: $0, text: 0))) }
      withExtendedLifetime(observers) { #expect(store._statistics().entities == 4_000) }
      observers.removeAll()
      #expect(store._statistics().entities == 0)
    }
    #expect(store._statistics().nodes == 0)
    #expect(store._checkInvariants().isEmpty)
  }
}
