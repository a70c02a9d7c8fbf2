/// The kinds of entities in the test schema.
enum Kind: Int, CaseIterable, Sendable {
  case tag, note, person, team, work, group, clan, album

  /// How many ids of each kind a random world uses.
  var population: Int {
    switch self {
    case .tag: 4
    case .note: 2
    case .person: 3
    case .team: 1
    case .work: 2
    case .group: 2
    case .clan: 3
    case .album: 1
    }
  }
}

/// An identity: kind and id. Ids are below 8, so that a set of identities fits the bits of a word.
struct Ref: Hashable, Sendable, CustomStringConvertible {
  var kind: Kind
  var id: Int

  static let count = 64
  var index: Int { kind.rawValue * 8 + id }
  var bit: UInt64 { 1 << UInt64(index) }

  init(_ kind: Kind, _ id: Int) {
    self.kind = kind
    self.id = id
  }

  init?(index: Int) {
    guard let kind = Kind(rawValue: index / 8) else { return nil }
    self.init(kind, index % 8)
  }

  var description: String { "\(kind)\(id)" }
}

/// One place of a relation: an element, a dictionary's value under its key, or a wrapper with its case as the key.
struct Slot<Child: Equatable & Sendable>: Equatable, Sendable {
  var key = 0
  var plain = 0
  var child: Child?
}

/// What stands in one relation. `isNil` is an optional that is `nil`, `isOmitted` a collection that the store left out,
/// which is empty and yet not the same as an empty one.
struct Relation<Child: Equatable & Sendable>: Equatable, Sendable {
  var isNil = false
  var isOmitted = false
  var slots: [Slot<Child>] = []
}

/// Any entity of the schema as a value: its own fields, and its relations.
struct Tree: Equatable, Sendable, CustomStringConvertible {
  var ref: Ref
  var own: [Int]
  var relations: [Relation<Tree>] = []

  var description: String {
    let inside = relations.map { relation in
      if relation.isNil { return "nil" }
      if relation.isOmitted { return "…" }
      return relation.slots.map { slot in
        let key = slot.key == 0 ? "" : "\(slot.key):"
        return key + (slot.child?.description ?? "plain\(slot.plain)")
      }.joined(separator: " ")
    }
    return inside.isEmpty ? "\(ref)=\(own[0])" : "\(ref)=\(own[0])(\(inside.joined(separator: "|")))"
  }
}

extension Tree {
  /// What is the entity's own: its fields, and what stands in places that are no relations in this very value.
  struct Data: Equatable {
    var own: [Int]
    var plain: [Int: Relation<Tree>]
  }

  var data: Data {
    var plain: [Int: Relation<Tree>] = [:]
    for place in relations.indices where !isActive(place) { plain[place] = relations[place].withoutOmissions }
    return Data(own: own, plain: plain)
  }

  func isActive(_ place: Int) -> Bool { ref.kind.isActive(place, own) }

  /// The places that are relations in this very value.
  var activePlaces: [Int] { relations.indices.filter(isActive) }

  /// How many entities stand in it, itself among them.
  var size: Int {
    relations.reduce(1) { size, relation in relation.slots.reduce(size) { $0 + ($1.child?.size ?? 0) } }
  }

  var withoutOmissions: Tree {
    var tree = self
    tree.relations = relations.map(\.withoutOmissions)
    return tree
  }

  /// The same value as the types of the schema show it: some of them sort what they are given. Where a getter makes a new
  /// collection, and in what is no relation, nobody can tell what was left out from what is empty, so neither is made up.
  var normalized: Tree {
    var tree = self
    for (place, kind) in ref.kind.relationKinds.enumerated() {
      if !isActive(place) { tree.relations[place] = tree.relations[place].withoutOmissions }
      if case .sorted = kind { tree.relations[place].isOmitted = false }
      for slot in tree.relations[place].slots.indices {
        tree.relations[place].slots[slot].child = tree.relations[place].slots[slot].child?.normalized
      }
      if case .sorted = kind { tree.relations[place].slots.sort(by: Slot.isBefore) }
    }
    return tree
  }
}

extension Slot where Child == Tree {
  /// The order of a relation that its getter sorts.
  static func isBefore(_ a: Slot, _ b: Slot) -> Bool {
    func rank(_ slot: Slot) -> [Int] { [slot.child?.own[0] ?? slot.plain, slot.key, slot.child?.ref.id ?? 0] }
    return rank(a).lexicographicallyPrecedes(rank(b))
  }
}

extension Relation where Child == Tree {
  /// The relation with identities in place of values.
  var refs: Relation<Ref> {
    Relation<Ref>(
      isNil: isNil, isOmitted: isOmitted,
      slots: slots.map { Slot(key: $0.key, plain: $0.plain, child: $0.child?.ref) })
  }
}

/// What an observer shows: an entity or its absence, or a collection or its absence.
enum Reading: Equatable, Sendable, CustomStringConvertible {
  case one(Tree?)
  case many([Tree]?)
  case part(Int)

  var description: String {
    switch self {
    case .one(let tree): tree?.description ?? "nil"
    case .many(let trees): trees?.description ?? "nil"
    case .part(let part): ".\(part)"
    }
  }
}

extension Relation where Child == Tree {
  /// As `==` sees it, and so whoever compares what is no relation in a value.
  var withoutOmissions: Relation {
    var relation = self
    relation.isOmitted = false
    for slot in slots.indices { relation.slots[slot].child = slots[slot].child?.withoutOmissions }
    return relation
  }
}
