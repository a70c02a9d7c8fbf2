/// One place where an entity stands in values given to one call.
struct Occurrence {
  var tree: Tree
  var depth: Int
  /// The way from the root: relation, slot, and whether that relation has an order.
  var path: [Step]
  /// The value of the same entity at the same place in what a closure was given.
  var given: Tree?

  struct Step: Equatable {
    var place: Int
    var slot: Int
    var isOrdered: Bool
  }

  /// All occurrences, breadth first. A root that is `renamed` was made of what was given by another id, so what is
  /// below it is compared place by place all the same.
  static func all(in roots: [Tree], given: [Tree] = [], renamed isRenamed: Bool = false) -> [Occurrence] {
    var found: [Occurrence] = []
    func add(_ tree: Tree, _ depth: Int, _ path: [Step], _ before: Tree?) {
      found.append(Occurrence(tree: tree, depth: depth, path: path, given: before?.ref == tree.ref ? before : nil))
    }
    for (index, tree) in roots.enumerated() {
      add(tree, 0, [Step(place: 0, slot: index, isOrdered: true)], index < given.count ? given[index] : nil)
    }
    var next = 0
    while next < found.count {
      let parent = found[next]
      next += 1
      let kinds = parent.tree.ref.kind.relationKinds
      for (place, relation) in parent.tree.relations.enumerated() {
        var isOrdered = true
        if case .unordered = kinds[place] { isOrdered = false }
        let before = parent.depth == 0 && isRenamed ? given.first : parent.given
        let slotsBefore = before?.relations[place].slots ?? []
        for (slot, element) in relation.slots.enumerated() {
          guard let child = element.child else { continue }
          var before: Tree?
          if isOrdered {
            before = slot < slotsBefore.count ? slotsBefore[slot].child : nil
          } else {
            before = slotsBefore.first { $0.key == element.key && $0.child?.ref == child.ref }?.child
          }
          let step = Step(place: place, slot: slot, isOrdered: isOrdered)
          add(child, parent.depth + 1, parent.path + [step], before)
        }
      }
    }
    return found
  }

  /// Whether this occurrence certainly comes before `other` of the same depth.
  func isSurely(before other: Occurrence) -> Bool {
    for (mine, theirs) in zip(path, other.path) where mine != theirs {
      if mine.place != theirs.place { return mine.place < theirs.place }
      return mine.isOrdered && mine.slot < theirs.slot
    }
    return false
  }
}

extension Tree {
  /// Whether the own fields are the same, and who stands in the relations; what the children contain is theirs.
  func isSame(as other: Tree) -> Bool {
    ref == other.ref && own == other.own && relations.map(\.refs) == other.relations.map(\.refs)
  }
}

/// The values each entity had in what a closure was given.
struct Forms {
  private var forms: [Ref: [Tree]] = [:]

  init(of roots: [Tree]) {
    for occurrence in Occurrence.all(in: roots) { forms[occurrence.tree.ref, default: []].append(occurrence.tree) }
  }

  /// Whether the closure changed what stands here: compared with what stood here, or, if that was another entity,
  /// with all the values the entity had.
  func differs(_ occurrence: Occurrence) -> Bool {
    if let given = occurrence.given { return !occurrence.tree.isSame(as: given) }
    return !(forms[occurrence.tree.ref] ?? []).contains { $0.isSame(as: occurrence.tree) }
  }

  /// What the closure was given for this occurrence: what stood here, or, where another entity stood, the value of the
  /// entity that shows the same in all relations.
  func base(of occurrence: Occurrence) -> Tree? {
    if let given = occurrence.given { return given }
    let relations = occurrence.tree.relations.map(\.refs)
    return forms[occurrence.tree.ref]?.first { $0.relations.map(\.refs) == relations }
  }
}

extension Model {
  /// The occurrence that wins for each entity: the outermost, among equals the last. `nil` when the design leaves it
  /// open, because different values come in no order.
  func winners(
    among occurrences: [Occurrence], preferring isPreferred: (Occurrence) -> Bool = { _ in false }, only: Bool = false
  ) -> [Occurrence]? {
    var byRef: [Ref: [Occurrence]] = [:]
    for occurrence in occurrences { byRef[occurrence.tree.ref, default: []].append(occurrence) }
    var winners: [Occurrence] = []
    for occurrences in byRef.values {
      let preferred = occurrences.filter(isPreferred)
      if only, preferred.isEmpty { continue }
      let candidates = preferred.isEmpty ? occurrences : preferred
      guard let depth = candidates.first?.depth else { continue }
      let equals = candidates.filter { $0.depth == depth }
      guard let last = equals.last else { continue }
      for other in equals where !other.tree.isSame(as: last.tree) && !other.isSurely(before: last) { return nil }
      winners.append(last)
    }
    return winners
  }
}
