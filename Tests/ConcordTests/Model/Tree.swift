/// The kinds of entities in the test schema.
enum Kind: Int, CaseIterable, Sendable {
  case tag, note, person, team, work, group

  /// How many ids of each kind a random world uses.
  var population: Int {
    switch self {
    case .tag: 4
    case .note: 2
    case .person: 3
    case .team: 1
    case .work: 2
    case .group: 2
    }
  }
}

/// An identity: kind and id. Ids are below 8, so that a set of identities fits the bits of a word.
struct Ref: Hashable, Sendable, CustomStringConvertible {
  var kind: Kind
  var id: Int

  static let count = 48
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

/// What stands in one relation. `isNil` is an optional that is `nil`.
struct Relation<Child: Equatable & Sendable>: Equatable, Sendable {
  var isNil = false
  var slots: [Slot<Child>] = []
}

/// Any entity of the schema as a value: its own fields, and its relations with whole children.
struct Tree: Equatable, Sendable, CustomStringConvertible {
  var ref: Ref
  var own: [Int]
  var relations: [Relation<Tree>] = []

  var description: String {
    let inside = relations.map { relation in
      if relation.isNil { return "nil" }
      return relation.slots.map { slot in
        let key = slot.key == 0 ? "" : "\(slot.key):"
        return key + (slot.child?.description ?? "plain\(slot.plain)")
      }.joined(separator: " ")
    }
    return inside.isEmpty ? "\(ref)=\(own[0])" : "\(ref)=\(own[0])(\(inside.joined(separator: "|")))"
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

/// How a relation behaves when an element is to be taken out of it, and whether its elements have an order.
enum RelationKind: Sendable {
  case required, optional, list, unordered, optionalFixed, stubbornWrapper, optionalWrapper, wrapperList, wrapper

  /// The relation without the slot at `index`; `nil` when it cannot be taken out.
  func removing<Child>(_ index: Int, from relation: Relation<Child>) -> Relation<Child>? {
    switch self {
    case .required, .stubbornWrapper:
      return nil
    case .optional, .optionalFixed, .optionalWrapper:
      return Relation(isNil: true)
    case .wrapper:
      return Relation(slots: [Slot()])
    case .list, .unordered, .wrapperList:
      var rest = relation
      rest.slots.remove(at: index)
      return rest
    }
  }
}
