/// One place where an entity stands in values given to one call.
struct Occurrence {
  var tree: Tree
  var depth: Int
  /// The way from the root: relation, slot, and whether that relation has an order.
  var path: [Step]
  /// The value of the same entity at the same place in what a closure was given.
  var given: Tree?
  /// What it was made of: `given` or, at a new place, the form of the entity that it is like, or else the first.
  var base: Tree?
  /// The relations that say nothing, because they were left out.
  var leftOut: Set<Int> = []
  /// Those among them that the store has not, as in an entity that is new to it: what was left out is just empty there.
  var justEmpty: Set<Int> = []
  /// The relations that a closure was given without what is in them, so that an edit of them is refused.
  var hidden: Set<Int> = []

  struct Step: Equatable {
    var place: Int
    var slot: Int
    var isOrdered: Bool
  }

  /// All occurrences, breadth first; none in what is refused. `forms` are what a closure was given, `model` the store as it
  /// was when the call began. A root that is `renamed` was made of what was given by another id, so what is below it is
  /// compared place by place all the same.
  static func all(
    in roots: [Tree], given: [Tree] = [], forms: Forms = Forms(), renamed isRenamed: Bool = false, model: Model? = nil
  ) -> [Occurrence] {
    var found: [Occurrence] = []
    func add(_ tree: Tree, _ depth: Int, _ path: [Step], given: Tree?, isBrief: Bool, wasBrief: Bool = false) {
      var occurrence = Occurrence(tree: tree, depth: depth, path: path, given: given?.ref == tree.ref ? given : nil)
      occurrence.base = occurrence.given ?? forms.base(of: tree)
      // An omitted collection is known anywhere; nil and an empty wrapper stand for what a brief form leaves out directly
      // inside their own cycle, and elsewhere say that nothing is there.
      func isLeftOut(_ place: Int, in tree: Tree) -> Bool {
        let relation = tree.relations[place]
        if relation.isOmitted { return true }
        return isBrief && relation == tree.ref.kind.relationKinds[place].brief
          && model?.leavesOut(tree.ref, place) ?? false
      }
      // Where the store has no such relation, what was left out is just empty, and an edit of it hides nothing.
      func standsForSomething(_ place: Int) -> Bool {
        let isEmpty = tree.isActive(place) && tree.relations[place].slots.isEmpty
        return isEmpty || model?.hasRelation(place, of: tree.ref) ?? true
      }
      occurrence.leftOut = Set(tree.activePlaces.filter { isLeftOut($0, in: tree) })
      occurrence.justEmpty = occurrence.leftOut.filter { !(model?.hasRelation($0, of: tree.ref) ?? true) }
      // Below a root that was made of another, which was in the cycle, what the closure left as it was is no edit either.
      if wasBrief, let given = occurrence.given {
        for place in tree.activePlaces where given.isActive(place) && given.relations[place] == tree.relations[place] {
          if tree.relations[place] == tree.ref.kind.relationKinds[place].brief,
            model?.leavesOut(tree.ref, place) ?? false
          {
            occurrence.leftOut.insert(place)
          }
        }
      }
      if let base = occurrence.base {
        occurrence.hidden = Set(base.activePlaces.filter { isLeftOut($0, in: base) && standsForSomething($0) })
      }
      found.append(occurrence)
    }
    for (index, tree) in roots.enumerated() {
      let step = Step(place: 0, slot: index, isOrdered: true)
      add(tree, 0, [step], given: index < given.count ? given[index] : nil, isBrief: false)
    }
    var next = 0
    while next < found.count {
      let parent = found[next]
      next += 1
      let before = parent.depth == 0 && isRenamed ? given.first : parent.base
      for place in parent.tree.activePlaces where !parent.hidden.contains(place) {
        let isOrdered = parent.tree.ref.kind.relationKinds[place].hasOrder
        let isThere = before?.isActive(place) ?? false
        let slotsBefore = isThere ? before?.relations[place].slots ?? [] : []
        for (slot, element) in parent.tree.relations[place].slots.enumerated() {
          guard let child = element.child else { continue }
          var stoodHere: Tree?
          if isOrdered {
            stoodHere = slot < slotsBefore.count ? slotsBefore[slot].child : nil
          } else {
            stoodHere = slotsBefore.first { $0.key == element.key && $0.child?.ref == child.ref }?.child
          }
          let step = Step(place: place, slot: slot, isOrdered: isOrdered)
          let isBrief = model?.areInOneCycle(parent.tree.ref, child.ref) ?? false
          let wasBrief = before.map { model?.areInOneCycle($0.ref, child.ref) ?? false } ?? false
          add(child, parent.depth + 1, parent.path + [step], given: stoodHere, isBrief: isBrief, wasBrief: wasBrief)
        }
      }
    }
    return found
  }

  /// What is said of a relation; `nil` where it was left out.
  func said(_ place: Int) -> Relation<Ref>? { leftOut.contains(place) ? nil : tree.relations[place].refs }

  /// Whether it says the same as `form`: in its own fields, and of who stands in the relations; what the children
  /// contain is theirs, and what was left out is no difference, nor an edit that is refused.
  func isSame(as form: Tree) -> Bool {
    tree.data == form.data
      && tree.activePlaces.allSatisfy { place in
        if hidden.contains(place) { return true }
        if justEmpty.contains(place) { return form.relations[place].slots.isEmpty }
        return said(place).map { $0 == form.relations[place].refs } ?? true
      }
  }

  /// Whether two say the same, whichever wins.
  func saysSame(as other: Occurrence) -> Bool {
    tree.data == other.tree.data && hidden == other.hidden
      && tree.activePlaces.allSatisfy { said($0) == other.said($0) }
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

/// The values that each entity has in what a closure was given.
struct Forms {
  private var forms: [Ref: [Tree]] = [:]

  init() {}

  init(of roots: [Tree]) {
    for occurrence in Occurrence.all(in: roots) { add(occurrence.tree) }
  }

  mutating func add(_ tree: Tree) { forms[tree.ref, default: []].append(tree) }

  func contains(_ ref: Ref) -> Bool { forms[ref] != nil }

  /// The form that a value at a new place was made of: one that was moved as it is, or changed inside only, or in its relations
  /// only, or the first.
  func base(of tree: Tree) -> Tree? {
    let known = forms[tree.ref] ?? []
    if known.contains(tree) { return tree }
    let relations = tree.relations.map(\.refs)
    let alike = known.filter { $0.data == tree.data }
    return alike.first { $0.relations.map(\.refs) == relations } ?? alike.first ?? known.first
  }

  /// Whether nobody can tell what an occurrence was: it stands in no order, and the closure was given several values of the entity.
  func areOpen(for occurrences: [Occurrence]) -> Bool {
    occurrences.contains { occurrence in
      guard occurrence.path.last?.isOrdered == false, let known = forms[occurrence.tree.ref] else { return false }
      return known.contains { $0 != known.first }
    }
  }

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
      // Nor can anybody tell which of them a closure changed, if they were given as different values in no order. (What
      // `update` gives are forms of one value.)
      let given = only ? [] : occurrences.filter { $0.given != nil }
      for (number, one) in given.enumerated() {
        for other in given[(number + 1)...] where one.given != other.given {
          if !one.isSurely(before: other), !other.isSurely(before: one) { return nil }
        }
      }
      winners.append(last)
    }
    return winners
  }
}
