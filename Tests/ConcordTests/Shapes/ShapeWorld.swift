import Concord

/// A step of the random test of shapes. What it does in detail comes from its seed, so that steps can be left out.
indirect enum ShapeStep: CustomStringConvertible {
  case store(ShapeKind, Int, seed: UInt64, isKept: Bool)
  case update(ShapeKind, Int, seed: UInt64)
  case remove(ShapeKind, Int)
  case keep(ShapeKind, Int), drop(ShapeKind, Int), observe(ShapeKind, Int), unsubscribe(ShapeKind, Int)
  /// Reads some entities only.
  case read(ShapeKind, Int)
  /// Stores what is read.
  case storeRead(ShapeKind, Int)
  /// Reads all, and compares it.
  case check
  case transaction([ShapeStep], throwing: Bool)

  var description: String {
    switch self {
    case .store(let kind, let id, let seed, let isKept): "store \(kind) \(id), seed \(seed)\(isKept ? ", kept" : "")"
    case .update(let kind, let id, let seed): "update \(kind) \(id), seed \(seed)"
    case .remove(let kind, let id): "remove \(kind) \(id)"
    case .keep(let kind, let id): "keep \(kind) \(id)"
    case .drop(let kind, let id): "drop \(kind) \(id)"
    case .observe(let kind, let id): "observe \(kind) \(id)"
    case .unsubscribe(let kind, let id): "unsubscribe \(kind) \(id)"
    case .read(let kind, let id): "read \(kind) \(id)"
    case .storeRead(let kind, let id): "store what is read of \(kind) \(id)"
    case .check: "check"
    case .transaction(let steps, let isThrowing): "transaction\(isThrowing ? ", throwing," : "") \(steps)"
    }
  }
}

enum ShapeKind: CaseIterable, Hashable, Sendable {
  case leaf, pod, rack, knot

  var type: any ShapeEntity.Type {
    switch self {
    case .leaf: Leaf.self
    case .pod: Pod.self
    case .rack: Rack.self
    case .knot: Knot.self
    }
  }

  /// How many ids there are.
  var count: Int {
    switch self {
    case .leaf: 6
    case .pod, .knot: 4
    case .rack: 2
    }
  }
}

/// What may vary in a world.
enum ShapeVariety: String, CaseIterable, Sendable {
  case plain, fixed, varying, derived, all, cycles, cyclesOfAll, nests, nestsOfAll, cyclesOfNests

  var modes: ShapeMode {
    switch self {
    case .plain, .fixed, .cycles, .nests, .cyclesOfNests: []
    case .varying: .varying
    case .derived: .derived
    case .all, .cyclesOfAll, .nestsOfAll: [.varying, .derived]
    }
  }

  /// Wrappers whose cases hold several entities.
  var hasWideNiches: Bool { self != .plain && self != .cycles }
  /// Containers in containers.
  var hasNests: Bool { [.nests, .nestsOfAll, .cyclesOfNests].contains(self) }
  /// Wrappers whose relations depend on the entities in them.
  var hasShyNiches: Bool { [.varying, .all, .cyclesOfAll, .nestsOfAll].contains(self) }

  /// What steps are about, each as often as it stands here.
  var kinds: [ShapeKind] {
    switch self {
    case .cycles, .cyclesOfAll, .cyclesOfNests: [.knot, .knot, .knot, .leaf, .pod]
    default: [.leaf, .pod, .pod, .rack]
    }
  }
}

/// A store, and what holds of it after each step: an entity reads the same wherever it stands, brief inside its own
/// cycle; nothing is kept that nobody holds; observers have been told what is read.
final class ShapeWorld {
  struct Wrong: Error, CustomStringConvertible {
    var description: String
  }
  private struct Undo: Error {}

  private struct Key: Hashable, CustomStringConvertible {
    var kind: ShapeKind
    var id: Int
    var description: String { "\(kind) \(id)" }
  }

  private let store = EntityStore(delivery: .immediate)
  private let variety: ShapeVariety
  /// Of transactions.
  private var depth = 0
  private var kept: [Key: Any] = [:]
  private var observed: [Key: (subscription: Subscription, last: () -> AnyHashable?)] = [:]

  init(_ variety: ShapeVariety) { self.variety = variety }

  func perform(_ step: ShapeStep) throws {
    switch step {
    case .store(let kind, let id, let seed, let isKept): try storeNew(kind.type, kind, id, seed, isKept)
    case .update(let kind, let id, let seed): try update(kind.type, id, seed)
    case .remove(let kind, let id): try remove(kind.type, id)
    case .keep(let kind, let id): keep(kind.type, kind, id)
    case .drop(let kind, let id): kept[Key(kind: kind, id: id)] = nil
    case .observe(let kind, let id): observe(kind.type, kind, id)
    case .unsubscribe(let kind, let id):
      observed.removeValue(forKey: Key(kind: kind, id: id))?.subscription.unsubscribe()
    case .read(let kind, let id): _ = value(kind.type, id)
    case .storeRead(let kind, let id): try storeRead(kind.type, id)
    case .check: try check()
    case .transaction(let steps, let isThrowing): try transaction(steps, isThrowing)
    }
  }

  // MARK: - Steps

  private func storeNew<T: ShapeEntity>(
    _ type: T.Type, _ kind: ShapeKind, _ id: Int, _ seed: UInt64, _ isKept: Bool
  ) throws {
    var maker = ShapeMaker(seed: seed, variety)
    guard let value = maker.make(kind, id) as? T else { return }
    let observer = store.store(value)
    if isKept { kept[Key(kind: kind, id: id)] = observer }
    if observer.value.text != value.text { throw Wrong(description: "\(value) was stored, \(observer.value) is read") }
  }

  private func update<T: ShapeEntity>(_ type: T.Type, _ id: Int, _ seed: UInt64) throws {
    guard let observer = store.find(type, id: id) else { return }
    var maker = ShapeMaker(seed: seed, variety)
    var text: Int?
    // Read before: a closure that reads is another test.
    let knots = (0..<ShapeKind.knot.count).map { store.find(Knot.self, id: $0)?.value ?? Knot(id: $0) }
    let isTaken = store.update(type, id: id) { value in
      var changed: any ShapeEntity = value
      maker.change(&changed, knots)
      if let changed = changed as? T { value = changed }
      // An edit of herself, where she stands inside herself, is one too.
      let isInside = (value as? Knot)?.knotsInside.contains { $0.id == id } ?? false
      text = isInside ? nil : value.text
    }
    if !isTaken { throw Wrong(description: "an update of \(type) \(id) was not taken") }
    if let text, observer.value.text != text { throw Wrong(description: "\(type) \(id) has not the text \(text)") }
  }

  private func remove<T: ShapeEntity>(_ type: T.Type, _ id: Int) throws {
    let isThere = store.find(type, id: id) != nil
    if store.remove(type, id: id) != isThere { throw Wrong(description: "remove of \(type) \(id) said \(!isThere)") }
    if store.find(type, id: id) != nil { throw Wrong(description: "\(type) \(id) was removed, and is still there") }
  }

  private func keep<T: ShapeEntity>(_ type: T.Type, _ kind: ShapeKind, _ id: Int) {
    if let observer = store.find(type, id: id) { kept[Key(kind: kind, id: id)] = observer }
  }

  private func observe<T: ShapeEntity>(_ type: T.Type, _ kind: ShapeKind, _ id: Int) {
    guard let observer = store.find(type, id: id) else { return }
    let key = Key(kind: kind, id: id)
    observed.removeValue(forKey: key)?.subscription.unsubscribe()
    let last = Kept<T>()
    observed[key] = (observer.observe { last.value = $0 }, { last.value.map(AnyHashable.init) })
  }

  private func storeRead<T: ShapeEntity>(_ type: T.Type, _ id: Int) throws {
    guard let observer = store.find(type, id: id) else { return }
    let value = observer.value
    store.store(value)
    if observer.value != value {
      throw Wrong(description: "\(value) was read and stored, and \(observer.value) is read then")
    }
  }

  private func transaction(_ steps: [ShapeStep], _ isThrowing: Bool) throws {
    // Reading may show that a relation has lost an entity, and with it the entity goes.
    if isThrowing { _ = values() }
    let before = isThrowing ? values() : [:]
    let keptBefore = kept
    depth += 1
    defer { depth -= 1 }
    do {
      try store.transaction { _ in
        for step in steps { try perform(step) }
        if isThrowing { throw Undo() }
      }
    } catch is Undo {
      kept = keptBefore
      let after = values()
      for (key, value) in before where after[key] != value {
        throw Wrong(description: "undone, \(key) is \(after[key].map { "\($0)" } ?? "gone"), and was \(value)")
      }
    }
  }

  // MARK: - Checks

  private func value<T: ShapeEntity>(_ type: T.Type, _ id: Int) -> (any ShapeEntity)? {
    store.find(type, id: id)?.value
  }

  private var keys: [Key] { ShapeKind.allCases.flatMap { kind in (0..<kind.count).map { Key(kind: kind, id: $0) } } }

  private func values() -> [Key: AnyHashable] {
    var values: [Key: AnyHashable] = [:]
    for key in keys { if let value = value(key.kind.type, key.id) { values[key] = AnyHashable(value) } }
    return values
  }

  private func key(_ entity: any ShapeEntity) -> Key {
    let kind: ShapeKind =
      switch entity {
      case is Leaf: .leaf
      case is Pod: .pod
      case is Rack: .rack
      default: .knot
      }
    return Key(kind: kind, id: entity.id)
  }

  func check() throws {
    // Reading may bring a relation, and with it an entity; what is compared is what is read then.
    _ = values()
    var all: [Key: any ShapeEntity] = [:]
    for key in keys { all[key] = value(key.kind.type, key.id) }
    let cycles = self.cycles(all)
    for (place, value) in all {
      for inner in value.inside {
        let key = key(inner)
        guard let whole = all[key] else {
          throw Wrong(description: "\(inner) stands in \(value), and is not in the store")
        }
        var expected: any ShapeEntity = whole
        if let knot = whole as? Knot, place.kind == .knot, let cycle = cycles[knot.id], cycle.contains(place.id) {
          expected = knot.brief(cycle)
        }
        if let brief = expected as? Knot, let knot = inner as? Knot, knot.plain() == brief.plain() { continue }
        if AnyHashable(inner) != AnyHashable(expected) {
          throw Wrong(description: "in \(place) stands\n    \(inner) instead of\n    \(expected)")
        }
      }
    }
    // The rest holds once a transaction is over.
    guard depth == 0 else { return }
    try checkLifetimes(all)
    for (key, observer) in observed {
      if let value = all[key], let last = observer.last(), last != AnyHashable(value) {
        throw Wrong(description: "the observer of \(key) was told \(last), and \(value) is read")
      }
    }
    let problems = store._checkInvariants()
    if !problems.isEmpty { throw Wrong(description: problems.joined(separator: "\n")) }
  }

  /// Those who are reached by each knot, and reach it.
  private func cycles(_ all: [Key: any ShapeEntity]) -> [Int: Set<Int>] {
    var reached: [Int: Set<Int>] = [:]
    for id in 0..<ShapeKind.knot.count {
      let knot = all[Key(kind: .knot, id: id)] as? Knot
      reached[id] = Set(knot?.knotsInside.map(\.id) ?? [])
    }
    for _ in 0..<ShapeKind.knot.count {
      for (id, others) in reached { reached[id] = others.reduce(others) { $0.union(reached[$1] ?? []) } }
    }
    return reached.reduce(into: [:]) { cycles, entry in
      cycles[entry.key] = entry.value.filter { reached[$0]?.contains(entry.key) == true }
    }
  }

  private func checkLifetimes(_ all: [Key: any ShapeEntity]) throws {
    var alive: Set<Key> = []
    var waiting = (Array(kept.keys) + observed.keys).filter { all[$0] != nil }
    while let next = waiting.popLast() {
      guard alive.insert(next).inserted, let value = all[next] else { continue }
      waiting += value.inside.map(key)
    }
    for key in keys where (all[key] != nil) != alive.contains(key) {
      throw Wrong(description: "\(key) is \(all[key] == nil ? "gone, and held" : "there, and nobody holds it")")
    }
  }
}
