import Concord
import Foundation
import Testing

/// A store whose layers come and go beside one that is made anew after each step: from the history of the base, and the pending
/// layers in their order. So each shape of relation is its own model.
@Suite("Random layers and shapes")
struct LayersReplayTests {
  @Test("Whatever the relations, layers end as if they had never been taken apart", arguments: 0..<2)
  func agrees(_ part: Int) {
    let steps = TestOptions.steps ?? (TestOptions.isLong ? 40_000 : 4_000)
    for seed in TestOptions.seeds(steps / 80, from: UInt64(part) * 1_000_000) {
      var world = ReplayWorld(seed: seed)
      for step in 0..<40 {
        // Another store is made from the beginning: for each end of a layer, and for half of the other steps.
        guard world.step(), let problem = world.problem() else { continue }
        Issue.record(
          "CONCORD_RANDOM_SEED=\(seed), step \(step): \(problem)\n\(world.log.suffix(25).joined(separator: "\n"))")
        return
      }
    }
  }

  @Test("Threads that drain layers of one aggregate in order while others write agree in the end")
  func threads() {
    let store = EntityStore(delivery: .immediate)
    let case_ = store.store(Case(id: 0, list: (0..<50).map { Label(id: $0) }))
    let rounds = TestOptions.isLong ? 1_000 : 100
    // One thread makes and drains layers, as an outbox does; one rolls its own back; one writes; one reads.
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for round in 0..<rounds {
        switch thread {
        case 0:
          let layers = (0..<4).map { _ in store.optimistically { tx in tx.update(Case.self, id: 0) { $0.count += 1 } } }
          for layer in layers { layer.commit() }
        case 1:
          let layers = (0..<3).map { _ in
            store.optimistically { tx in tx.update(Case.self, id: 0) { $0.count += 1_000_000 } }
          }
          for layer in layers.reversed() { layer.rollBack() }
        case 2:
          store.update(Label.self, id: round % 50) { $0.count += 1 }
          store.update(Case.self, id: 0) { $0.name = "\(round)" }
        default:
          if let shown = store.value(Case.self, id: 0), shown.list.count != 50 { Issue.record("\(shown.list.count)") }
        }
      }
    }
    #expect(case_.value.count == rounds * 4)
    #expect(case_.value.list.reduce(0) { $0 + $1.count } == rounds)
    #expect(store._checkInvariants() == [])
  }

  @Test("An observer may roll layers of an aggregate back in its callback, and commit others")
  func endingInCallbacks() {
    let store = EntityStore(delivery: .immediate)
    let case_ = store.store(Case(id: 0, list: (0..<50).map { Label(id: $0) }))
    let layers = (0..<6).map { number in
      store.optimistically { tx in
        tx.update(Case.self, id: 0) { value in
          value.name += "\(number)"
          value.list[number].count += 1
        }
      }
    }
    let told = Log<String>()
    let subscription = case_.observe { value in
      told.append(value.name)
      if value.name.hasSuffix("5") { layers[5].rollBack() }
      if value.name.hasSuffix("4") { layers[0].commit() }
    }
    #expect(told.values == ["012345", "01234"])
    #expect(layers.map(\.state.isPending) == [false, true, true, true, true, false])
    for layer in layers.reversed() { layer.rollBack() }
    #expect(case_.value.name == "0" && case_.value.list.map(\.count).reduce(0, +) == 1)
    #expect(store._checkInvariants() == [])
    subscription.unsubscribe()
  }

  @Test("A closure that throws, or ends other layers, when the lowest is committed leaves what it would have left")
  func closuresThatThrow() {
    let store = EntityStore(delivery: .immediate)
    let case_ = store.store(Case(id: 0, list: [Label(id: 0)]))
    let isThrowing = Kept<Bool>()
    let fickle = store.optimistically { tx in tx.update(Case.self, id: 0) { $0.name += "a" } }
    _ = fickle
    let lowest = try? store.optimistically { tx in
      if isThrowing.value == true { throw Refused() }
      tx.update(Case.self, id: 0) { $0.name += "b" }
    }
    let above = store.optimistically { tx in tx.update(Case.self, id: 0) { $0.name += "c" } }
    let ending = store.optimistically { tx in
      tx.update(Case.self, id: 0) { $0.name += "d" }
      if isThrowing.value == true { above.rollBack() }
    }
    #expect(case_.value.name == "abcd")
    fickle.commit()
    isThrowing.value = true
    #expect(lowest?.commit() == false)
    #expect(case_.value.name == "ad")
    #expect(above.state.isPending == false)
    ending.commit()
    #expect(case_.value.name == "ad")
    #expect(store.transaction { $0.value(Case.self, id: 0) } == case_.value)
    #expect(store._checkInvariants() == [])
  }
}

private struct Label: Identifiable, Hashable, Sendable, CustomStringConvertible {
  let id: Int
  var count = 0

  var description: String { "\(id):\(count)" }
}

private enum Front: EntityWrapper, Equatable {
  case none, tag(Label), tags([Label])

  private var tag: Label? {
    get { if case .tag(let tag) = self { tag } else { nil } }
    set { if let newValue, case .tag = self { self = .tag(newValue) } }
  }
  private var tags: [Label] {
    get { if case .tags(let tags) = self { tags } else { [] } }
    set { if case .tags = self { self = .tags(newValue) } }
  }

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>] {
    switch self {
    case .none: []
    case .tag: [.init(parent.appending(path: \.tag))]
    case .tags: [.init(parent.appending(path: \.tags))]
    }
  }
}

private struct Case: Aggregate, Equatable {
  let id: Int
  var name = ""
  var count = 0
  var list: [Label] = []
  var byKey: [String: Label] = [:]
  var set: Set<Label> = []
  var best: Label?
  var front = Front.none

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    [.init(\.list), .init(\.byKey), .init(\.set), .init(\.best), .init(wrapper: \.front)]
  }
}

private struct Room: Aggregate, Equatable {
  let id: Int
  var name = ""
  var cases: [Case] = []

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.cases)] }
}

private enum ReplayEdit: Sendable {
  case count(Int), name(Int), list(Int, [Int]), key(Int, String, Int?), set(Int, [Int]), best(Int, Int?), front(
    Int, Int, [Int])
  /// Changes what stands in the list through the aggregate.
  case inside(Int)
  case room(Int), cases(Int, [Int]), removeTag(Int), storeTag(Int, Int), removeCase(Int), storeCase(Int)

  /// Whether all that the edit needs was there. A removal of nothing is one.
  func apply(to store: EntityStore) -> Bool {
    func change(_ id: Int, _ body: (inout Case) -> Void) -> Bool { store.update(Case.self, id: id, update: body) }
    switch self {
    case .count(let id): return store.update(Label.self, id: id) { $0.count += 1 }
    case .name(let id): return change(id) { $0.name += "." }
    case .list(let id, let tags):
      return change(id) { $0.list = $0.list.filter { !tags.contains($0.id) } + tags.map { Label(id: $0, count: 5) } }
    case .key(let id, let key, let tag): return change(id) { $0.byKey[key] = tag.map { Label(id: $0, count: 6) } }
    case .set(let id, let tags): return change(id) { $0.set = Set(tags.map { Label(id: $0, count: 7) }) }
    case .best(let id, let tag): return change(id) { $0.best = tag.map { Label(id: $0, count: 8) } }
    case .front(let id, let kind, let tags):
      return change(id) {
        let tags = tags.map { Label(id: $0, count: 9) }
        $0.front = kind == 0 ? .none : kind == 1 ? tags.first.map(Front.tag) ?? .none : .tags(tags)
      }
    case .inside(let id): return change(id) { for index in $0.list.indices { $0.list[index].count += 1 } }
    case .room(let id): return store.update(Room.self, id: id) { $0.name += "-" }
    case .cases(let id, let cases):
      let present = cases.compactMap { store.value(Case.self, id: $0) }
      return store.update(Room.self, id: id) { $0.cases = present }
    case .removeTag(let id):
      store.remove(Label.self, id: id)
      return true
    case .storeTag(let id, let count):
      store.store(Label(id: id, count: count))
      return true
    case .removeCase(let id):
      store.remove(Case.self, id: id)
      return true
    case .storeCase(let id):
      store.store(Case(id: id, name: "new"))
      return true
    }
  }

  var isTraced: Bool {
    switch self {
    case .cases, .removeTag, .removeCase: false
    default: true
    }
  }
}

private struct ReplayWorld {
  private struct Layer {
    let edits: [ReplayEdit]
    let handle: OptimisticLayer
  }

  private let store = EntityStore(delivery: .immediate, stamping: .unstampedWritesWin)
  private var random: SeededGenerator
  private var history: [[ReplayEdit]] = []
  private var layers: [Layer] = []
  private let isTraced: Bool
  private let tags: Range<Int>
  private let holders: [Any]
  private(set) var log: [String] = []

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    isTraced = random.chance(70)
    tags = 0..<(random.chance(20) ? 40 : 6)
    holders = Self.hold(store, tags)
    history.append((0..<3).map { .storeCase($0) })
    for edit in history[0] { _ = edit.apply(to: store) }
    store.store(Room(id: 0))
    store.store(Room(id: 1))
  }

  /// So that none is released, whatever contains it.
  private static func hold(_ store: EntityStore, _ tags: Range<Int>) -> [Any] {
    tags.map { store.observer(Label.self, id: $0) } + (0..<3).map { store.observer(Case.self, id: $0) }
      + (0..<2).map { store.observer(Room.self, id: $0) }
  }

  /// Makes a step. Returns whether it is to be looked at what became of it.
  mutating func step() -> Bool {
    defer { layers.removeAll { !$0.handle.state.isPending } }
    switch random.below(10) {
    case 0, 1:
      let edits = (0..<random.below(2) + 1).map { _ in edit() }
      log.append("base \(edits)")
      let isDone = Self.write(edits, store)
      if isDone { history.append(edits) }
      return random.chance(50)
    case 2...5:
      var edits = (0..<random.below(2) + 1).map { _ in edit() }
      if isTraced { while !edits.allSatisfy(\.isTraced) { edits = [edit()] } }
      log.append("layer \(edits)")
      let made = edits
      let handle = store.optimistically { tx in for edit in made { _ = edit.apply(to: tx) } }
      if handle.state.isPending { layers.append(Layer(edits: edits, handle: handle)) }
      return random.chance(50)
    default:
      guard !layers.isEmpty else { return false }
      let choice = random.below(6)
      let index = choice < 2 ? 0 : choice < 4 ? layers.count - 1 : random.below(layers.count)
      let layer = layers.remove(at: index)
      if random.chance(50) {
        log.append("commit \(index) of \(layers.count + 1)")
        if layer.handle.commit() { history.append(layer.edits) }
      } else {
        log.append("roll back \(index) of \(layers.count + 1)")
        layer.handle.rollBack()
      }
      return true
    }
  }

  private static func write(_ edits: [ReplayEdit], _ store: EntityStore) -> Bool {
    do {
      try store.transaction { tx in
        for edit in edits where !edit.apply(to: tx) { throw Refused() }
      }
      return true
    } catch { return false }
  }

  private mutating func edit() -> ReplayEdit {
    let id = random.below(3)
    func some() -> [Int] { tags.filter { _ in random.chance(tags.count > 6 ? 85 : 35) } }
    let tag = random.pick(Array(tags))
    switch random.below(17) {
    case 0, 1: return .count(tag)
    case 2, 3, 4: return .name(id)
    case 5: return .list(id, some())
    case 6: return .key(id, random.pick(["a", "b"]), random.chance(70) ? tag : nil)
    case 7: return .set(id, some())
    case 8: return .best(id, random.chance(60) ? tag : nil)
    case 9: return .front(id, random.below(3), some())
    case 10, 11: return .inside(id)
    case 12: return .room(random.below(2))
    case 13: return .cases(random.below(2), (0..<3).filter { _ in random.chance(60) })
    case 14: return random.chance(50) ? .removeTag(tag) : .storeTag(tag, random.below(9))
    case 15: return .storeTag(tag, random.below(9))
    default: return random.chance(50) ? .storeCase(id) : .removeCase(id)
    }
  }

  func problem() -> String? {
    let other = EntityStore(delivery: .immediate, stamping: .unstampedWritesWin)
    let holders = Self.hold(other, tags)
    defer { withExtendedLifetime(holders) {} }
    other.store(Room(id: 0))
    other.store(Room(id: 1))
    for edits in history where !Self.write(edits, other) { return "the history does not apply" }
    var problems = compare(other, isBase: true)
    for layer in layers {
      let handle = other.optimistically { tx in for edit in layer.edits { _ = edit.apply(to: tx) } }
      if !handle.state.isPending { problems.append("a layer should be dropped: \(layer.edits)") }
    }
    problems += compare(other, isBase: false)
    problems += store._checkInvariants()
    return problems.isEmpty ? nil : problems.joined(separator: "; ")
  }

  private func compare(_ other: EntityStore, isBase: Bool) -> [String] {
    if isBase, log.count % 3 != 0 { return [] }
    var problems: [String] = []
    func expect<T: Equatable>(_ found: T, _ expected: T) {
      if found != expected { problems.append("\(isBase ? "base" : "shown"): \(found) is not \(expected)") }
    }
    func look(_ store: EntityStore) -> [[String]] {
      [
        tags.map { "\(store.value(Label.self, id: $0)?.count ?? -1)" },
        (0..<3).map { id in store.value(Case.self, id: id).map(describe) ?? "none" },
        (0..<2).map { id in store.value(Room.self, id: id).map { "\($0.name) \($0.cases.map(describe))" } ?? "none" },
      ]
    }
    let found = isBase ? store.transaction { look($0) } : look(store)
    expect(found, look(other))
    return problems
  }

  private func describe(_ value: Case) -> String {
    let keys = value.byKey.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    let set = value.set.sorted { $0.id < $1.id }
    return "\(value.id) \(value.name) \(value.list) \(keys) \(set) \(String(describing: value.best)) \(value.front)"
  }
}
