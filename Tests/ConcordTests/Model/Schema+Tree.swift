import Concord

/// An entity of the schema that converts from and to a `Tree`.
protocol ModelEntity: Identifiable, Sendable where ID == Int {
  static var kind: Kind { get }
  static var relationKinds: [RelationKind] { get }
  /// Whether a place is a relation in a value with these own fields.
  static func isActive(_ place: Int, _ own: [Int]) -> Bool
  /// An own field, for `observe(_:)`.
  static var part: any KeyPath<Self, Int> & Sendable { get }

  var tree: Tree { get }
  init(tree: Tree)
  /// Turns into what `tree` says, touching nothing that already is as it says.
  mutating func become(_ tree: Tree)
}

extension ModelEntity {
  static func ref(_ id: Int) -> Ref { Ref(kind, id) }
  static func isActive(_ place: Int, _ own: [Int]) -> Bool { true }
}

extension Kind {
  static let all: [any ModelEntity.Type] = [
    Tag.self, Note.self, Person.self, Team.self, Work.self, Group.self, Clan.self, Album.self,
  ]
  private static let relationTable = all.map { $0.relationKinds }

  var type: any ModelEntity.Type { Kind.all[rawValue] }
  var relationKinds: [RelationKind] { Kind.relationTable[rawValue] }
  var isEquatable: Bool { self != .note && self != .album }
  func isActive(_ place: Int, _ own: [Int]) -> Bool { type.isActive(place, own) }
}

// MARK: - Shapes

private func required(_ child: some ModelEntity) -> Relation<Tree> { Relation(slots: [Slot(child: child.tree)]) }

private func optional(_ child: (some ModelEntity)?) -> Relation<Tree> {
  child.map(required) ?? Relation(isNil: true)
}

private func list<C: Collection>(_ children: C?) -> Relation<Tree> where C.Element: ModelEntity {
  guard let children else { return Relation(isNil: true) }
  return Relation(isOmitted: isOmitted(children), slots: children.map { Slot(child: $0.tree) })
}

private func set<T: ModelEntity>(_ children: Set<T>) -> Relation<Tree> {
  Relation(
    isOmitted: isOmitted(children),
    slots: children.map { Slot(child: $0.tree) }.sorted { ($0.child?.ref.id ?? 0) < ($1.child?.ref.id ?? 0) })
}

private func keyed<T: ModelEntity>(_ children: [String: T]?) -> Relation<Tree> {
  guard let children else { return Relation(isNil: true) }
  return Relation(
    isOmitted: isOmitted(children),
    slots: children.map { Slot(key: Int($0) ?? 0, child: $1.tree) }.sorted { $0.key < $1.key })
}

extension Relation where Child == Tree {
  func first<T: ModelEntity>(_: T.Type = T.self) -> T? {
    slots.first?.child.map(T.init(tree:))
  }

  func elements<T: ModelEntity>(_: T.Type = T.self) -> [T] {
    isOmitted ? omitted() : slots.compactMap { $0.child.map(T.init(tree:)) }
  }

  func optionalElements<T: ModelEntity>(_: T.Type = T.self) -> [T]? { isNil ? nil : elements() }

  func contiguousElements<T: ModelEntity>(_: T.Type = T.self) -> ContiguousArray<T> {
    isOmitted ? omitted() : ContiguousArray(elements())
  }

  func set<T: ModelEntity & Hashable>(_: T.Type = T.self) -> Set<T> { isOmitted ? omitted() : Set(elements()) }

  func pair<T: ModelEntity>(_: T.Type = T.self) -> Pair<T>? {
    let two: [T] = elements()
    return two.count == 2 ? Pair(first: two[0], second: two[1]) : nil
  }

  func dictionary<T: ModelEntity>(_: T.Type = T.self) -> [String: T]? {
    if isNil { return nil }
    if isOmitted { return omitted() }
    var result: [String: T] = [:]
    for slot in slots {
      if let child = slot.child { result[String(slot.key)] = T(tree: child) }
    }
    return result
  }

  func wrappers<W>(_ make: (Slot<Tree>) -> W) -> [W] { isOmitted ? omitted() : slots.map(make) }
}

extension Array where Element: ModelEntity {
  /// Changes only the elements that differ.
  fileprivate mutating func become(_ relation: Relation<Tree>) {
    guard relation.slots.count == count, !relation.isOmitted else {
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
  var slot: Slot<Tree> {
    switch self {
    case .plain(let plain): Slot(plain: plain)
    case .tag(let tag): Slot(key: 1, child: tag.tree)
    case .work(let work): Slot(key: 2, child: work.tree)
    }
  }

  init(_ slot: Slot<Tree>) {
    guard let child = slot.child else {
      self = .plain(slot.plain)
      return
    }
    self = slot.key == 1 ? .tag(Tag(tree: child)) : .work(Work(tree: child))
  }
}

extension Badge {
  fileprivate var slot: Slot<Tree> {
    switch self {
    case .plain(let plain): Slot(plain: plain)
    case .clan(let clan): Slot(key: 1, child: clan.tree)
    }
  }

  fileprivate init(_ slot: Slot<Tree>) {
    self = slot.child.map { .clan(Clan(tree: $0)) } ?? .plain(slot.plain)
  }
}

private func wrappers<W>(_ wrappers: [W], _ slot: (W) -> Slot<Tree>) -> Relation<Tree> {
  Relation(isOmitted: isOmitted(wrappers), slots: wrappers.map(slot))
}

private func wrapper<W>(_ wrapper: W?, _ slot: (W) -> Slot<Tree>) -> Relation<Tree> {
  wrapper.map { Relation(slots: [slot($0)]) } ?? Relation(isNil: true)
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
      mates: relations[1].optionalElements())
  }

  mutating func become(_ tree: Tree) {
    let old = self.tree
    name = tree.own[0]
    if old.relations[0] != tree.relations[0] { lead = tree.relations[0].first() ?? lead }
    if old.relations[1] != tree.relations[1] { mates = tree.relations[1].optionalElements() }
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
      id: tree.ref.id, title: tree.own[0], tags: relations[0].set(), byKey: relations[1].dictionary() ?? [:],
      note: relations[2].first())
  }

  mutating func become(_ tree: Tree) {
    let old = self.tree
    title = tree.own[0]
    if old.relations[0] != tree.relations[0] { tags = tree.relations[0].set() }
    if old.relations[1] != tree.relations[1] { byKey = tree.relations[1].dictionary() ?? [:] }
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
        wrapper(extra, \.slot), wrappers(items, \.slot),
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
    case 3: tags = new.optionalElements()
    case 4: line = new.contiguousElements()
    case 5: shelves = new.dictionary()
    case 6: meta.inner.tag = new.first()
    case 7: meta.inner.work = new.first()
    case 8: item = Item(new.slots[0])
    case 9: extra = new.slots.first.map(Item.init)
    case 10: items = new.wrappers(Item.init)
    default: pair = new.pair()
    }
  }
}

extension Clan: ModelEntity {
  static var kind: Kind { .clan }
  static var relationKinds: [RelationKind] {
    [
      .unordered, .unordered, .list, .fixedList, .optionalFixed, .optionalWrapper, .wrapperList, .stubbornOptional,
      .list,
      .list,
    ]
  }
  static var part: any KeyPath<Self, Int> & Sendable { \.name }
  static func isActive(_ place: Int, _ own: [Int]) -> Bool { place != 9 || own[1] == 1 }

  var tree: Tree {
    Tree(
      ref: Self.ref(id), own: [name, isFlagged],
      relations: [
        set(inner), keyed(byKey), list(line), list(row), list(pair), wrapper(badge, \.slot), wrappers(badges, \.slot),
        optional(stubborn), list(people), isFlagged == 1 ? list(flagged) : list(flagged).withoutOmissions,
      ])
  }

  init(tree: Tree) {
    self.init(id: tree.ref.id, name: tree.own[0])
    isFlagged = tree.own[1]
    for index in 0..<10 { assign(index, tree.relations[index]) }
  }

  mutating func become(_ tree: Tree) {
    let old = self.tree
    (name, isFlagged) = (tree.own[0], tree.own[1])
    for index in 0..<10 where old.relations[index] != tree.relations[index] { assign(index, tree.relations[index]) }
  }

  private mutating func assign(_ index: Int, _ new: Relation<Tree>) {
    switch index {
    case 0: inner = new.set()
    case 1: byKey = new.dictionary()
    case 2: line = new.isNil ? nil : new.contiguousElements()
    case 3: row = Row(new.elements())
    case 4: pair = new.pair()
    case 5: badge = new.slots.first.map(Badge.init)
    case 6: badges = new.wrappers(Badge.init)
    case 7: setStubborn(new.first())
    case 8: people.become(new)
    default: flagged.become(new)
    }
  }
}

extension Album: ModelEntity {
  static var kind: Kind { .album }
  static var relationKinds: [RelationKind] { [.parts, .sorted, .sorted, .optional, .optional] }
  static var part: any KeyPath<Self, Int> & Sendable { \.title }
  static func isActive(_ place: Int, _ own: [Int]) -> Bool { place < 3 || (place == 4) == (own[1] == 1) }

  var tree: Tree {
    Tree(
      ref: Self.ref(id), own: [title, usesPinned],
      relations: [
        Relation(isOmitted: isOmitted(parts), slots: parts.flatMap(\.slots)), wrappers(items, \.slot), list(tags),
        optional(own), optional(pinned),
      ])
  }

  init(tree: Tree) {
    self.init(id: tree.ref.id, title: tree.own[0])
    usesPinned = tree.own[1]
    for index in 0..<5 { assign(index, tree.relations[index]) }
  }

  mutating func become(_ tree: Tree) {
    let old = self.tree
    (title, usesPinned) = (tree.own[0], tree.own[1])
    for index in 0..<5 where old.relations[index] != tree.relations[index] { assign(index, tree.relations[index]) }
  }

  private mutating func assign(_ index: Int, _ new: Relation<Tree>) {
    switch index {
    case 0: parts = new.isOmitted ? omitted() : Piece.parts(new.slots)
    case 1: items = new.wrappers(Item.init)
    case 2: tags.become(new)
    case 3: own = new.first()
    default: pinned = new.first()
    }
  }
}
