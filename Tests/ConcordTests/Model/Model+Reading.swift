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

  func read(_ ref: Ref) -> Tree? {
    if let tree = state.memo.trees[ref] { return tree }
    guard contains(ref), let tree = read([ref]).first else { return nil }
    state.memo.trees[ref] = tree
    return tree
  }

  /// The values of some entities, read as one value: in a cycle each entity is shown in full once, at its nearest
  /// occurrence, and without its relations into the cycle at the others.
  func read(_ refs: [Ref]) -> [Tree] {
    let reach = reach()
    func isCyclic(_ ref: Ref) -> Bool { reach[ref.index] & ref.bit != 0 }
    func areInOneCycle(_ a: Ref, _ b: Ref) -> Bool { reach[a.index] & b.bit != 0 && reach[b.index] & a.bit != 0 }

    struct Node {
      var ref: Ref
      var isForcedFar = false
      var isFar = false
      var relations: [Relation<Int>] = []
    }
    var nodes = refs.map { Node(ref: $0) }
    var level = nodes.indices
    var seen: UInt64 = 0
    while !level.isEmpty {
      // Among equally near ones the last is the full one, as it is the last that wins when they are stored.
      for index in level.reversed() where isCyclic(nodes[index].ref) {
        let node = nodes[index]
        nodes[index].isFar = node.isForcedFar || seen & node.ref.bit != 0
        if !nodes[index].isFar { seen |= node.ref.bit }
      }
      let end = level.upperBound
      for index in level {
        let node = nodes[index]
        guard let record = state.records[node.ref.index] else { continue }
        for (place, relation) in record.relations.enumerated() {
          var kept = relation
          var forced: Set<Int> = []
          if node.isFar {
            for slot in kept.slots.indices.reversed() {
              guard let child = kept.slots[slot].child, areInOneCycle(node.ref, child) else { continue }
              if let rest = node.ref.kind.relationKinds[place].removing(slot, from: kept) {
                kept = rest
              } else {
                forced.insert(slot)
              }
            }
          }
          var shown = Relation<Int>(isNil: kept.isNil)
          for (position, slot) in kept.slots.enumerated() {
            var number: Int?
            if let child = slot.child {
              number = nodes.count
              nodes.append(Node(ref: child, isForcedFar: forced.contains(position)))
            }
            shown.slots.append(Slot(key: slot.key, plain: slot.plain, child: number))
          }
          nodes[index].relations.append(shown)
        }
      }
      level = end..<nodes.count
    }

    // Children come after their parents.
    var trees = [Tree?](repeating: nil, count: nodes.count)
    for index in nodes.indices.reversed() {
      let node = nodes[index]
      guard let record = state.records[node.ref.index] else { continue }
      let relations = node.relations.map { relation in
        Relation<Tree>(
          isNil: relation.isNil,
          slots: relation.slots.map { slot in
            Slot(key: slot.key, plain: slot.plain, child: slot.child.flatMap { trees[$0] })
          })
      }
      trees[index] = Tree(ref: node.ref, own: record.own, relations: relations)
    }
    return refs.indices.compactMap { trees[$0] }
  }

  /// How many nodes the largest value in the store has, up to a limit.
  func isLarge(limit: Int) -> Bool {
    var sizes = [Int?](repeating: nil, count: Ref.count)
    let reach = reach()
    func size(_ ref: Ref) -> Int {
      if let size = sizes[ref.index] { return size }
      sizes[ref.index] = 1
      var sum = 1
      for relation in state.records[ref.index]?.relations ?? [] {
        for slot in relation.slots {
          guard let child = slot.child else { continue }
          sum += reach[child.index] & ref.bit != 0 ? 8 : size(child)
        }
      }
      sizes[ref.index] = sum
      return sum
    }
    return allRefs.contains { size($0) > limit }
  }

  /// The set view needs no order: elements of a set come sorted by id, values of a dictionary by key.
  func reading(_ target: Target) -> Reading? {
    switch target {
    case .entity(let ref): read(ref).map { .one($0) }
    case .optional(let ref): .one(read(ref))
    case .list(let refs): .many(read(refs.filter(contains)))
    case .alias(let name):
      if name.isCollection {
        .many(state.aliases[name].map { read($0.refs) })
      } else {
        .one(state.aliases[name]?.refs.first.flatMap(read))
      }
    }
  }
}
