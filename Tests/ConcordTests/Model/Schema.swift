import Concord

/// A flat entity.
struct Tag: Identifiable, Hashable, Sendable {
  let id: Int
  var text: Int
}

/// A flat entity that is not `Equatable`.
struct Note: Identifiable, Sendable {
  let id: Int
  var text: Int
}

/// A recursive entity: persons are friends and partners of persons, so that cycles arise.
struct Person: Aggregate, Equatable {
  let id: Int
  var name: Int
  var friends: [Person] = []
  var partner: Person? {
    get { partnerBox.first }
    set { partnerBox = newValue.map { [$0] } ?? [] }
  }
  var tag: Tag?
  var team: Team? {
    get { teamBox.first }
    set { teamBox = newValue.map { [$0] } ?? [] }
  }
  var slot: Seat = .empty

  // A struct cannot contain itself but through something that allocates.
  private var partnerBox: [Person] = []
  private var teamBox: [Team] = []

  init(
    id: Int, name: Int, friends: [Person] = [], partner: Person? = nil, tag: Tag? = nil, team: Team? = nil,
    slot: Seat = .empty
  ) {
    (self.id, self.name, self.friends, self.tag, self.slot) = (id, name, friends, tag, slot)
    (self.partner, self.team) = (partner, team)
  }

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    [.init(\.friends), .init(\.partner), .init(\.tag), .init(\.team), .init(wrapper: \.slot)]
  }
}

/// Requires a person: where a team stands in a cycle, its lead cannot be left out.
struct Team: Aggregate, Equatable {
  let id: Int
  var name: Int
  var lead: Person
  var mates: [Person]?

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { Self.relations }
  static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { relations }
  private static var relations: [PartialIdentifiableKeyPath<Self>] { [.init(\.lead), .init(\.mates)] }
}

/// A wrapper that can be emptied.
indirect enum Seat: EntityWrapper, Equatable {
  case empty, person(Person), tag(Tag)

  var person: Person? {
    get { if case .person(let person) = self { person } else { nil } }
    set {
      if let newValue { self = .person(newValue) } else if person != nil { self = .empty }
    }
  }

  var tag: Tag? {
    get { if case .tag(let tag) = self { tag } else { nil } }
    set {
      if let newValue { self = .tag(newValue) } else if tag != nil { self = .empty }
    }
  }

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>] {
    [.init(parent.appending(path: \.person)), .init(parent.appending(path: \.tag))]
  }
}

/// A wrapper whose setters ignore `nil`.
enum Item: EntityWrapper, Equatable {
  case plain(Int), tag(Tag), work(Work)

  var tag: Tag? {
    get { if case .tag(let tag) = self { tag } else { nil } }
    set { if let newValue { self = .tag(newValue) } }
  }

  var work: Work? {
    get { if case .work(let work) = self { work } else { nil } }
    set { if let newValue { self = .work(newValue) } }
  }

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>] {
    [.init(parent.appending(path: \.tag)), .init(parent.appending(path: \.work))]
  }
}

/// An aggregate with relations that have no order, and an entity that is not `Equatable`.
struct Work: Aggregate, Equatable {
  let id: Int
  var title: Int
  var tags: Set<Tag> = []
  var byKey: [String: Tag] = [:]
  var note: Note?

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    [.init(\.tags), .init(\.byKey), .init(\.note)]
  }

  static func == (lhs: Work, rhs: Work) -> Bool {
    lhs.id == rhs.id && lhs.title == rhs.title && lhs.tags == rhs.tags && lhs.byKey == rhs.byKey
      && lhs.note?.id == rhs.note?.id && lhs.note?.text == rhs.note?.text
  }
}

/// A mutable collection of fixed length.
struct Pair<Element: Sendable>: MutableCollection, Sendable {
  var first: Element
  var second: Element

  var startIndex: Int { 0 }
  var endIndex: Int { 2 }
  func index(after index: Int) -> Int { index + 1 }

  subscript(position: Int) -> Element {
    get { position == 0 ? first : second }
    set { if position == 0 { first = newValue } else { second = newValue } }
  }
}

extension Pair: Equatable where Element: Equatable {}

/// Plain structs, one in the other, with entities inside.
struct Meta: Equatable, Sendable {
  struct Inner: Equatable, Sendable {
    var tag: Tag?
    var work: Work?
  }
  var inner = Inner()
}

/// An aggregate with a relation of every shape.
struct Group: Aggregate, Equatable {
  let id: Int
  var name: Int
  var owner: Person
  var deputy: Person?
  var members: [Person] = []
  var tags: [Tag]?
  var line: ContiguousArray<Tag> = []
  var shelves: [String: Work]?
  var meta = Meta()
  var item: Item = .plain(0)
  var extra: Item?
  var items: [Item] = []
  var pair: Pair<Tag>?

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    [
      .init(\.owner), .init(\.deputy), .init(\.members), .init(\.tags), .init(\.line), .init(\.shelves),
      .init(\.meta.inner.tag), .init(\.meta.inner.work), .init(wrapper: \.item), .init(wrapper: \.extra),
      .init(wrapper: \.items), .init(\.pair),
    ]
  }
}
