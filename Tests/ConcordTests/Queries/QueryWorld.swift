import Concord
import Foundation

/// A store with queries, which is changed at random; each operator is compared with a naive computation from all entities.
final class QueryWorld {
  private(set) var log: [String] = []
  private var generator: SeededGenerator
  private let store = EntityStore(delivery: .immediate)
  private var errands: [Int: EntityObserver<Errand>] = [:]
  private var helpers: [Int: EntityObserver<Helper>] = [:]
  private var layers: [OptimisticLayer] = []
  private var probes: [QueryProbe] = []
  /// Queries that are read only now and then.
  private var resting: [QueryProbe] = []
  /// An errand that much happens to for a while.
  private var favourite = 0
  private var failures: [String] = []
  private var depth = 0

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
    // Some come before the queries are made.
    for _ in 0..<next(8) { storeErrand() }
    probes = QueryProbe.all(store) + demands(8)
    rest(operators(6) + demands(8))
  }

  private func rest(_ probes: [QueryProbe]) {
    for probe in probes { probe.pause() }
    resting += probes
  }

  private func operators(_ count: Int) -> [QueryProbe] {
    Array(QueryProbe.all(store).shuffled(using: &generator).prefix(count))
  }

  private func demands(_ count: Int) -> [QueryProbe] {
    QueryDemandForm.all.shuffled(using: &generator).prefix(count).map { $0.probe(store) }
  }

  private func next(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }

  private func errandID() -> Int {
    if next(8) == 0 { favourite = next(24) }
    return next(3) == 0 ? next(24) : favourite
  }

  func failure(readsAll: Bool = false) -> String? {
    if failures.isEmpty {
      let entities = (store.all(Errand.self), store.all(Helper.self))
      for probe in probes { failures += probe.failures(entities.0, entities.1, isCommitted: true) }
      for probe in resting where readsAll || next(12) == 0 {
        probe.resume()
        failures += probe.failures(entities.0, entities.1, isCommitted: true).map { "at rest, \($0)" }
        probe.pause()
      }
      failures += store._checkInvariants()
    }
    return failures.first
  }

  /// Ends everything. Returns what is left that should not be.
  func end() -> String? {
    for layer in layers { layer.rollBack() }
    (errands, helpers) = ([:], [:])
    if let failure = failure(readsAll: true) { return failure }
    (probes, resting) = ([], [])
    let left = store._statistics().entities
    return left == 0 ? store._checkInvariants().first : "\(left) entities are left"
  }

  // MARK: Steps

  func step() {
    switch next(20) {
    case 0..<3: transaction()
    case 3: addLayer()
    case 4: endLayer()
    case 5:
      switch next(3) {
      case 0: probes += operators(1)
      case 1: probes += demands(3)
      default: rest(demands(3))
      }
    case 6:
      // Sometimes none is left, so that the first one is made again.
      if next(6) == 0 {
        (probes, resting) = ([], [])
        if next(2) == 0 { rest(demands(8)) }
      } else if probes.count > 6 {
        probes.remove(at: next(probes.count))
      }
    default: change()
    }
  }

  private func change() {
    switch next(12) {
    case 0..<3: storeErrand()
    case 3:
      log.append("let go of an errand")
      if depth == 0, let id = errands.keys.sorted().randomElement(using: &generator) { errands[id] = nil }
    case 4..<7: updateErrand()
    case 7: updateProject()
    case 8: updateHelper()
    case 9:
      let id = next(6)
      log.append("store helper \(id)")
      let observer = store.store(helper(id))
      if depth == 0 { helpers[id] = observer }
    case 10:
      let id = errandID()
      log.append("remove errand \(id)")
      store.remove(Errand.self, id: id)
    default:
      let id = next(6)
      log.append("remove helper \(id)")
      store.remove(Helper.self, id: id)
    }
  }

  private func transaction() {
    let fails = next(3) == 0
    log.append("begin")
    depth += 1
    try? store.transaction { _ in
      for _ in 0..<next(5) {
        if depth < 3, next(5) == 0 { transaction() } else { change() }
        if next(8) == 0 { next(2) == 0 ? addLayer() : endLayer() }
        if next(2) == 0 { compareInside() }
        if next(12) == 0 {
          probes += operators(2) + demands(2)
        }
      }
      if fails { throw Refused() }
    }
    if depth > 1, next(2) == 0 { compareInside() }
    depth -= 1
    log.append(fails ? "throw" : "commit")
  }

  private func compareInside() {
    let entities = (store.all(Errand.self), store.all(Helper.self))
    for probe in probes { failures += probe.failures(entities.0, entities.1, isCommitted: false) }
    for probe in resting where next(12) == 0 {
      failures += probe.failures(entities.0, entities.1, isCommitted: false).map { "at rest, \($0)" }
    }
  }

  private func addLayer() {
    let (id, topic) = (errandID(), next(4))
    let (isNew, removes) = (next(3) == 0, next(4) == 0)
    log.append(removes ? "layer that removes \(id)" : "layer on \(id): \(topic)")
    let made = errand(100 + id)
    layers.append(
      store.optimistically { tx in
        if isNew { tx.store(made) }
        if removes {
          tx.remove(Errand.self, id: id)
        } else {
          tx.update(Errand.self, id: id) {
            $0.topic = topic
            $0.minutes = 10
          }
        }
      })
  }

  private func endLayer() {
    guard !layers.isEmpty else { return }
    let position = next(layers.count)
    let layer = layers[position]
    // A transaction that throws brings it back.
    if depth == 0 { layers.remove(at: position) }
    let commits = next(2) == 0
    log.append(commits ? "commit a layer" : "roll a layer back")
    if commits { layer.commit() } else { layer.rollBack() }
  }

  private func storeErrand() {
    let id = errandID()
    log.append("store errand \(id)")
    let observer = store.store(errand(id))
    if depth == 0 { errands[id] = observer }
  }

  private func updateErrand() {
    let (id, new) = (errandID(), errand(0))
    let part = next(9)
    log.append("update errand \(id), part \(part)")
    store.update(Errand.self, id: id) { errand in
      switch part {
      case 0: errand.title = new.title
      case 1: errand.minutes = new.minutes
      case 2: errand.due = new.due
      case 3: errand.topic = new.topic
      case 4: (errand.project, errand.helpers) = (new.project, new.helpers)
      case 5: errand.isDone = new.isDone
      case 6: errand.place = new.place
      case 7: errand.owner = new.owner
      default: errand.weight = new.weight
      }
    }
  }

  private func updateProject() {
    let (id, isOpen, rank) = ("p\(next(3))", next(2) == 0, next(3))
    log.append("update project \(id)")
    store.update(Project.self, id: id) { ($0.isOpen, $0.rank) = (isOpen, rank) }
  }

  private func updateHelper() {
    let (id, new) = (next(6), helper(0))
    log.append("update helper \(id)")
    store.update(Helper.self, id: id) { ($0.name, $0.topic) = (new.name, new.topic) }
  }

  private static let titles = ["", "a", "e\u{301}", "é", "éa", "\u{65E5}", "abcdefgh", "abcdefghi", "Z", "a\u{301}b"]

  private func errand(_ id: Int) -> Errand {
    let numbers: [Double] = [0, -0.0, 1, 0.1, 0.2, 0.3, 1e300, -1e300, 1e-300, .nan, 7.25]
    let project: Project? = next(3) == 0 ? nil : Project(id: "p\(next(3))", isOpen: next(2) == 0, rank: next(3))
    return Errand(
      id: id, title: Self.titles[next(Self.titles.count)], minutes: [0, 5, 30, .max, -7][next(5)],
      weight: numbers[next(numbers.count)], due: next(4) == 0 ? nil : numbers[next(numbers.count)], topic: next(4),
      project: project, helpers: (0..<next(3)).map { _ in helper(next(6)) },
      isDone: next(2) == 0, place: Location(floor: next(8) - 3), owner: helper(next(6)))
  }

  private func helper(_ id: Int) -> Helper {
    Helper(id: id, name: Self.titles[next(Self.titles.count)], topic: next(3) == 0 ? nil : next(4))
  }
}
