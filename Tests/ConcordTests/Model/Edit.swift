/// Something a closure does to the values it is given.
enum Edit: Sendable {
  /// Another value for the own field of the nth occurrence.
  case own(occurrence: Int, value: Int)
  /// Another value for the own field that says which relations there are.
  case flag(occurrence: Int, value: Int)
  /// Something else in a relation of the nth occurrence, if that is of the kind that the relation was made for.
  case relation(occurrence: Int, of: Kind, place: Int, Relation<Tree>)
  /// What stands in a relation of another occurrence of the same kind, left out there or not.
  case copy(occurrence: Int, from: Int, place: Int)
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
    reduce(trees) { trees, edit in edit.applied(to: trees).map(\.normalized) }
  }
}

extension Edit {
  fileprivate func applied(to trees: [Tree]) -> [Tree] {
    var trees = trees
    switch self {
    case .own(let occurrence, let value):
      Edit.change(&trees, occurrence) { $0.own[0] = value }
    case .flag(let occurrence, let value):
      Edit.change(&trees, occurrence) { tree in
        if tree.ref.kind.hasFlag { tree.own[1] = value }
      }
    case .relation(let occurrence, let kind, let place, let relation):
      Edit.change(&trees, occurrence) { tree in
        if tree.ref.kind == kind { tree.relations[place] = relation }
      }
    case .copy(let occurrence, let other, let place):
      let all = Occurrence.all(in: trees)
      guard !all.isEmpty else { break }
      let source = all[other % all.count].tree
      Edit.change(&trees, occurrence) { tree in
        if tree.ref.kind == source.ref.kind, place < source.relations.count {
          tree.relations[place] = source.relations[place]
        }
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
  /// The kinds that may stand in a relation; in wrappers the key of a slot says which, from 1 on.
  func children(at place: Int) -> [Kind] {
    switch (self, place) {
    case (.person, 0), (.person, 1), (.team, _), (.group, 0), (.group, 1), (.group, 2), (.clan, 8): [.person]
    case (.person, 3): [.team]
    case (.person, 4): [.tag, .person]
    case (.work, 2): [.note]
    case (.group, 5), (.group, 7): [.work]
    case (.group, 8), (.group, 9), (.group, 10), (.album, 1): [.tag, .work]
    case (.clan, _): [.clan]
    default: [.tag]
    }
  }

  /// Whether a collection is optional.
  func isOptional(_ place: Int) -> Bool {
    [Ref(.team, 1), Ref(.group, 3), Ref(.group, 5), Ref(.clan, 1), Ref(.clan, 2)].contains(Ref(self, place))
  }

  func isSet(_ place: Int) -> Bool { [Ref(.work, 0), Ref(.clan, 0)].contains(Ref(self, place)) }

  /// Whether the second of the own fields says which relations there are.
  var hasFlag: Bool { self == .clan || self == .album }
}
