/// One step of a random program. It holds all it needs, so that a program can be replayed, and shortened.
indirect enum Operation: Sendable {
  case store(Tree, alias: Int?, stamp: Double?, edits: [Edit]?, handle: Int?)
  case storeRead(Ref, stamp: Double?, edits: [Edit], handle: Int?)
  case storeMany([Tree], alias: Int?, stamp: Double?, handle: Int?)
  case update(Ref, stamp: Double?, edits: [Edit], inside: [Operation])
  case updateAlias(Model.AliasName, stamp: Double?, edits: [Edit])
  case remove(Ref)
  case removeAlias(Model.AliasName)
  case removeAllAlias, removeAll
  case find(Ref, handle: Int)
  case observer(Ref, handle: Int)
  case findAlias(Model.AliasName, handle: Int)
  case drop(handle: Int)
  case observe(handle: Int, subscription: Int, isPart: Bool)
  case unsubscribe(Int), pause(Int), resume(Int)
  case transaction([Operation], throwing: Bool)
  /// The date is another one, perhaps an earlier one.
  case setDate(Double)
  /// Reads one value, and nothing else.
  case read(Ref)
  /// Reads and compares nothing for the next steps, and lets queues wait.
  case quiet(Int)
}

/// SplitMix64: a short seed gives a whole program, the same on every machine.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
  mutating func pick<T>(_ choices: [T]) -> T { choices[below(choices.count)] }
}

/// Makes the next step, looking at the model for what is worth doing.
struct OperationGenerator {
  var random: SeededGenerator
  /// Whether persons may stand among their own friends' friends.
  var makesCycles: Bool
  /// Values that were read some time, which programs put back, where they stood or elsewhere.
  private var known: [Tree] = []
  private var steps = 0
  private var nextHandle = 0

  /// Handles and subscriptions are numbered from `firstHandle` on; negative ones are left alone.
  init(seed: UInt64, makesCycles: Bool, firstHandle: Int = 0) {
    random = SeededGenerator(seed: seed)
    self.makesCycles = makesCycles
    nextHandle = firstHandle
  }

  static let aliases: [Model.AliasName] = [
    .init(kind: .tag, isCollection: false, name: 0), .init(kind: .person, isCollection: false, name: 0),
    .init(kind: .person, isCollection: false, name: 1), .init(kind: .group, isCollection: false, name: 0),
    .init(kind: .tag, isCollection: true, name: 0), .init(kind: .person, isCollection: true, name: 0),
  ]

  // MARK: - Values

  mutating func ref(_ kind: Kind? = nil) -> Ref {
    let kinds: [Kind] = [
      .tag, .tag, .note, .person, .person, .person, .team, .work, .work, .group, .group, .clan, .clan, .clan,
      .album,
    ]
    let kind = kind ?? random.pick(kinds)
    return Ref(kind, random.below(kind.population))
  }

  mutating func tree(_ ref: Ref, depth: Int = 0) -> Tree {
    let own = [random.below(4)] + (ref.kind.hasFlag ? [random.below(2)] : [])
    let relations = ref.kind.relationKinds.indices.map { relation(of: ref, at: $0, depth: depth) }
    return Tree(ref: ref, own: own, relations: relations).normalized
  }

  mutating func relation(of parent: Ref, at place: Int, depth: Int) -> Relation<Tree> {
    let kind = parent.kind
    let relationKind = kind.relationKinds[place]
    let isDeep = depth >= (kind == .group || kind == .clan ? 1 : 2)
    let isBare = isDeep || random.chance(kind == .clan ? 70 : 50)
    func one(_ slot: Slot<Tree>?) -> Relation<Tree> { slot.map { Relation(slots: [$0]) } ?? Relation(isNil: true) }
    switch relationKind {
    case .required:
      return one(slot(kind.children(at: place), under: parent, depth: depth))
    case .optional, .stubbornOptional:
      return isBare ? Relation(isNil: true) : one(slot(kind.children(at: place), under: parent, depth: depth))
    case .wrapper:
      return Relation(slots: [isBare ? Slot() : wrapped(at: place, under: parent, depth: depth) ?? Slot()])
    case .stubbornWrapper, .optionalWrapper:
      if relationKind == .optionalWrapper, random.chance(50) { return Relation(isNil: true) }
      return wrappers(1, at: place, under: parent, depth: depth)
    case .wrapperList:
      return wrappers(isDeep ? 0 : random.below(3), at: place, under: parent, depth: depth)
    case .sorted where kind.children(at: place).count > 1:
      return wrappers(isDeep ? 0 : random.below(3), at: place, under: parent, depth: depth)
    case .list, .fixedList, .sorted:
      if kind.isOptional(place) && random.chance(30) { return Relation(isNil: true) }
      // A getter that sorts makes a new collection of what was left out, which nobody can tell from an empty one.
      if makesCycles, random.chance(3), relationKind == .list { return Relation(isOmitted: true) }
      let count = isBare ? 0 : random.pick([0, 1, 1, 2, 2, 3])
      return Relation(
        slots: (0..<count).compactMap { _ in slot(kind.children(at: place), under: parent, depth: depth) })
    case .unordered:
      if kind.isOptional(place) && random.chance(30) { return Relation(isNil: true) }
      let isSet = kind.isSet(place)
      var slots: [Slot<Tree>] = []
      for key in 1...2 where !isDeep && random.chance(kind == .clan ? 25 : 50) {
        guard var slot = slot(kind.children(at: place), under: parent, depth: depth) else { continue }
        if !isSet { slot.key = key }
        if isSet && slots.contains(where: { $0.child?.ref == slot.child?.ref }) { continue }
        slots.append(slot)
      }
      if isSet { slots.sort { ($0.child?.ref.id ?? 0) < ($1.child?.ref.id ?? 0) } }
      return Relation(slots: slots)
    case .optionalFixed:
      if isBare { return Relation(isNil: true) }
      let slots = (0..<2).compactMap { _ in slot(kind.children(at: place), under: parent, depth: depth) }
      return slots.count == 2 ? Relation(slots: slots) : Relation(isNil: true)
    case .parts:
      return Relation(slots: (0..<random.below(3)).flatMap { _ in part() })
    }
  }

  private mutating func part() -> [Slot<Tree>] {
    func slot(_ key: Int, _ tree: Tree) -> Slot<Tree> { Slot(key: key, child: tree) }
    let (first, second) = (tree(ref(.tag)), tree(ref(.tag)))
    switch random.below(6) {
    case 0: return [Slot(plain: Piece.Code.none)]
    case 1: return [Slot(plain: Piece.Code.pair), slot(Piece.Key.first, first), slot(Piece.Key.second, second)]
    case 2: return [Slot(plain: Piece.Code.list), slot(Piece.Key.element, first), slot(Piece.Key.element, second)]
    case 3: return [Slot(plain: Piece.Code.list), slot(Piece.Key.element, first)]
    case 4:
      return [
        Slot(plain: Piece.Code.clipWithPreview), slot(Piece.Key.medium, first), slot(Piece.Key.preview, second),
      ]
    default:
      let preview = Piece.Code.plainPreview + second.ref.id * 10 + second.own[0]
      return [Slot(plain: random.chance(50) ? Piece.Code.clip : preview), slot(Piece.Key.medium, first)]
    }
  }

  private mutating func slot(_ kinds: [Kind], under parent: Ref, depth: Int) -> Slot<Tree>? {
    var child = ref(kinds[0])
    if !makesCycles, parent.kind == child.kind || parent.kind == .team {
      // Only downwards: a team's members come last, they have no friends.
      if parent.kind == child.kind && parent.id + 1 >= child.kind.population { return nil }
      child.id = parent.kind == .team ? 2 : parent.id + 1
    }
    if !makesCycles, child.kind == .team, parent.id == 2 { return nil }
    let forms = known.filter { $0.ref == child }
    if !forms.isEmpty, random.chance(25) { return Slot(child: random.pick(forms)) }
    return Slot(child: tree(child, depth: depth + 1))
  }

  private mutating func wrappers(_ count: Int, at place: Int, under parent: Ref, depth: Int) -> Relation<Tree> {
    Relation(
      slots: (0..<count).map { _ in
        if depth > 0 || random.chance(50) { return Slot(plain: random.below(3)) }
        return wrapped(at: place, under: parent, depth: depth) ?? Slot(plain: 1)
      })
  }

  private mutating func wrapped(at place: Int, under parent: Ref, depth: Int) -> Slot<Tree>? {
    let kinds = parent.kind.children(at: place)
    let key = random.below(kinds.count) + 1
    guard var slot = slot([kinds[key - 1]], under: parent, depth: depth) else { return nil }
    slot.key = key
    return slot
  }

  mutating func stamp() -> Double? {
    switch random.below(100) {
    case ..<35: nil
    case ..<88: Double(max(1, steps / 3 + random.below(14) - 8))
    case ..<92: 1e12 + Double(random.below(3))
    default: Double(random.below(3) - 1)
    }
  }

  /// Among the stamps that are given, and equal to none of them.
  mutating func date() -> Double {
    switch random.below(100) {
    case ..<60: Double(random.below(80)) + 0.5
    case ..<92: 1e6 + Double(random.below(100))
    default: 1e12 + Double(random.below(3)) + 0.5
    }
  }

  mutating func someEdits(of value: Tree, mayChangeID: Bool = false) -> [Edit] {
    let occurrences = Occurrence.all(in: [value])
    return (0..<random.pick([0, 1, 1, 1, 2, 3])).map { _ in
      let occurrence = random.chance(40) ? 0 : random.below(occurrences.count)
      let ref = occurrences[occurrence].tree.ref
      let places = ref.kind.relationKinds.count
      switch random.below(100) {
      case ..<50: return .own(occurrence: occurrence, value: random.below(4))
      case ..<55 where ref.kind.hasFlag: return .flag(occurrence: occurrence, value: random.below(2))
      case ..<80 where places > 0:
        let place = random.below(places)
        return .relation(
          occurrence: occurrence, of: ref.kind, place: place, relation(of: ref, at: place, depth: random.below(2)))
      case ..<84 where places > 0 && makesCycles:
        return .copy(occurrence: occurrence, from: random.below(occurrences.count), place: random.below(places))
      case ..<92: return .shift(occurrence: occurrence)
      default: return mayChangeID ? .id(random.below(ref.kind.population)) : .own(occurrence: 0, value: random.below(4))
      }
    }
  }

  // MARK: - Steps

  mutating func next(_ model: Model, nesting: Int = 0) -> Operation {
    steps += 1
    nextHandle += 1
    if nesting == 0, random.chance(4) { return .quiet(random.below(20) + 1) }
    if random.chance(3) { return .read(ref()) }
    if random.chance(2) { return .setDate(date()) }
    if let ref = living(model), let value = model.read(ref) {
      known += Occurrence.all(in: [value]).map(\.tree).filter { $0.size < 30 }
      if known.count > 60 { known.removeSubrange(..<(known.count - 60)) }
    }
    let handle: Int? = random.chance(45) ? nextHandle : nil
    var handles = model.handles.keys.filter { $0 >= 0 }.sorted()
    if nesting > 0 { handles += [nextHandle - 1, nextHandle - 2] }
    let subscriptions = model.subscriptions.keys.filter { $0 >= 0 }.sorted()
    if handles.count > 8, random.chance(50) { return .drop(handle: random.pick(handles)) }
    if subscriptions.count > 8, random.chance(50) { return .unsubscribe(random.pick(subscriptions)) }
    switch random.below(100) {
    case ..<26:
      let tree = tree(ref())
      let named = OperationGenerator.aliases.filter { $0.kind == tree.ref.kind && !$0.isCollection }
      let alias = random.chance(25) && !named.isEmpty ? random.pick(named).name : nil
      let edits = random.chance(20) ? someEdits(of: tree) : nil
      return .store(tree, alias: alias, stamp: stamp(), edits: edits, handle: handle)
    case ..<31:
      guard let ref = living(model), let value = model.read(ref) else { return .find(ref(), handle: nextHandle) }
      return .storeRead(ref, stamp: stamp(), edits: someEdits(of: value), handle: handle)
    case ..<36:
      let kind: Kind = random.chance(50) ? .tag : .person
      let values = (0..<random.below(4)).map { _ in tree(ref(kind), depth: 1) }
      if values.isEmpty { return .storeMany([tree(ref(kind), depth: 1)], alias: 0, stamp: stamp(), handle: handle) }
      return .storeMany(values, alias: random.chance(60) ? 0 : nil, stamp: stamp(), handle: handle)
    case ..<55:
      guard let ref = living(model), let value = model.read(ref) else {
        return .update(ref(), stamp: nil, edits: [], inside: [])
      }
      let inside =
        nesting == 0 && [.person, .team, .clan].contains(ref.kind) && random.chance(15)
        ? [Operation.store(tree(self.ref(.note)), alias: nil, stamp: stamp(), edits: nil, handle: handle)] : []
      return .update(ref, stamp: stamp(), edits: someEdits(of: value, mayChangeID: random.chance(5)), inside: inside)
    case ..<61:
      let name = random.pick(OperationGenerator.aliases)
      let given = model.state.aliases[name].map { $0.refs.compactMap(model.read) } ?? []
      var edits = given.first.map { someEdits(of: $0, mayChangeID: makesCycles && !name.isCollection) } ?? []
      if name.isCollection, random.chance(70) {
        edits.append(random.pick([.append(tree(ref(name.kind), depth: 1)), .removeLast, .rotate]))
      }
      return .updateAlias(name, stamp: stamp(), edits: edits)
    case ..<64: return .remove(living(model) ?? ref())
    case ..<66: return .removeAlias(random.pick(OperationGenerator.aliases))
    case 66:
      return random.chance(20) ? (random.chance(30) ? .removeAll : .removeAllAlias) : .find(ref(), handle: nextHandle)
    case ..<70: return .find(living(model) ?? ref(), handle: nextHandle)
    case ..<73: return .observer(ref(), handle: nextHandle)
    case ..<75: return .findAlias(random.pick(OperationGenerator.aliases), handle: nextHandle)
    case ..<83:
      guard !handles.isEmpty else { return .observer(ref(), handle: nextHandle) }
      return .observe(handle: random.pick(handles), subscription: nextHandle, isPart: random.chance(20))
    case ..<88:
      return handles.isEmpty ? .find(ref(), handle: nextHandle) : .drop(handle: random.pick(handles))
    case ..<94:
      guard !subscriptions.isEmpty else { return .observer(ref(), handle: nextHandle) }
      let id = random.pick(subscriptions)
      if random.chance(45) { return .unsubscribe(id) }
      return model.subscriptions[id]?.isPaused == true ? .resume(id) : .pause(id)
    default:
      if nesting >= 2 { return .find(ref(), handle: nextHandle) }
      // What a step inside looks at is the model as it is before the transaction.
      let inner = (0..<random.below(6)).map { _ in next(model, nesting: nesting + 1) }
      return .transaction(inner.filter(\.mayBeInside), throwing: random.chance(35))
    }
  }

  private mutating func living(_ model: Model) -> Ref? {
    let refs = model.allRefs
    return refs.isEmpty ? nil : random.pick(refs)
  }
}

extension Operation {
  /// What `resume` shows inside of a transaction is left open.
  var mayBeInside: Bool {
    if case .resume = self { false } else { true }
  }
}

extension Operation {
  /// The same with a little less in it.
  var simpler: [Operation] {
    func without<T>(_ list: [T], _ make: ([T]) -> Operation) -> [Operation] {
      list.indices.map { index in
        var rest = list
        rest.remove(at: index)
        return make(rest)
      }
    }
    func simpler(_ tree: Tree, _ make: (Tree) -> Operation) -> [Operation] { tree.simpler.map(make) }
    switch self {
    case .store(let tree, let alias, let stamp, let edits, let handle):
      return simpler(tree) { .store($0, alias: alias, stamp: stamp, edits: edits, handle: handle) }
        + (alias == nil ? [] : [.store(tree, alias: nil, stamp: stamp, edits: edits, handle: handle)])
        + without(edits ?? []) { .store(tree, alias: alias, stamp: stamp, edits: $0, handle: handle) }
    case .storeRead(let ref, let stamp, let edits, let handle):
      return without(edits) { .storeRead(ref, stamp: stamp, edits: $0, handle: handle) }
    case .storeMany(let trees, let alias, let stamp, let handle):
      let nested = trees.indices.flatMap { index in
        simpler(trees[index]) { tree in
          var changed = trees
          changed[index] = tree
          return .storeMany(changed, alias: alias, stamp: stamp, handle: handle)
        }
      }
      return without(trees) { .storeMany($0, alias: alias, stamp: stamp, handle: handle) } + nested
    case .update(let ref, let stamp, let edits, let inside):
      return without(edits) { .update(ref, stamp: stamp, edits: $0, inside: inside) }
        + without(inside) { .update(ref, stamp: stamp, edits: edits, inside: $0) }
    case .updateAlias(let name, let stamp, let edits):
      return without(edits) { .updateAlias(name, stamp: stamp, edits: $0) }
    case .quiet(let steps):
      return steps > 1 ? [.quiet(1), .quiet(steps / 2), .quiet(steps - 1)] : []
    case .transaction(let operations, let isThrowing):
      let nested = operations.indices.flatMap { index in
        operations[index].simpler.map { operation in
          var changed = operations
          changed[index] = operation
          return Operation.transaction(changed, throwing: isThrowing)
        }
      }
      return without(operations) { .transaction($0, throwing: isThrowing) } + nested
    default:
      return []
    }
  }
}

extension Tree {
  /// The same with one element less in some relation, at any depth.
  fileprivate var simpler: [Tree] {
    var result: [Tree] = []
    for (place, relation) in relations.enumerated() {
      for (index, slot) in relation.slots.enumerated() where slot.child != nil {
        if let rest = ref.kind.relationKinds[place].removing(index, from: relation) {
          var tree = self
          tree.relations[place] = rest
          result.append(tree)
        }
        for child in slot.child?.simpler ?? [] {
          var tree = self
          tree.relations[place].slots[index].child = child
          result.append(tree)
        }
      }
    }
    return result
  }
}
