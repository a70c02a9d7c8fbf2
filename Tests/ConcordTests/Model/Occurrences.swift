/// One place where an entity stands in values given to one call.
struct Occurrence {
  var tree: Tree
  var depth: Int
  /// The way from the root: relation, slot, and whether that relation has an order.
  var path: [Step]
  /// The value of the same entity at the same place in what a closure was given.
  var given: Tree?
  /// Whether it stands directly inside an entity of its own cycle, where `nil` says nothing.
  var isBrief: Bool

  struct Step: Equatable {
    var place: Int
    var slot: Int
    var isOrdered: Bool
  }

  /// All occurrences, breadth first. A root that is `renamed` was made of what was given by another id, so what is
  /// below it is compared place by place all the same.
  static func all(
    in roots: [Tree], given: [Tree] = [], renamed isRenamed: Bool = false,
    areInOneCycle: (Ref, Ref) -> Bool = { _, _ in false }
  ) -> [Occurrence] {
    var found: [Occurrence] = []
    for (index, tree) in roots.enumerated() {
      let before = index < given.count && given[index].ref == tree.ref ? given[index] : nil
      let step = Step(place: 0, slot: index, isOrdered: true)
      found.append(Occurrence(tree: tree, depth: 0, path: [step], given: before, isBrief: false))
    }
    var next = 0
    while next < found.count {
      let parent = found[next]
      next += 1
      let parentBefore = parent.depth == 0 && isRenamed ? given.first : parent.given
      for place in parent.tree.activePlaces {
        let isOrdered = parent.tree.ref.kind.relationKinds[place].hasOrder
        let isThere = parentBefore?.isActive(place) ?? false
        let slotsBefore = isThere ? parentBefore?.relations[place].slots ?? [] : []
        for (slot, element) in parent.tree.relations[place].slots.enumerated() {
          guard let child = element.child else { continue }
          var before: Tree?
          if isOrdered {
            before = slot < slotsBefore.count ? slotsBefore[slot].child : nil
          } else {
            before = slotsBefore.first { $0.key == element.key && $0.child?.ref == child.ref }?.child
          }
          if before?.ref != child.ref { before = nil }
          let stoodBrief = before != nil && (parentBefore.map { areInOneCycle($0.ref, child.ref) } ?? false)
          found.append(
            Occurrence(
              tree: child, depth: parent.depth + 1,
              path: parent.path + [Step(place: place, slot: slot, isOrdered: isOrdered)], given: before,
              isBrief: stoodBrief || areInOneCycle(parent.tree.ref, child.ref)))
        }
      }
    }
    return found
  }

  /// What is said of a relation; `nil` where it was left out.
  func said(_ place: Int) -> Relation<Ref>? {
    let relation = tree.relations[place]
    if relation.isOmitted || isBrief && relation.isNil && tree.ref.kind.relationKinds[place].brief == .nothing {
      return nil
    }
    return relation.refs
  }

  /// Whether it says the same as `form`: in its own fields, and of who stands in the relations; what the children
  /// contain is theirs, and what was left out is no difference.
  func isSame(as form: Tree) -> Bool {
    tree.data == form.data
      && tree.activePlaces.allSatisfy { place in said(place).map { $0 == form.relations[place].refs } ?? true }
  }

  /// Whether two say the same, whichever wins.
  func saysSame(as other: Occurrence) -> Bool {
    tree.data == other.tree.data && tree.activePlaces.allSatisfy { said($0) == other.said($0) }
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

/// What a closure was given: all the values of each entity.
struct Forms {
  private var forms: [Ref: [Tree]] = [:]

  init(of roots: [Tree]) {
    for occurrence in Occurrence.all(in: roots) { add(occurrence.tree) }
  }

  mutating func add(_ tree: Tree) { forms[tree.ref, default: []].append(tree) }

  /// Whether the closure changed what stands here: compared with what stood here, or, if that was another entity,
  /// with all the values the entity had.
  func differs(_ occurrence: Occurrence) -> Bool {
    let candidates = occurrence.given.map { [$0] } ?? forms[occurrence.tree.ref] ?? []
    return !candidates.contains(where: occurrence.isSame)
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
      for other in equals where !other.saysSame(as: last) && !other.isSurely(before: last) { return nil }
      winners.append(last)
    }
    return winners
  }
}
