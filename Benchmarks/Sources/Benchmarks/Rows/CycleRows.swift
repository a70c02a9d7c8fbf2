import Concord

extension Row {
  /// Entities that contain each other. A value shows the others of its cycle briefly, so an update costs the entity and
  /// those who contain it. The rows with more people say that it stays so, and are compared with the ones before them.
  static var cycles: [Row] {
    [
      row("2,000 people with 5 friends each, update one and read it", .ring, goal: .microseconds(20), was: "23 ms"),
      growing("the same, 8,000 people", .ring, by: 4, goal: 2, was: "98 ms"),
      row("2,000 such people, 50 observed, update one", .observedRing, goal: .milliseconds(1), was: "0.5 s"),
      growing("the same, 8,000 people, 200 observed", .observedRing, by: 4, goal: 5),
      row(
        "160 people who know each other, all observed, update one", .clique, goal: .milliseconds(10), was: "4.8 s"),
      growing("the same, 320 people, which is four times the friendships", .clique, by: 2, goal: 5),
      friendships("8,000 people with 5 friends each, a new friendship and one that ends", of: Person.ring) {
        store, id, count in
        let other = store.value(Person.self, id: (id + count / 2) % count)
        store.update(Person.self, id: id) { if let other { $0.friends.append(other) } }
        store.update(Person.self, id: id) { _ = $0.friends.popLast() }
      },
      friendships("8,000 such people, a new one without friends, who goes again", of: Person.ring) { store, id, count in
        store.update(Person.self, id: id) { $0.friends.append(Person(id: count, name: "New", friends: [])) }
        store.update(Person.self, id: id) { _ = $0.friends.popLast() }
      },
      friendships("8,000 people in a chain, a new one at its end, who goes again", of: Person.chain) {
        store, id, count in
        store.update(Person.self, id: count - 1) { $0.friends.append(Person(id: count + id, name: "New", friends: [])) }
        store.update(Person.self, id: count - 1) { _ = $0.friends.popLast() }
      },
      building, rewiring,
    ]
  }

  /// Relations among all people of a line, given up and made anew in one transaction: each knows one near the other end, and the one
  /// before.
  private static var rewiring: Row {
    Row(
      "8,000 people in a line, rewired in one transaction, per person", goal: .floor(times: 2),
      floor: "Concord with 2,000 people", repetitions: 5
    ) { stopwatch in
      func changing(_ count: Int) throws -> () throws -> Double {
        let store = EntityStore(delivery: .immediate)
        let line = Person.line(count)
        let rewired = Person.rewiredLine(count)
        let kept = store.store(line)
        return {
          store.store(line)
          blackHole(kept.value.count)
          let time = stopwatch.nanoseconds(per: count) { store.store(rewired) }
          try expect(kept.value.last?.friends.map(\.id), is: rewired.last?.friends.map(\.id), "the friends of the last")
          return time
        }
      }
      return Sides(concord: try changing(8_000), floor: try changing(2_000))
    }
  }

  /// Friendships that begin and end, one after the other. The cost of one does not grow with the number of people.
  private static func friendships(
    _ name: String, of people: @escaping (Int) -> [Person], _ change: @escaping (EntityStore, Int, Int) -> Void
  ) -> Row {
    Row(name, goal: .floor(times: 2), floor: "Concord with 2,000 people", repetitions: 11) { stopwatch in
      func changing(_ count: Int) throws -> () throws -> Double {
        let store = EntityStore(delivery: .immediate)
        let kept = store.store(people(count))
        let changed = (count - 100)..<count
        // Reading all of them would prepare all of them to be marked again.
        func friends() -> [Int?] { changed.map { store.value(Person.self, id: $0)?.friends.count } }
        let before = friends()
        return {
          let time = stopwatch.nanoseconds(per: changed.count) { for id in changed { change(store, id, count) } }
          try expect(friends() == before, "a friendship is missing, or did not end")
          return withExtendedLifetime(kept) { time }
        }
      }
      return Sides(concord: try changing(8_000), floor: try changing(2_000))
    }
  }

  private static var building: Row {
    Row(
      "build the 8,000 people with 5 friends each in one transaction, each", goal: .floor(times: 2),
      floor: "Concord with 2,000 people", repetitions: 5
    ) { stopwatch in
      func building(_ count: Int) throws -> Double {
        let people = Person.ring(count)
        let store = EntityStore(delivery: .immediate)
        var kept: [EntityObserver<Person>] = []
        let time = stopwatch.nanoseconds(per: count) {
          store.transaction { tx in
            for person in people { kept.append(tx.store(person.alone)) }
            for person in people {
              let friends = person.friends.compactMap { tx.value(Person.self, id: $0.id) }
              tx.update(Person.self, id: person.id) { $0.friends = friends }
            }
          }
        }
        try expect(kept.allSatisfy { $0.value.friends.count == 5 }, "a friendship is missing")
        return time
      }
      return Sides {
        try building(8_000)
      } floor: {
        try building(2_000)
      }
    }
  }

  /// A number of people, how many of them are observed, and how many are updated one after the other in a measurement.
  private struct People: Sendable {
    var count: Int
    var observed: Int
    var updated: Int
    var make: @Sendable (Int) -> [Person]

    static let ring = People(count: 2_000, observed: 0, updated: 100, make: Person.ring)
    static let observedRing = People(count: 2_000, observed: 50, updated: 10, make: Person.ring)
    static let clique = People(count: 160, observed: 160, updated: 2, make: Person.clique)

    func times(_ factor: Int) -> People {
      People(count: count * factor, observed: observed * factor, updated: updated, make: make)
    }
  }

  private static func row(_ name: String, _ people: People, goal: Goal, was: String) -> Row {
    Row(
      name, goal: goal, was: was,
      floor: "changes the person in a Dictionary and its copies in the arrays of its friends, and calls their closures",
      repetitions: 11
    ) { stopwatch in
      var plain = PlainCircle(people.make(people.count), observed: people.observed)
      var turn = 0
      return Sides(concord: try updating(people, stopwatch)) {
        turn += 1
        let name = Titles[turn]
        let time = stopwatch.nanoseconds(per: people.updated, on: &plain) { plain in
          for id in 0..<people.updated {
            plain.rename(id, name)
            blackHole(plain.read(id))
          }
        }
        try expect(plain.read(people.updated - 1)?.name, is: name, "the name of a person")
        return time
      }
    }
  }

  /// A row with more people, whose floor is Concord with fewer of them.
  private static func growing(
    _ name: String, _ people: People, by factor: Int, goal: Double, was: String? = nil
  ) -> Row {
    Row(
      name, goal: .floor(times: goal), was: was, floor: "Concord with \(people.count) people, as in the row before",
      repetitions: 11
    ) { stopwatch in
      Sides(concord: try updating(people.times(factor), stopwatch), floor: try updating(people, stopwatch))
    }
  }

  private static func updating(_ people: People, _ stopwatch: Stopwatch) throws -> () throws -> Double {
    let circle = try Circle(people.make(people.count), observed: people.observed)
    var turn = 0
    return {
      turn += 1
      let name = Titles[turn]
      let time = stopwatch.nanoseconds(per: people.updated) {
        for id in 0..<people.updated {
          circle.rename(id, name)
          blackHole(circle.read(id))
        }
      }
      for id in 0..<people.updated { try circle.expectName(name, of: id) }
      return time
    }
  }
}
