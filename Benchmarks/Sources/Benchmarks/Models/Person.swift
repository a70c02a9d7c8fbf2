import Concord

/// Somebody whose friends have friends in turn, so that following them leads back: a cycle.
struct Person: Aggregate, Equatable {
  let id: Int
  var name: String
  var friends: [Person]

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.friends)] }

  /// People in a ring, each of whom has five of the next ones as friends, and is a friend of five before.
  static func ring(_ count: Int) -> [Person] {
    people(count) { id in [1, 2, 3, 5, 8].map { (id + $0) % count } }
  }

  /// People of whom each has the next one as a friend, but for the last, who has none.
  static func chain(_ count: Int) -> [Person] {
    people(count) { id in id + 1 < count ? [id + 1] : [] }
  }

  /// The same person without friends.
  var alone: Person { Person(id: id, name: name, friends: []) }

  /// People who all know each other.
  static func clique(_ count: Int) -> [Person] {
    people(count) { id in (0..<count).filter { $0 != id } }
  }

  /// People in a line, each of whom knows the next one.
  static func line(_ count: Int) -> [Person] {
    people(count) { id in id + 1 < count ? [id + 1] : [] }
  }

  /// The same people, each of whom knows one near the other end, and the one before.
  static func rewiredLine(_ count: Int) -> [Person] {
    people(count) { id in id == 0 ? [] : [id % 2 == 0 ? id - 1 : count - 1 - id, id - 1] }
  }

  /// The friends in these values have no friends themselves. Stored in one call, each person has those it has as an
  /// element of the array, since the outermost of several values of one entity wins.
  private static func people(_ count: Int, friends: (Int) -> [Int]) -> [Person] {
    let alone = (0..<count).map { Person(id: $0, name: "The person with number \($0)", friends: []) }
    return alone.map { person in
      Person(id: person.id, name: person.name, friends: friends(person.id).map { alone[$0] })
    }
  }
}
