/// Makes random values and changes for the random test of shapes.
struct ShapeMaker {
  private var random: SeededGenerator
  private let variety: ShapeVariety

  init(seed: UInt64, _ variety: ShapeVariety) {
    random = SeededGenerator(seed: seed)
    self.variety = variety
  }

  // MARK: - Steps

  mutating func step(depth: Int = 0) -> ShapeStep {
    let kind = variety.kinds[number(variety.kinds.count)]
    let id = number(kind.count)
    let seed = random.next() >> 32
    switch number(depth == 0 ? 24 : 17) {
    case 0..<4: return .store(kind, id, seed: seed, isKept: depth == 0 && number(3) > 0)
    case 4..<12: return .update(kind, id, seed: seed)
    case 12: return .remove(kind, id)
    case 13: return .storeRead(kind, id)
    case 14..<16: return .read(kind, id)
    case 16: return .check
    case 17: return .keep(kind, id)
    case 18: return .drop(kind, id)
    case 19: return .observe(kind, id)
    case 20: return .unsubscribe(kind, id)
    case 21: return .transaction((0..<1 + number(5)).map { _ in step(depth: 1) }, throwing: number(2) == 0)
    default: return .check
    }
  }

  // MARK: - Values

  mutating func make(_ kind: ShapeKind, _ id: Int) -> any ShapeEntity {
    switch kind {
    case .leaf: Leaf(id: id, text: text())
    case .pod: pod(id)
    case .rack: rack(id)
    case .knot: knot(id)
    }
  }

  private mutating func number(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
  private mutating func text() -> Int { number(40) - 10 }
  private mutating func mode() -> ShapeMode {
    let mode = ShapeMode(rawValue: number(2048) & number(2048)).intersection(variety.modes)
    return variety.hasNests ? mode.union(.nests) : mode
  }

  private mutating func leaf() -> Leaf { Leaf(id: number(ShapeKind.leaf.count), text: text()) }
  private mutating func leaves(_ most: Int = 4) -> [Leaf] { (0..<number(most)).map { _ in leaf() } }

  private mutating func slot(_ depth: Int = 2) -> Niche {
    switch number(!variety.hasWideNiches ? 4 : depth > 0 ? 10 : 7) {
    case 0: .none
    case 1: .list(leaves())
    case 2: .maybe(number(3) == 0 ? nil : leaf())
    case 3: .named([0: leaf(), 1: leaf()])
    case 4: variety.hasShyNiches ? .shy(leaf(), leaf()) : .pair(leaf(), leaf())
    case 5: .pair(leaf(), leaf())
    case 6: .stubborn(leaf())
    case 7: .slots((0..<number(4)).map { _ in slot(depth - 1) })
    default: .both(slot(depth - 1), slot(depth - 1))
    }
  }

  private mutating func pod(_ id: Int? = nil) -> Pod {
    var pod = Pod(
      id: id ?? number(ShapeKind.pod.count), text: text(), mode: mode(), main: leaf(),
      spare: number(2) == 0 ? nil : leaf(), list: leaves(5), index: number(2) == 0 ? [:] : [1: leaf(), 2: leaf()],
      slot: slot(), slots: (0..<number(4)).map { _ in slot() })
    if variety.hasNests { pod.nest = nest() }
    return pod
  }

  private mutating func nest() -> Nest {
    var nest = Nest()
    for _ in 0..<number(5) { change(&nest) }
    return nest
  }

  private mutating func change(_ nest: inout Nest) {
    switch number(18) {
    case 0: nest.grid.append(leaves())
    case 1: if !nest.grid.isEmpty { nest.grid[0].append(leaf()) }
    case 2: nest.grid.reverse()
    case 3: nest.shelves[number(3)] = leaves()
    case 4: nest.shelves[number(3)]?.append(leaf())
    case 5: nest.shelves[number(3)] = nil
    case 6: nest.maybeShelves = number(2) == 0 ? nil : [0: leaves(), 1: nil]
    case 7: nest.maybeShelves?[number(3)] = leaves()
    case 8: nest.gaps.append(number(3) == 0 ? nil : leaf())
    case 9: if !nest.gaps.isEmpty { nest.gaps[0]?.text = text() }
    case 10: nest.deep = number(3) == 0 ? nil : number(2) == 0 ? .some(nil) : .some(leaf())
    case 11: nest.sets.append(Set(leaves()))
    case 12: if !nest.sets.isEmpty { nest.sets[0].insert(leaf()) }
    case 13: nest.niches[number(3)] = slot()
    case 14: nest.nicheSet.insert(slot())
    case 15: nest.nicheGaps.append(number(3) == 0 ? nil : slot())
    case 16: nest.pair.left = number(3) == 0 ? nil : leaf()
    default: nest.pair.right = leaves()
    }
  }

  private mutating func change(_ mesh: inout Mesh, _ knot: (inout Self) -> Knot) {
    switch number(8) {
    case 0: mesh.rows.append((0..<number(3)).map { _ in knot(&self) })
    case 1: if !mesh.rows.isEmpty { mesh.rows[0].append(knot(&self)) }
    case 2: mesh.rows.reverse()
    case 3: mesh.web[number(3)] = (0..<number(3)).map { _ in knot(&self) }
    case 4: mesh.web[number(3)] = nil
    case 5: mesh.gaps.append(number(3) == 0 ? nil : knot(&self))
    case 6: if !mesh.gaps.isEmpty { mesh.gaps[0] = knot(&self) }
    default: mesh.ties[number(3)] = tie(knot)
    }
  }

  private mutating func rack(_ id: Int) -> Rack {
    Rack(
      id: id, text: text(), mode: mode(), pods: (0..<number(4)).map { _ in pod() },
      inner: Rack.Inner(pod: number(2) == 0 ? nil : pod(), leaf: leaf()))
  }

  private mutating func knot(_ id: Int? = nil, depth: Int = 1) -> Knot {
    var knot = Knot(id: id ?? number(ShapeKind.knot.count), text: text(), mode: mode())
    knot.leaf = number(2) == 0 ? nil : leaf()
    knot.pod = number(4) == 0 ? pod() : nil
    guard depth >= 0 else { return knot }
    knot.knots = (0..<number(3)).map { _ in self.knot(depth: depth - 1) }
    knot.tie = tie { $0.knot(depth: depth - 1) }
    knot.ties = (0..<number(3)).map { _ in tie { $0.knot(depth: depth - 1) } }
    if variety.hasNests { for _ in 0..<number(4) { change(&knot.mesh) { $0.knot(depth: depth - 1) } } }
    return knot
  }

  private mutating func tie(_ knot: (inout Self) -> Knot) -> Tie {
    switch number(4) {
    case 0: .one(knot(&self))
    case 1: .two(knot(&self), knot(&self))
    case 2: .many((0..<number(3)).map { _ in knot(&self) })
    default: .none
    }
  }

  // MARK: - Changes

  /// Changes something of a value. `knots` are the knots as they are read.
  mutating func change(_ value: inout any ShapeEntity, _ knots: [Knot]) {
    for _ in 0...number(3) { changeOnce(&value, knots) }
  }

  private mutating func changeOnce(_ value: inout any ShapeEntity, _ knots: [Knot]) {
    switch value {
    case var leaf as Leaf:
      leaf.text = text()
      value = leaf
    case var pod as Pod:
      change(&pod)
      value = pod
    case var rack as Rack:
      change(&rack)
      value = rack
    case var knot as Knot:
      change(&knot, knots)
      value = knot
    default: break
    }
  }

  private mutating func change(_ pod: inout Pod) {
    if variety.hasNests, number(2) == 0 { return change(&pod.nest) }
    switch number(14) {
    case 0: pod.text = text()
    case 1: pod.mode = mode()
    case 2: pod.main = leaf()
    case 3: pod.main.text = text()
    case 4: pod.spare = number(3) == 0 ? nil : leaf()
    case 5: pod.list.append(leaf())
    case 6: if !pod.list.isEmpty { pod.list.remove(at: number(pod.list.count)) }
    case 7: if !pod.list.isEmpty { pod.list[number(pod.list.count)].text = text() }
    case 8: pod.list.reverse()
    case 9: pod.index[number(3)] = leaf()
    case 10: pod.slot = slot()
    case 11: pod.slots.append(slot())
    case 12: if !pod.slots.isEmpty { pod.slots[number(pod.slots.count)] = slot() }
    default: pod.slots.reverse()
    }
  }

  private mutating func change(_ rack: inout Rack) {
    switch number(9) {
    case 0: rack.text = text()
    case 1: rack.mode = mode()
    case 2: rack.pods.append(pod())
    case 3: if !rack.pods.isEmpty { rack.pods.remove(at: number(rack.pods.count)) }
    case 4:
      guard !rack.pods.isEmpty else { return }
      var pod = rack.pods[0]
      change(&pod)
      rack.pods[0] = pod
    case 5: rack.inner.pod = number(3) == 0 ? nil : pod()
    case 6: rack.inner.leaf.text = text()
    case 7: rack.inner.pod?.main.text = text()
    default: rack.pods.reverse()
    }
  }

  private mutating func change(_ knot: inout Knot, _ knots: [Knot]) {
    if variety.hasNests, number(2) == 0 { return change(&knot.mesh) { knots[$0.number(knots.count)] } }
    switch number(12) {
    case 0: knot.text = text()
    case 1: knot.mode = mode()
    case 2, 3: knot.knots.append(knots[number(knots.count)])
    case 4: if !knot.knots.isEmpty { knot.knots.remove(at: number(knot.knots.count)) }
    case 5: if !knot.knots.isEmpty { knot.knots[0].text = text() }
    case 6: knot.tie = tie { knots[$0.number(knots.count)] }
    case 7: knot.ties.append(tie { knots[$0.number(knots.count)] })
    case 8: knot.ties.reverse()
    case 9: knot.leaf = number(3) == 0 ? nil : leaf()
    case 10: knot.leaf?.text = text()
    default: knot.pod = number(3) == 0 ? nil : pod()
    }
  }
}
