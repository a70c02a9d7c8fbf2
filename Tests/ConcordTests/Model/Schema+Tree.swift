import Concord

/// An entity of the schema that converts from and to a `Tree`.
protocol ModelEntity: Identifiable, Sendable where ID == Int {
  static var kind: Kind { get }
  static var relationKinds: [RelationKind] { get }
  /// The entity's own field, for `observe(_:)`.
  static var part: any KeyPath<Self, Int> & Sendable { get }

  var tree: Tree { get }
  init(tree: Tree)
  /// Turns into what `tree` says, touching nothing that already is as it says.
  mutating func become(_ tree: Tree)
}

extension ModelEntity {
  static func ref(_ id: Int) -> Ref { Ref(kind, id) }
}

extension Kind {
  static let all: [any ModelEntity.Type] = [
    Tag.self, Note.self, Person.self, Team.self, Work.self, Group.self,
  ]
  private static let relationTable = all.map { $0.relationKinds }

  var type: any ModelEntity.Type { Kind.all[rawValue] }
  var relationKinds: [RelationKind] { Kind.relationTable[rawValue] }
  var isEquatable: Bool { self != .note }
}

// MARK: - Shapes

private func required(_ child: some ModelEntity) -> Relation<Tree> { Relation(slots: [Slot(child: child.tree)]) }

private func optional(_ child: (some ModelEntity)?) -> Relation<Tree> {
  child.map(required) ?? Relation(isNil: true)
}

private func list<C: Collection>(_ children: C?) -> Relation<Tree> where C.Element: ModelEntity {
  guard let children else { return Relation(isNil: true) }
  return Relation(slots: children.map { Slot(child: $0.tree) })
}

private func set<T: ModelEntity>(_ children: Set<T>) -> Relation<Tree> {
  Relation(slots: children.map { Slot(child: $0.tree) }.sorted { ($0.child?.ref.id ?? 0) < ($1.child?.ref.id ?? 0) })
}

private func keyed<T: ModelEntity>(_ children: [String: T]?) -> Relation<Tree> {
  guard let children else { return Relation(isNil: true) }
  return Relation(slots: children.map { Slot(key: Int($0) ?? 0, child: $1.tree) }.sorted { $0.key < $1.key })
}

extension Relation where Child == Tree {
  func first<T: ModelEntity>(_: T.Type = T.self) -> T? {
    slots.first?.child.map(T.init(tree:))
  }

  func elements<T: ModelEntity>(_: T.Type = T.self) -> [T] {
    slots.compactMap { $0.child.map(T.init(tree:)) }
  }

  func dictionary<T: ModelEntity>(_: T.Type = T.self) -> [String: T] {
    var result: [String: T] = [:]
    for slot in slots {
      if let child = slot.child { result[String(slot.key)] = T(tree: child) }
    }
    return result
  }
}

extension Array where Element: ModelEntity {
  /// Changes only the elements that differ.
  fileprivate mutating func become(_ relation: Relation<Tree>) {
    guard relation.slots.count == count else {
      self = relation.elements()
      return
    }
    for (index, slot) in relation.slots.enumerated() {
      guard let child = slot.child, child != self[index].tree else { continue }
      if child.ref.id == self[index].id { self[index].become(child) } else { self[index] = Element(tree: child) }
    }
  }
}

// MARK: - Wrappers

extension Seat {
  fileprivate var slot: Slot<Tree> {
    switch self {
    case .empty: Slot()
    case .tag(let tag): Slot(key: 1, child: tag.tree)
    case .person(let person): Slot(key: 2, child: person.tree)
    }
  }

  fileprivate init(_ slot: Slot<Tree>) {
    guard let child = slot.child else {
      self = .empty
      return
    }
    self = slot.key == 1 ? .tag(Tag(tree: child)) : .person(Person(tree: child))
  }
}

extension Item {
  fileprivate var slot: Slot<Tree> {
    switch self {
    case .plain(let plain): Slot(plain: plain)
    case .tag(let tag): Slot(key: 1, child: tag.tree)
    case .work(let work): Slot(key: 2, child: work.tree)
    }
  }

  fileprivate init(_ slot: Slot<Tree>) {
    guard let child = slot.child else {
      self = .plain(slot.plain)
      return
    }
    self = slot.key == 1 ? .tag(Tag(tree: child)) : .work(Work(tree: child))
  }
}

// MARK: - Entities

extension Tag: ModelEntity {
  static var kind: Kind { .tag }
  static var relationKinds: [RelationKind] { [] }
  static var part: any KeyPath<Self, Int> & Sendable { \.text }
  var tree: Tree { Tree(ref: Self.ref(id), own: [text]) }
  init(tree: Tree) { self.init(id: tree.ref.id, text: tree.own[0]) }
  mutating func become(_ tree: Tree) { text = tree.own[0] }
}

extension Note: ModelEntity {
  static var kind: Kind { .note }
  static var relationKinds: [RelationKind] { [] }
  static var part: any KeyPath<Self, Int> & Sendable { \.text }
  var tree: Tree { Tree(ref: Self.ref(id), own: [text]) }
  init(tree: Tree) { self.init(id: tree.ref.id, text: tree.own[0]) }
  mutating func become(_ tree: Tree) { text = tree.own[0] }
}

extension Person: ModelEntity {
  static var kind: Kind { .person }
  static var relationKinds: [RelationKind] { [.list, .optional, .optional, .optional, .wrapper] }
  static var part: any KeyPath<Self, Int> & Sendable { \.name }

  var tree: Tree {
    Tree(
      ref: Self.ref(id), own: [name],
      relations: [list(friends), optional(partner), optional(tag), optional(team), Relation(slots: [slot.slot])])
  }

  init(tree: Tree) {
    let relations = tree.relations
    self.init(
      id: tree.ref.id, name: tree.own[0], friends: relations[0].elements(), partner: relations[1].first(),
      tag: relations[2].first(), team: relations[3].first(), slot: Seat(relations[4].slots[0]))
  }

  mutating func become(_ tree: Tree) {
    let old = self.tree
    let new = tree.relations
    name = tree.own[0]
    if old.relations[0] != new[0] { friends.become(new[0]) }
    if old.relations[1] != new[1] { partner = new[1].first() }
    if old.relations[2] != new[2] { tag = new[2].first() }
    if old.relations[3] != new[3] { team = new[3].first() }
    if old.relations[4] != new[4] { slot = Seat(new[4].slots[0]) }
  }
}

extension Team: ModelEntity {
  static var kind: Kind { .team }
  static var relationKinds: [RelationKind] { [.required, .list] }
  static var part: any KeyPath<Self, Int> & Sendable { \.name }
  var tree: Tree { Tree(ref: Self.ref(id), own: [name], relations: [required(lead), list(mates)]) }

  init(tree: Tree) {
    let relations = tree.relations
    self.init(
      id: tree.ref.id, name: tree.own[0], lead: relations[0].first() ?? Person(id: 0, name: -1),
      mates: relations[1].isNil ? nil : relations[1].elements())
  }

  mutating func become(_ tree: Tree) {
    let old = self.tree
    name = tree.own[0]
    if old.relations[0] != tree.relations[0] { lead = tree.relations[0].first() ?? lead }
    if old.relations[1] != tree.relations[1] {
      mates = tree.relations[1].isNil ? nil : tree.relations[1].elements()
    }
  }
}

extension Work: ModelEntity {
  static var kind: Kind { .work }
  static var relationKinds: [RelationKind] { [.unordered, .unordered, .optional] }
  static var part: any KeyPath<Self, Int> & Sendable { \.title }
  var tree: Tree { Tree(ref: Self.ref(id), own: [title], relations: [set(tags), keyed(byKey), optional(note)]) }

  init(tree: Tree) {
    let relations = tree.relations
    self.init(
      id: tree.ref.id, title: tree.own[0], tags: Set(relations[0].elements()), byKey: relations[1].dictionary(),
      note: relations[2].first())
  }

  mutating func become(_ tree: Tree) {
    let old = self.tree
    title = tree.own[0]
    if old.relations[0] != tree.relations[0] { tags = Set(tree.relations[0].elements()) }
    if old.relations[1] != tree.relations[1] { byKey = tree.relations[1].dictionary() }
    if old.relations[2] != tree.relations[2] { note = tree.relations[2].first() }
  }
}

extension Group: ModelEntity {
  static var kind: Kind { .group }
  static var relationKinds: [RelationKind] {
    [
      .required, .optional, .list, .list, .list, .unordered, .optional, .optional, .stubbornWrapper, .optionalWrapper,
      .wrapperList, .optionalFixed,
    ]
  }
  static var part: any KeyPath<Self, Int> & Sendable { \.name }

  var tree: Tree {
    Tree(
      ref: Self.ref(id), own: [name],
      relations: [
        required(owner), optional(deputy), list(members), list(tags), list(line), keyed(shelves),
        optional(meta.inner.tag), optional(meta.inner.work), Relation(slots: [item.slot]),
        extra.map { Relation(slots: [$0.slot]) } ?? Relation(isNil: true), Relation(slots: items.map(\.slot)),
        list(pair),
      ])
  }

  init(tree: Tree) {
    self.init(id: tree.ref.id, name: tree.own[0], owner: tree.relations[0].first() ?? Person(id: 0, name: -1))
    for index in 1..<12 { assign(index, tree.relations[index]) }
  }

  mutating func become(_ tree: Tree) {
    let old = self.tree
    name = tree.own[0]
    for index in 0..<12 where old.relations[index] != tree.relations[index] { assign(index, tree.relations[index]) }
  }

  private mutating func assign(_ index: Int, _ new: Relation<Tree>) {
    switch index {
    case 0: owner = new.first() ?? owner
    case 1: deputy = new.first()
    case 2: members.become(new)
    case 3: tags = new.isNil ? nil : new.elements()
    case 4: line = ContiguousArray(new.elements(Tag.self))
    case 5: shelves = new.isNil ? nil : new.dictionary()
    case 6: meta.inner.tag = new.first()
    case 7: meta.inner.work = new.first()
    case 8: item = Item(new.slots[0])
    case 9: extra = new.slots.first.map(Item.init)
    case 10: items = new.slots.map(Item.init)
    default:
      let two = new.elements(Tag.self)
      pair = two.count == 2 ? Pair(first: two[0], second: two[1]) : nil
    }
  }
}
