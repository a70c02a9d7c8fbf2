/// Something a closure does to the values it is given.
enum Edit: Sendable {
  /// Another value for the own field of the nth occurrence.
  case own(occurrence: Int, value: Int)
  /// Something else in a relation of the nth occurrence.
  case relation(occurrence: Int, place: Int, Relation<Tree>)
  /// Takes the first element out of a list in the nth occurrence, so that the others move.
  case shift(occurrence: Int)
  /// Another id for the value itself.
  case id(Int)
  /// One more element in a collection, one less, the first to the end.
  case append(Tree), removeLast, rotate
}

extension [Edit] {
  func applied(to tree: Tree) -> Tree { applied(toAll: [tree]).first ?? tree }

  func applied(toAll trees: [Tree]) -> [Tree] {
    reduce(trees) { trees, edit in edit.applied(to: trees) }
  }
}

extension Edit {
  fileprivate func applied(to trees: [Tree]) -> [Tree] {
    var trees = trees
    switch self {
    case .own(let occurrence, let value):
      Edit.change(&trees, occurrence) { $0.own[0] = value }
    case .relation(let occurrence, let place, let relation):
      Edit.change(&trees, occurrence) { tree in
        if place < tree.relations.count, tree.ref.kind.fits(relation, at: place) { tree.relations[place] = relation }
      }
    case .shift(let occurrence):
      Edit.change(&trees, occurrence) { tree in
        for (place, kind) in tree.ref.kind.relationKinds.enumerated() {
          if case .list = kind, tree.relations[place].slots.count > 1 {
            tree.relations[place].slots.removeFirst()
            return
          }
        }
      }
    case .id(let id):
      if !trees.isEmpty { trees[0].ref.id = id }
    case .append(let tree):
      if trees.first?.ref.kind ?? tree.ref.kind == tree.ref.kind { trees.append(tree) }
    case .removeLast:
      _ = trees.popLast()
    case .rotate:
      if let first = trees.first { trees = trees.dropFirst() + [first] }
    }
    return trees
  }

  private static func change(_ trees: inout [Tree], _ occurrence: Int, _ body: (inout Tree) -> Void) {
    let all = Occurrence.all(in: trees)
    guard !all.isEmpty else { return }
    let path = all[occurrence % all.count].path
    trees[path[0].slot].change(at: path.dropFirst(), body)
  }
}

extension Tree {
  fileprivate mutating func change(at path: ArraySlice<Occurrence.Step>, _ body: (inout Tree) -> Void) {
    guard let step = path.first else { return body(&self) }
    relations[step.place].slots[step.slot].child?.change(at: path.dropFirst(), body)
  }
}

extension Kind {
  /// The kinds that may stand in a relation, by the key of the slot for wrappers.
  func children(at place: Int) -> [Kind] {
    switch (self, place) {
    case (.person, 0), (.person, 1), (.team, _), (.group, 0), (.group, 1), (.group, 2): [.person]
    case (.person, 3): [.team]
    case (.person, 4): [.tag, .person]
    case (.work, 2): [.note]
    case (.group, 5), (.group, 7): [.work]
    case (.group, 8), (.group, 9), (.group, 10): [.tag, .work]
    default: [.tag]
    }
  }

  /// Whether a relation that was made for some kind and place can stand here.
  func fits(_ relation: Relation<Tree>, at place: Int) -> Bool {
    guard place < relationKinds.count else { return false }
    let kinds = children(at: place)
    guard relation.slots.allSatisfy({ $0.child.map { kinds.contains($0.ref.kind) } ?? (kinds.count > 1) }) else {
      return false
    }
    let isOptional = [[], [], [1, 2, 3], [1], [2], [1, 3, 5, 6, 7, 9, 11]][rawValue].contains(place)
    if relation.isNil { return isOptional && relation.slots.isEmpty }
    // Only in wrappers the key says which case it is.
    let isPlain = relation.slots.allSatisfy { $0.key == 0 }
    let isWrapped = relation.slots.allSatisfy { ($0.key == 0) == ($0.child == nil) }
    switch relationKinds[place] {
    case .required, .optional: return isPlain && relation.slots.count == 1
    case .wrapper, .stubbornWrapper, .optionalWrapper: return isWrapped && relation.slots.count == 1
    case .optionalFixed: return isPlain && relation.slots.count == 2
    case .list: return isPlain
    case .wrapperList: return isWrapped
    case .unordered:
      let identities = relation.slots.map { $0.key == 0 ? $0.child?.ref.id ?? 0 : -$0.key }
      return Set(identities).count == identities.count
        && relation.slots.allSatisfy { (self == .work && place == 0) == ($0.key == 0) }
    }
  }
}
