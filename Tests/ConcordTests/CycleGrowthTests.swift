import Concord
import Testing

/// What changes of relations cost among some people, and among four times as many.
@Suite("What a change of relations costs does not grow with what hangs together", .serialized)
struct CycleGrowthTests {
  private struct Person: Aggregate, Equatable {
    let id: Int
    var friends: [Person] = []
    static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { [.init(\.friends)] }
    var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.friends)] }
  }

  enum Change: String, CaseIterable, Sendable {
    case newFriendship, friendshipThatEnds, oldFriendshipThatEnds, newPerson, personWithoutFriends, personWhoIsRemoved
  }

  /// People who know those beside them, and one far away.
  private func ring(_ count: Int) -> [Person] {
    (0..<count).map { id in
      let friends = [1, 2, 3, 5, 8].map { (id + $0) % count } + [(id * 7 + count / 3) % count]
      return Person(id: id, friends: friends.filter { $0 != id }.map { Person(id: $0) })
    }
  }

  private func time(_ count: Int, _ change: Change) -> Duration {
    let store = EntityStore(delivery: .immediate)
    let kept = store.store(ring(count))
    let changed = stride(from: 10, to: 410, by: 10)
    func befriend() {
      for id in changed {
        let other = store.value(Person.self, id: (id + count / 2) % count)
        store.update(Person.self, id: id) { if let other { $0.friends.append(other) } }
      }
    }
    func end() { for id in changed { store.update(Person.self, id: id) { $0.friends.removeLast() } } }
    // The first relation that goes lets the cycle be searched.
    store.update(Person.self, id: 0) { $0.friends.removeLast() }
    if change == .friendshipThatEnds { befriend() }
    let time = ContinuousClock().measure {
      switch change {
      case .newFriendship: befriend()
      case .friendshipThatEnds: end()
      case .oldFriendshipThatEnds: for id in changed { store.update(Person.self, id: id) { $0.friends.removeFirst() } }
      case .newPerson:
        for id in changed { store.update(Person.self, id: id) { $0.friends.append(Person(id: count + id)) } }
      case .personWithoutFriends: for id in changed { store.update(Person.self, id: id) { $0.friends = [] } }
      case .personWhoIsRemoved: for id in changed { store.remove(Person.self, id: id) }
      }
    }
    #expect(kept.value.count == count - (change == .personWhoIsRemoved ? 40 : 0))
    #expect(store._checkInvariants() == [])
    return time
  }

  /// Expects that four times as many cost no more than a factor. The best of several counts, since the machine may do other things.
  private func expectGrowth(_ limit: Double, _ time: (Int) -> Duration) {
    var (few, many) = (time(1), time(4))
    for _ in 0..<6 where many / few > limit {
      few = min(few, time(1))
      many = min(many, time(4))
    }
    #expect(many / few <= limit, "\(few), and \(many) with four times as many")
  }

  @Test("Four times as many people: the same cost", arguments: Change.allCases)
  func people(change: Change) {
    expectGrowth(2) { time($0 * 1_000, change) }
  }

  @Test("To store four times as many people, in one transaction, takes four times as long")
  func building() {
    func time(_ count: Int) -> Duration {
      let people = ring(count)
      let store = EntityStore(delivery: .immediate)
      var kept: [EntityObserver<Person>] = []
      return ContinuousClock().measure {
        store.transaction { store in for person in people { kept.append(store.store(person)) } }
      }
    }
    expectGrowth(8) { time($0 * 500) }
  }

  @Test("An entity at the bottom of a chain that is four times as long: the same cost")
  func chain() {
    func time(_ count: Int) -> Duration {
      let store = EntityStore(delivery: .immediate)
      var chain = Person(id: 0)
      for id in 1..<count { chain = Person(id: id, friends: [chain]) }
      let kept = store.store(chain)
      let time = ContinuousClock().measure {
        for id in 0..<40 { store.update(Person.self, id: 0) { $0.friends.append(Person(id: count + id)) } }
        for _ in 0..<40 { store.update(Person.self, id: 0) { $0.friends.removeLast() } }
      }
      #expect(store.value(Person.self, id: 0)?.friends.isEmpty == true)
      withExtendedLifetime(kept) {}
      return time
    }
    expectGrowth(2) { time($0 * 500) }
  }
}
