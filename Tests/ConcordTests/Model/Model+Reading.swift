extension Model {
  /// What each entity reaches, itself only through a cycle.
  func reach() -> [UInt64] {
    if let reach = state.memo.reach { return reach }
    let living = allRefs.map(\.index)
    var reach = state.records.map { record in
      record?.relations.reduce(into: UInt64(0)) { bits, relation in
        for slot in relation.slots { bits |= slot.child?.bit ?? 0 }
      } ?? 0
    }
    var isGrowing = true
    while isGrowing {
      isGrowing = false
      for index in living {
        var bits = reach[index]
        for other in living where reach[index] & (1 << UInt64(other)) != 0 { bits |= reach[other] }
        if bits != reach[index] {
          reach[index] = bits
          isGrowing = true
        }
      }
    }
    state.memo.reach = reach
    return reach
  }

  /// Whether two are in one strongly connected component; an entity is in one with itself if it contains itself.
  func areInOneCycle(_ a: Ref, _ b: Ref) -> Bool {
    let reach = reach()
    return reach[a.index] & b.bit != 0 && reach[b.index] & a.bit != 0
  }

  /// Whether somebody in a relation is in one cycle with the entity.
  func leadsBack(_ ref: Ref, _ place: Int) -> Bool {
    guard let relation = state.records[ref.index]?.relations[place] else { return false }
    return relation.slots.contains { $0.child.map { areInOneCycle(ref, $0) } ?? false }
  }

  /// Whether the brief form of an entity leaves a relation out.
  func leavesOut(_ ref: Ref, _ place: Int) -> Bool {
    ref.kind.relationKinds[place].brief != nil && leadsBack(ref, place)
  }

  /// The whole value: own fields and all relations. Others of the same cycle are brief in them.
  func read(_ ref: Ref) -> Tree? {
    if let tree = state.memo.whole[ref] { return tree }
    let tree = show(ref) { _ in true }
    state.memo.whole[ref] = tree
    return tree
  }

  /// The brief value: without the relations that lead back into the cycle, as far as they can be left out.
  func brief(_ ref: Ref) -> Tree? {
    if let tree = state.memo.brief[ref] { return tree }
    let tree = show(ref) { !leavesOut(ref, $0) }
    state.memo.brief[ref] = tree
    return tree
  }

  private func show(_ ref: Ref, where isShown: (Int) -> Bool) -> Tree? {
    guard let record = state.records[ref.index] else { return nil }
    var tree = Tree(ref: ref, own: record.data.own)
    for (place, relation) in record.relations.enumerated() {
      tree.relations.append(record.data.plain[place] ?? show(relation, of: ref, at: place, isShown(place)))
    }
    return tree.normalized
  }

  private func show(_ relation: Relation<Ref>, of ref: Ref, at place: Int, _ isShown: Bool) -> Relation<Tree> {
    if !isShown, let brief = ref.kind.relationKinds[place].brief { return brief }
    return Relation(
      isNil: relation.isNil,
      slots: relation.slots.map { slot in
        let child = slot.child.flatMap { areInOneCycle(ref, $0) ? brief($0) : read($0) }
        return Slot(key: slot.key, plain: slot.plain, child: child)
      })
  }

  /// Whether somebody requires herself, by way of others or not: no value can show that, so the test leaves it out.
  var requiresItself: Bool {
    func required(_ ref: Ref) -> [Ref] {
      guard let record = state.records[ref.index] else { return [] }
      return record.relations.indices.filter { ref.kind.relationKinds[$0].brief == nil }
        .flatMap { record.relations[$0].slots.compactMap(\.child) }
    }
    // Whoever requires nobody who is left is left out, until nobody is, or all who are left are in a cycle.
    var left = Set(allRefs)
    while let free = left.first(where: { left.isDisjoint(with: required($0)) }) { left.remove(free) }
    return !left.isEmpty
  }

  /// The set view needs no order: elements of a set come sorted by id, values of a dictionary by key.
  func reading(_ target: Target) -> Reading? {
    switch target {
    case .entity(let ref): read(ref).map { .one($0) }
    case .optional(let ref): .one(read(ref))
    case .list(let refs): .many(refs.compactMap(read))
    case .alias(let name):
      if name.isCollection {
        .many(state.aliases[name].map { $0.refs.compactMap(read) })
      } else {
        .one(state.aliases[name]?.refs.first.flatMap(read))
      }
    }
  }
}
