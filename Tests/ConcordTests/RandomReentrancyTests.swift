import Concord
import Dispatch
import Foundation
import Testing

/// Holds observers and subscriptions of others, which go with it.
private struct Bud: Identifiable, Equatable, PartialEntity {
  let id: Int
  var number: Int
  var note: Int?
  var held: [any Sendable] = []
  static func == (a: Bud, b: Bud) -> Bool { a.id == b.id && a.number == b.number && a.note == b.note }
  static var optionalFields: [OptionalField<Bud>] { [.init(\.note)] }
}

private enum Part: EntityWrapper, Equatable {
  case none, leaf(Bud), pair([Bud])

  var leaf: Bud? {
    get { if case .leaf(let leaf) = self { leaf } else { nil } }
    set { if let newValue { self = .leaf(newValue) } else if leaf != nil { self = .none } }
  }
  var pair: [Bud]? {
    get { if case .pair(let pair) = self { pair } else { nil } }
    set { if let newValue { self = .pair(newValue) } else if pair != nil { self = .none } }
  }
  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>] {
    switch self {
    case .none: []
    case .leaf: [.init(parent.appending(path: \.leaf))]
    case .pair: [.init(parent.appending(path: \.pair))]
    }
  }
}

/// Has relations that depend on its value, are computed, kept in order, and form cycles.
private struct Twig: Aggregate, Equatable {
  let id: Int
  var number: Int
  var mode = 0
  var one: Bud?
  var leaves: [Bud] = [] { didSet { leaves.sort { ($0.number, $0.id) < ($1.number, $1.id) } } }
  var pool: [Bud] = []
  var parts: [Part] = []
  var peers: [Twig] = []
  var pick: Bud? {
    get { pool.first { $0.id == (one?.number ?? 0) % 4 } }
    set {
      guard let index = pool.firstIndex(where: { $0.id == (one?.number ?? 0) % 4 }) else { return }
      if let newValue { pool[index] = newValue } else { pool.remove(at: index) }
    }
  }
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    var all: [PartialIdentifiableKeyPath<Self>] = [
      .init(\.one), .init(\.leaves), .init(wrapper: \.parts), .init(\.peers),
    ]
    if mode > 0 { all.append(.init(\.pick)) }
    if mode > 1 { all.swapAt(0, 1) }
    return all
  }
}

private struct Summary: EntityProjection, Equatable {
  let id: Int
  var number: Int
  static var sharedFields: [SharedField<Summary, Twig>] { [.init(\.number, \.number)] }
}

@Suite("Code of users that the store runs may use the store")
struct RandomReentrancyTests {
  @Test(
    "Whatever calls come from within closures, in the end all agree, and nothing is left", arguments: [false, true])
  func worlds(isQueued: Bool) async {
    for seed in TestOptions.seeds(TestOptions.number("CONCORD_REENTRANT_WORLDS") ?? (TestOptions.isLong ? 40 : 15)) {
      let world = ReentrantWorld(seed: seed, queue: isQueued ? DispatchQueue(label: "store") : nil)
      if isQueued { await world.runQueued() } else { world.run() }
      let faults = await world.finish()
      guard faults.isEmpty else {
        Issue.record("seed \(seed), queued \(isQueued): \(faults.prefix(4))")
        return
      }
    }
  }
}

/// Used by one thread, or by one queue, at a time.
private final class ReentrantWorld: @unchecked Sendable {
  let store: EntityStore
  let queue: DispatchQueue?
  private var random: UInt64
  private var budget = 400
  private var depth = 0
  private var leaves: [EntityObserver<Bud>] = []
  private var twigs: [EntityObserver<Twig>] = []
  private var kept: [any Sendable] = []
  private var shown: [Shown] = []
  private let group = SubscriptionGroup()
  private let logger: ReentrantLogger

  private struct Shown {
    let told: Log<String>
    let present: @Sendable () -> String?
    var subscription: Subscription?
    let name: String
  }

  final class ReentrantLogger: EntityStoreLogger, @unchecked Sendable {
    weak var world: ReentrantWorld?
    func didStore<T: Identifiable>(_ type: T.Type, id: T.ID) { world?.maybe(2) }
    func didRelease<T: Identifiable>(_ type: T.Type, id: T.ID) { world?.maybe(2) }
  }

  init(seed: UInt64, queue: DispatchQueue?) {
    random = seed &* 7_919 &+ 13
    self.queue = queue
    logger = ReentrantLogger()
    let used = seed % 2 == 0 ? logger : nil
    store =
      queue.map { EntityStore(queue: $0, logger: used) } ?? EntityStore(delivery: .immediate, logger: used)
    logger.world = self
  }

  private func next(_ bound: Int) -> Int {
    random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(random >> 33) % bound
  }

  /// A call from within, now and then.
  func maybe(_ oneIn: Int) {
    guard depth < 4, next(oneIn) == 0 else { return }
    act()
  }

  func run() { while budget > 0 { act() } }

  /// On the queue, if there is one, so that nobody else uses this world meanwhile.
  private func inTurn<R>(_ body: () -> R) -> R { queue?.sync(execute: body) ?? body() }

  func runQueued() async {
    var goesOn = true
    while goesOn {
      let mustSettle = inTurn {
        for _ in 0..<5 { act() }
        goesOn = budget > 0
        return next(3) == 0
      }
      if mustSettle { await store.settled() }
    }
  }

  private func leaf(_ isHolding: Bool = true) -> Bud {
    let id = next(5)
    return Bud(
      id: id, number: next(6), note: next(2) == 0 ? nil : next(3), held: isHolding && next(3) == 0 ? held(by: id) : [])
  }

  /// Only of those that come later: what hold each other would keep each other alive.
  private func held(by id: Int) -> [any Sendable] {
    let other = id + 1 + next(3)
    switch next(3) {
    case 0: return store.find(Bud.self, id: other).map { [$0] } ?? []
    case 1: return store.find(Bud.self, id: other).map { [$0.map(\.number).observe { _ in }] } ?? []
    default: return [store.observer(Bud.self, id: other).observe { _ in }]
    }
  }

  private func twig(_ level: Int = 0) -> Twig {
    var twig = Twig(id: next(4), number: next(6), mode: next(3))
    if next(2) == 0 { twig.one = leaf() }
    twig.leaves = (0..<next(3)).map { _ in leaf() }
    twig.pool = (0..<next(3)).map { _ in leaf(false) }
    twig.parts = (0..<next(3)).map { _ in
      switch next(3) {
      case 0: .none
      case 1: .leaf(leaf())
      default: .pair([leaf(), leaf()])
      }
    }
    if level < 2, next(2) == 0 { twig.peers = (0..<next(3)).map { _ in self.twig(level + 1) } }
    return twig
  }

  private func change(_ leaf: inout Bud) {
    maybe(3)
    leaf.number = next(6)
    if next(4) == 0 { leaf.held = held(by: leaf.id) }
    maybe(4)
  }

  private func change(_ twig: inout Twig) {
    maybe(3)
    switch next(6) {
    case 0: twig.number = next(6)
    case 1: twig.mode = next(3)
    case 2: twig.leaves.append(leaf())
    case 3: if !twig.leaves.isEmpty { twig.leaves.removeLast() }
    case 4: if !twig.parts.isEmpty { twig.parts[0] = .leaf(leaf()) } else { twig.parts = [.pair([leaf()])] }
    default: if twig.peers.isEmpty { twig.peers = [self.twig(2)] } else { twig.peers = [] }
    }
    if twig.one != nil, next(3) == 0 { twig.one?.number = next(6) }
    maybe(4)
  }

  private func act() {
    guard budget > 0 else { return }
    budget -= 1
    depth += 1
    defer { depth -= 1 }
    switch next(26) {
    case 0: leaves.append(store.store(leaf()))
    case 1: leaves.append(store.store(leaf(), ifPresent: { self.change(&$0) }))
    case 2, 3: twigs.append(store.store(twig()))
    case 4: twigs.append(store.store(twig(), ifPresent: { self.change(&$0) }))
    case 5, 6: store.update(Bud.self, id: next(5)) { self.change(&$0) }
    case 7, 8: store.update(Twig.self, id: next(4)) { self.change(&$0) }
    case 9: if next(3) == 0 { store.remove(Bud.self, id: next(5)) }
    case 10: if next(3) == 0 { store.remove(Twig.self, id: next(4)) }
    case 11:
      try? store.transaction { _ in
        for _ in 0..<next(4) { act() }
        if next(3) == 0 { throw Refused() }
      }
    case 12: if !leaves.isEmpty { leaves.remove(at: next(leaves.count)) }
    case 13: if !twigs.isEmpty { twigs.remove(at: next(twigs.count)) }
    case 14, 15: show()
    case 16: if !shown.isEmpty { shown.remove(at: next(shown.count)).subscription?.unsubscribe() }
    case 17:
      switch next(3) {
      case 0: store.store(leaf(), named: AliasKey("leaf"))
      case 1: store.store([leaf(), leaf()], named: AliasKey("leaves"))
      default: store.update(named: AliasKey<[Bud]>("leaves")) { if !$0.isEmpty { self.change(&$0[0]) } }
      }
    case 18: next(2) == 0 ? store.removeAllAlias() : store.removeAlias(named: AliasKey<Bud>("leaf"))
    case 19:
      if next(2) == 0 {
        leaves.append(store.store(leaf(), merging: .ifPresent))
      } else {
        twigs.append(store.store(twig(), merging: .ifPresent(.init(\.one))))
      }
    case 20: next(2) == 0 ? group.pause() : group.resume()
    case 21:
      _ = try? store.updateOutcome(Twig.self, id: next(4)) { twig in
        self.change(&twig)
        if self.next(3) == 0 { throw Refused() }
      }
    case 22: if next(8) == 0 { store.removeAll() }
    case 23: read()
    case 24:
      if next(2) == 0 {
        kept.append(store.store(Summary(id: next(4), number: next(6))))
      } else {
        store.update(Summary.self, id: next(4)) { $0.number = self.next(6) }
      }
    default: if !kept.isEmpty { kept.remove(at: next(kept.count)) }
    }
  }

  private func read() {
    switch next(5) {
    case 0:
      _ = store.all(Twig.self) { _ in
        self.maybe(4); return true
      }
    case 1: _ = store.debugDescription(of: Twig.self, id: next(4))
    case 2: _ = store.dump()
    case 3: _ = store.value(Twig.self, id: next(4))
    default: _ = twigs.last?.value
    }
  }

  private func show() {
    guard shown.count < 12 else { return }
    let told = Log<String>()
    let say: @Sendable (String) -> Void = { [weak self] in
      told.append($0)
      self?.maybe(6)
    }
    func add<V>(_ observer: EntityObserver<V>, _ name: String, text: @escaping @Sendable (V) -> String) {
      let subscription = observer.observe { say(text($0)) }
      var item = Shown(told: told, present: { observer.isRemoved ? nil : text(observer.value) }, name: name)
      item.subscription = subscription
      if next(4) == 0 { group.insert(subscription) }
      shown.append(item)
    }
    switch next(8) {
    case 0: if let leaf = leaves.last { add(leaf, "leaf") { "\($0.id) \($0.number)" } }
    case 1, 2: if let twig = twigs.last { add(twig, "twig") { describe($0) } }
    case 3: add(store.observer(all: Twig.self), "all") { "\($0.map { "\($0.id) \($0.number)" })" }
    case 4:
      add(store.observer(Bud.self, ids: [0, 1, 2]), "ids") { "\($0.map { "\($0.id) \($0.number)" })" }
    case 5:
      if let twig = twigs.last {
        add(
          twig.map { [weak self] in
            self?.maybe(9); return $0.leaves.count
          }, "map"
        ) { "\($0)" }
      }
    case 6:
      if let twig = twigs.last, let leaf = leaves.last {
        add(store.observer(of: twig, leaf), "several") { "\(describe($0)) \($1.number)" }
      }
    default: add(store.find(named: AliasKey<[Bud]>("leaves")), "alias") { "\($0?.map(\.number) ?? [])" }
    }
  }

  func finish() async -> [String] {
    inTurn {
      budget = 0
      group.resume()
    }
    for _ in 0..<3 { await store.settled() }
    var faults = store._checkInvariants()
    // Whoever reads lets go of former values, of what these hold, and of what that keeps alive: there may be something to tell once more.
    for item in shown { _ = item.present() }
    for _ in 0..<3 { await store.settled() }
    for item in shown {
      guard let present = item.present(), let last = item.told.last else { continue }
      if last != present { faults.append("\(item.name) was told \(last), and it is \(present)") }
    }
    for twig in store.all(Twig.self) {
      var all = twig.leaves + twig.parts.compactMap(\.leaf) + twig.parts.flatMap { $0.pair ?? [] }
      if let one = twig.one { all.append(one) }
      if twig.mode > 0, let pick = twig.pick { all.append(pick) }
      for leaf in all where store.value(Bud.self, id: leaf.id) != leaf {
        faults.append("twig \(twig.id) shows leaf \(leaf.id) \(leaf.number)")
      }
      for peer in twig.peers where store.value(Twig.self, id: peer.id)?.number != peer.number {
        faults.append("twig \(twig.id) shows peer \(peer.id)")
      }
      if let summary = store.value(Summary.self, id: twig.id), summary.number != twig.number {
        faults.append("summary \(summary) of \(twig.number)")
      }
    }
    inTurn {
      for item in shown { item.subscription?.unsubscribe() }
      (shown, leaves, twigs, kept) = ([], [], [], [])
      group.unsubscribe()
      store.removeAllAlias()
    }
    for _ in 0..<3 { await store.settled() }
    faults += store._checkInvariants()
    // What entities hold of each other in a circle stays until they are removed.
    inTurn { store.removeAll() }
    for _ in 0..<3 { await store.settled() }
    let nodes = store._statistics().nodes
    if nodes > 0 { faults.append("\(nodes) nodes are left") }
    return faults
  }
}

private func describe(_ twig: Twig) -> String {
  let parts = twig.parts.map { "\($0.leaf?.number ?? -1) \($0.pair?.map(\.number) ?? [])" }
  return
    "\(twig.id) \(twig.number) \(twig.one?.number ?? -1) \(twig.leaves.map(\.number)) \(parts) \(twig.peers.map(\.number))"
    + (twig.mode > 0 ? " \(twig.pick?.number ?? -1)" : "")
}
