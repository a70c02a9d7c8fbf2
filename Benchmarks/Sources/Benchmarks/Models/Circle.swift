import Concord

/// People in a store, the first of whom are observed.
struct Circle {
  let people: [Person]
  let store = EntityStore(delivery: .immediate)
  private let kept: [EntityObserver<Person>]
  private let screens: [Screen<Person>]
  private let subscriptions: [Subscription]

  init(_ people: [Person], observed: Int) throws {
    self.people = people
    let all = store.store(people)
    kept = people.compactMap { [store] in store.find(Person.self, id: $0.id) }
    screens = (0..<observed).map { _ in Screen() }
    subscriptions = zip(kept, screens).map { observer, screen in observer.observe { screen.show($0) } }
    try expect(withExtendedLifetime(all) { kept.count }, is: people.count, "people in the store")
    let last = people.count - 1
    try expect(kept[last].value.friends.map(\.id), is: people[last].friends.map(\.id), "friends of a person")
  }

  func rename(_ id: Int, _ name: String) { store.update(Person.self, id: id) { $0.name = name } }

  func read(_ id: Int) -> Person { kept[id].value }

  /// Checks that a person reads so, also where it is a friend, and that their observers saw it.
  func expectName(_ name: String, of id: Int) throws {
    try expect(read(id).name, is: name, "the name of a person")
    // In a ring as in a clique, one is a friend of the one before.
    let before = id == 0 ? people.count - 1 : id - 1
    try expect(nameOfFriend(id, of: read(before)), is: name, "the name of a friend")
    if screens.indices.contains(id) { try expect(screens[id].value?.name, is: name, "what an observer saw") }
    if screens.indices.contains(before) {
      try expect(nameOfFriend(id, of: screens[before].value), is: name, "the friend in what an observer saw")
    }
  }

  private func nameOfFriend(_ id: Int, of person: Person?) -> String? {
    person?.friends.first { $0.id == id }?.name
  }
}

/// The floor of a circle: the people in a Dictionary, and where each of them is a friend.
struct PlainCircle {
  private var people: [Int: Person]
  private var places: [Int: [(person: Int, index: Int)]] = [:]
  private let observed: Int
  private let observers = Observers<Person>()
  private let screens: [Screen<Person>]

  init(_ people: [Person], observed: Int) {
    self.people = Dictionary(uniqueKeysWithValues: people.map { ($0.id, $0) })
    for person in people {
      for (index, friend) in person.friends.enumerated() { places[friend.id, default: []].append((person.id, index)) }
    }
    self.observed = observed
    screens = (0..<observed).map { _ in Screen() }
    for (id, screen) in screens.enumerated() { observers.observe(id) { screen.show($0) } }
  }

  /// Changes the person, and its copy in the arrays of those who have it as a friend, and calls the closures of both.
  mutating func rename(_ id: Int, _ name: String) {
    people.inPlace(id) {
      $0.name = name
      if id < observed { observers.notify(id, $0) }
    }
    for place in places[id] ?? [] {
      people.inPlace(place.person) {
        $0.friends[place.index].name = name
        if place.person < observed { observers.notify(place.person, $0) }
      }
    }
  }

  func read(_ id: Int) -> Person? { people[id] }
}
