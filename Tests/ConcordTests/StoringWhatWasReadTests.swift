import Concord
import Testing

/// Knows others in every way one can.
private struct Friend: Aggregate, Equatable {
  let id: Int
  var name = 0
  var friends: [Friend] = []
  var byName: [String: Friend] = [:]
  var line: ContiguousArray<Friend> = []
  var rest: [Friend]?
  var tag: Tag?
  var tags: [Tag] = []
  var best: Friend? {
    get { bestBox.first }
    set { bestBox = newValue.map { [$0] } ?? [] }
  }

  // A struct cannot contain itself but through something that allocates.
  private var bestBox: [Friend] = []

  init(_ id: Int, _ name: Int = 0, friends: [Friend] = [], tag: Tag? = nil) {
    (self.id, self.name, self.friends, self.tag) = (id, name, friends, tag)
  }

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    [
      .init(\.friends), .init(\.byName), .init(\.line), .init(\.rest), .init(\.tag), .init(\.tags), .init(\.best),
    ]
  }
}

private struct Ring: Aggregate, Equatable {
  let id: Int
  var host: Friend
  var guests: [Friend] = []
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.host), .init(\.guests)] }
}

@Suite("Nothing is lost by storing what was read")
struct StoringWhatWasReadTests {
  private let store = EntityStore(delivery: .immediate)

  /// Emma and Harriet, friends of each other; Harriet also knows Jane, who knows nobody.
  private func emmaAndHarriet() -> (emma: EntityObserver<Friend>, harriet: EntityObserver<Friend>) {
    let emma = store.store(Friend(0, tag: Tag(id: 0, text: 0)))
    let harriet = store.store(Friend(1, friends: [emma.value, Friend(2)], tag: Tag(id: 1, text: 0)))
    store.update(Friend.self, id: 0) { $0.friends = [harriet.value] }
    return (emma, harriet)
  }

  private func expectFriendships(_ emma: EntityObserver<Friend>, _ harriet: EntityObserver<Friend>) {
    #expect(emma.value.friends.map(\.id) == [1])
    #expect(harriet.value.friends.map(\.id) == [0, 2])
    #expect(store._checkInvariants() == [])
  }

  @Test("A friend that was read inside, changed and stored keeps her friends")
  func friendOfFriend() {
    let (emma, harriet) = emmaAndHarriet()
    var read = emma.value.friends[0]
    #expect(read.friends.isEmpty)
    read.name = 5
    store.store(read)
    #expect(harriet.value.name == 5)
    #expect(emma.value.friends.first?.name == 5)
    expectFriendships(emma, harriet)
  }

  @Test("Also as a copy of a copy, in other variables, arrays and structs")
  func copies() {
    let (emma, harriet) = emmaAndHarriet()
    let array = [emma.value.friends[0]]
    let dictionary = ["harriet": array[0]]
    struct Screen { var friend: Friend? }
    var screen = Screen(friend: dictionary["harriet"])
    screen.friend?.name = 6
    let other = screen
    if let friend = other.friend { store.store(friend) }
    store.store(array + [])
    #expect(harriet.value.name == 0)
    expectFriendships(emma, harriet)
    store.store(
      dictionary.values.map { friend in
        var friend = friend
        friend.name = 7
        return friend
      })
    #expect(harriet.value.name == 7)
    expectFriendships(emma, harriet)
  }

  @Test("Also when it is stored inside another entity, which is in no cycle")
  func insideAnother() {
    let (emma, harriet) = emmaAndHarriet()
    var read = emma.value.friends[0]
    read.name = 8
    let circle = store.store(Ring(id: 0, host: read, guests: [harriet.value.friends[0], read]))
    #expect(circle.value.host.name == 8)
    #expect(circle.value.host.friends.map(\.id) == [0, 2])
    #expect(circle.value.guests.map(\.id) == [0, 1])
    #expect(circle.value.guests.first?.friends.map(\.id) == [1])
    expectFriendships(emma, harriet)
  }

  @Test("Also in another store's entity, where she is new")
  func otherStore() {
    let (emma, harriet) = emmaAndHarriet()
    let other = EntityStore(delivery: .immediate)
    let read = other.store(emma.value.friends[0])
    #expect(read.value.id == 1)
    #expect(read.value.friends.isEmpty)
    #expect(other._checkInvariants() == [])
    other.update(Friend.self, id: 1) { $0.friends.append(Friend(9)) }
    #expect(read.value.friends.map(\.id) == [9])
    expectFriendships(emma, harriet)
  }

  @Test("Also when Emma is gone by then")
  func afterwards() {
    let (emma, harriet) = emmaAndHarriet()
    var read = emma.value.friends[0]
    store.remove(Friend.self, id: 0)
    read.name = 9
    store.store(read)
    #expect(harriet.value.name == 9)
    #expect(harriet.value.friends.map(\.id) == [2])
    #expect(store._checkInvariants() == [])
  }

  @Test("In every kind of collection")
  func collections() {
    let emma = store.store(Friend(0))
    let harriet = store.store(Friend(1))
    store.update(Friend.self, id: 1) { friend in
      let emma = emma.value
      friend.friends = [emma]
      friend.byName = ["emma": emma]
      friend.line = [emma]
      friend.rest = [emma]
    }
    store.update(Friend.self, id: 0) { $0.friends = [harriet.value] }
    var read = emma.value.friends[0]
    #expect(read.friends.isEmpty && read.byName.isEmpty && read.line.isEmpty && (read.rest ?? []).isEmpty)
    read.name = 5
    store.update(Friend.self, id: 0) { $0.friends = [read] }
    let value = harriet.value
    #expect(value.name == 5)
    #expect(value.friends.map(\.id) == [0] && value.byName["emma"]?.id == 0)
    #expect(value.line.map(\.id) == [0] && value.rest?.map(\.id) == [0])
    read = emma.value.friends[0]
    read.name = 6
    store.store(read)
    #expect(harriet.value.name == 6)
    #expect(harriet.value.friends.map(\.id) == [0] && harriet.value.byName["emma"]?.id == 0)
    #expect(harriet.value.line.map(\.id) == [0])
    #expect(store._checkInvariants() == [])
  }

  @Test("A plain empty array says that there are none")
  func plainlyEmpty() {
    let (emma, harriet) = emmaAndHarriet()
    var read = emma.value.friends[0]
    read.friends = []
    store.store(read)
    #expect(harriet.value.friends == [])
    #expect(emma.value.friends.map(\.id) == [1])
    #expect(store._checkInvariants() == [])
  }

  @Test("A value that was made new says what it says")
  func madeNew() {
    let (emma, harriet) = emmaAndHarriet()
    store.store(Friend(1, 3))
    #expect(harriet.value == Friend(1, 3))
    #expect(emma.value.friends == [Friend(1, 3)])
    #expect(store._checkInvariants() == [])
  }

  @Test("A list that shows friends is taken as it is, with one more and with one less")
  func shownList() {
    let (emma, harriet) = emmaAndHarriet()
    var read = harriet.value
    read.friends.append(Friend(3))
    store.store(read)
    #expect(harriet.value.friends.map(\.id) == [0, 2, 3])
    #expect(emma.value.friends.map(\.id) == [1])
    read = harriet.value
    read.friends.removeAll { $0.id != 0 }
    store.store(read)
    #expect(harriet.value.friends.map(\.id) == [0])
    #expect(emma.value.friends.map(\.id) == [1])
    #expect(store._checkInvariants() == [])
  }

  @Test("One taken out of what is shown empties the list: that is said, not left out")
  func lastOneOut() {
    let (emma, harriet) = emmaAndHarriet()
    var read = emma.value
    read.friends.removeLast()
    store.store(read)
    #expect(emma.value.friends == [])
    #expect(harriet.value.friends.map(\.id) == [0, 2])
    #expect(harriet.value.friends.first == Friend(0, tag: Tag(id: 0, text: 0)))
    #expect(store._checkInvariants() == [])
  }

  @Test("nil inside an entity of the same cycle is left out; anywhere else it is said")
  func absent() {
    let emma = store.store(Friend(0))
    let harriet = store.store(Friend(1))
    store.update(Friend.self, id: 1) { $0.best = emma.value }
    store.update(Friend.self, id: 0) { $0.best = harriet.value }
    // Inside Emma, Harriet's best friend is left out.
    #expect(emma.value.best?.id == 1)
    #expect(emma.value.best?.best == nil)
    var read = emma.value
    read.name = 1
    read.best?.name = 2
    store.store(read)
    #expect(harriet.value.name == 2)
    #expect(harriet.value.best?.id == 0)
    #expect(harriet.value.best?.name == 1)
    // On her own she has none, by her own word.
    store.store(emma.value.best ?? Friend(7))
    #expect(harriet.value.best == nil)
    #expect(emma.value.best?.id == 1)
    #expect(store._checkInvariants() == [])
  }

  @Test("In an update too, what is left out stays")
  func inUpdate() {
    let (emma, harriet) = emmaAndHarriet()
    store.update(Friend.self, id: 0) { $0.friends[0].name = 5 }
    store.update(Friend.self, id: 0) { $0.friends = $0.friends.map { $0 } }
    store.update(Friend.self, id: 0) { $0.friends.reverse() }
    #expect(harriet.value.name == 5)
    expectFriendships(emma, harriet)
  }

  @Test("A friend that was read inside may stand in an update of somebody else")
  func inUpdateOfAnother() {
    let (emma, harriet) = emmaAndHarriet()
    let read = emma.value.friends[0]
    let jane = store.find(Friend.self, id: 2)
    store.update(Friend.self, id: 2) { $0.friends = [read] }
    #expect(jane?.value.friends.map(\.id) == [1])
    expectFriendships(emma, harriet)
    store.update(Friend.self, id: 2) { $0.friends = [harriet.value.friends[0], read] }
    #expect(jane?.value.friends.map(\.id) == [0, 1])
    expectFriendships(emma, harriet)
  }

  @Test("What leads out of the cycle is shown inside, and taken from there")
  func outOfCycle() {
    let (emma, harriet) = emmaAndHarriet()
    store.update(Friend.self, id: 1) { $0.tags = [Tag(id: 5, text: 0)] }
    var read = emma.value.friends[0]
    #expect(read.tag == Tag(id: 1, text: 0))
    #expect(read.tags == [Tag(id: 5, text: 0)])
    read.tag?.text = 4
    read.tags = []
    store.store(read)
    #expect(harriet.value.tag == Tag(id: 1, text: 4))
    #expect(harriet.value.tags == [])
    expectFriendships(emma, harriet)
  }

  @Test("Storing all that is there, as it is read, changes nothing and tells nobody", arguments: [2, 3, 5, 8])
  func everything(count: Int) {
    let people = (0..<count).map { store.store(Friend($0, $0, tag: Tag(id: $0, text: 0))) }
    for id in 0..<count {
      let others = people.map(\.value).filter { $0.id != id }
      store.update(Friend.self, id: id) {
        $0.friends = others
        $0.best = others.first
        $0.byName = ["last": others[others.count - 1]]
      }
    }
    let before = people.map(\.value)
    let log = Log<Int>()
    let subscriptions = people.map { $0.observe { log.append($0.id) } }
    log.clear()
    for person in people { store.store(person.value) }
    store.store(people.map(\.value))
    for friend in people.flatMap(\.value.friends) { store.update(Friend.self, id: friend.id) { $0.name += 0 } }
    #expect(people.map(\.value) == before)
    #expect(log.values == [])
    #expect(store._checkInvariants() == [])
    for subscription in subscriptions { subscription.unsubscribe() }
  }

  @Test("A computed relation forgets the mark: within the cycle it is left out, on its own it says that there are none")
  func computed() {
    let emma = store.store(Sorting(id: 0, name: 0))
    let harriet = store.store(Sorting(id: 1, name: 0, friends: [emma.value]))
    store.update(Sorting.self, id: 0) { $0.friends = [harriet.value] }
    var whole = emma.value
    whole.friends[0].name = 1
    store.store(whole)
    #expect(harriet.value.name == 1)
    #expect(harriet.value.friends.map(\.id) == [0])
    store.update(Sorting.self, id: 0) { $0.friends[0].name = 2 }
    #expect(harriet.value.name == 2)
    #expect(harriet.value.friends.map(\.id) == [0])
    store.store(emma.value.friends[0])
    #expect(harriet.value.friends.isEmpty)
    #expect(emma.value.friends.map(\.id) == [1])
  }

  @Test("A list that was left out, and then filled, is what it says")
  func filled() {
    let (emma, harriet) = emmaAndHarriet()
    var read = emma.value.friends[0]
    read.friends.append(Friend(5, 5))
    store.store(read)
    #expect(harriet.value.friends == [Friend(5, 5)])
    #expect(emma.value.friends.map(\.id) == [1])
    #expect(store._checkInvariants() == [])
  }

  @Test("A value with left-out lists survives its store's emptying, and comes back as it is")
  func afterRemoveAll() {
    let (emma, harriet) = emmaAndHarriet()
    let read = emma.value
    store.removeAll()
    let again = store.store(read)
    #expect(again.value.friends.map(\.id) == [1])
    #expect(again.value.friends.first?.friends == [])
    #expect(store._checkInvariants() == [])
    withExtendedLifetime((emma, harriet)) {}
  }
}

/// Whose friends are computed.
private struct Sorting: Aggregate, Equatable {
  let id: Int
  var name: Int
  private var stored: [Sorting] = []

  init(id: Int, name: Int, friends: [Sorting] = []) { (self.id, self.name, stored) = (id, name, friends) }

  var friends: [Sorting] {
    get { stored.filter { $0.id >= 0 } }
    set { stored = newValue }
  }

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.friends)] }
}
