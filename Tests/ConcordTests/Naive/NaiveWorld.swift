import Concord
import Foundation

/// A step of a program: kept as data, so that a failing program can be made shorter.
indirect enum NaiveStep: Sendable, CustomStringConvertible {
  case write(NaiveEdit)
  case transaction([NaiveStep], isThrowing: Bool)
  case layer(number: Int, [NaiveEdit])
  case commit(Int)
  case rollBack(Int)
  case observe(NaiveKey)
  case letGo(NaiveKey)
  /// Compares what is read there.
  case look

  var description: String { lines("").joined(separator: "\n") }

  private func lines(_ indent: String) -> [String] {
    switch self {
    case .write(let edit): [indent + "\(edit)"]
    case .transaction(let steps, let isThrowing):
      ["\(indent)transaction\(isThrowing ? " that throws" : "")"] + steps.flatMap { $0.lines(indent + "  ") }
    case .layer(let number, let edits): ["\(indent)layer \(number): \(edits)"]
    case .commit(let number): ["\(indent)commit \(number)"]
    case .rollBack(let number): ["\(indent)roll back \(number)"]
    case .observe(let key): ["\(indent)observe \(key)"]
    case .letGo(let key): ["\(indent)let go of \(key)"]
    case .look: ["\(indent)look"]
    }
  }
}

/// What programs are made of.
struct NaiveGenerator {
  private var random: SeededGenerator
  private var lastLayer = 0
  let hasClock: Bool
  /// Whether all entities have an observer from the beginning.
  let isHeld: Bool
  private let hasRemovals: Bool
  private let ids: Int

  init(seed: UInt64, isHeld: Bool) {
    random = SeededGenerator(seed: seed)
    hasClock = random.chance(50)
    hasRemovals = random.chance(70)
    ids = random.below(2) + 2
    self.isHeld = isHeld
  }

  var keys: [NaiveKey] { NaiveKey.Kind.allCases.flatMap { kind in (0..<ids).map { NaiveKey(kind, $0) } } }

  mutating func program(_ count: Int) -> [NaiveStep] { (0..<count).map { _ in step(depth: 0) } }

  private mutating func step(depth: Int) -> NaiveStep {
    switch random.below(20) {
    case 0..<4 where depth < 3:
      let steps = (0..<random.below(4) + 1).map { _ in step(depth: depth + 1) }
      return .transaction(steps, isThrowing: random.chance(35))
    case 4..<8:
      lastLayer += 1
      var edits = (0..<random.below(2) + 1).map { _ in edit() }
      // What a closure reads of an entity that nobody holds is shown until it is called again.
      if !isHeld { while edits.contains(where: \.isReading) { edits = [edit()] } }
      return .layer(number: lastLayer, edits)
    case 8: return .commit(random.below(lastLayer + 1))
    case 9: return .rollBack(random.below(lastLayer + 1))
    case 10 where depth > 0: return .look
    case 11 where !isHeld: return random.chance(60) ? .observe(key()) : .letGo(key())
    default: return .write(edit())
    }
  }

  private mutating func edit() -> NaiveEdit {
    let kind = random.pick(NaiveKey.Kind.allCases)
    switch random.below(hasRemovals ? 24 : 20) {
    case 0...2: return .store(tree(kind), stamp())
    case 3: return .storeSeveral((0..<random.below(3)).map { _ in tree(kind) }, stamp())
    case 4...7: return .update(NaiveKey(kind, id()), change(kind), stamp())
    case 8, 9: return .name(tree(kind), stamp())
    case 10, 11: return .updateNamed(kind, change(kind), stamp())
    case 12: return .rename(kind, id: id(), change(kind), stamp())
    case 13: return .unname(kind)
    case 14: return .collect(kind, (0..<random.below(3)).map { _ in tree(kind) }, stamp())
    case 15: return .appendToCollection(tree(kind), stamp())
    case 16: return .changeInCollection(kind, index: random.below(2), change(kind), stamp())
    case 17: return .uncollect(kind)
    case 18: return .copyField(from: key(), to: key())
    case 19: return .refuseOdd(key())
    case 20, 21: return .remove(key())
    case 22: return random.chance(30) ? .removeAllAlias : .remove(key())
    default: return random.chance(30) ? .removeAll : .remove(key())
    }
  }

  private mutating func change(_ kind: NaiveKey.Kind) -> NaiveChange {
    guard !kind.relations.isEmpty, random.chance(75) else { return .field(field()) }
    let relation = random.below(kind.relations.count)
    switch random.below(4) {
    case 0, 1: return .put(relation: relation, tree(kind.relations[relation]))
    case 2: return .take(relation: relation)
    default: return .inside(relation: relation, index: random.below(2), change(kind.relations[relation]))
    }
  }

  private mutating func tree(_ kind: NaiveKey.Kind) -> NaiveTree {
    var tree = NaiveTree(key: NaiveKey(kind, id()), field: field())
    for (index, other) in kind.relations.enumerated() {
      let count = kind.requires(index) ? 1 : kind.isList(index) ? random.below(3) : random.below(2)
      tree.relations.append((0..<count).map { _ in self.tree(other) })
    }
    return tree
  }

  private mutating func id() -> Int { random.below(ids) }
  private mutating func key() -> NaiveKey { random.pick(keys) }
  private mutating func field() -> Int { random.below(4) }
  /// Below and above the clock, which is at 1,000.
  private mutating func stamp() -> Double? {
    if random.chance(50) { return nil }
    let stamp = Double(random.below(12))
    return stamp < 6 ? 990 + stamp : 1_000 + stamp
  }
}

/// A store beside its naive model.
final class NaiveWorld {
  private let store: EntityStore
  private var model: NaiveLayers
  private var shown = NaiveRows()
  private let keys: [NaiveKey]
  private var handles: [Int: OptimisticLayer] = [:]
  private var observers: [NaiveKey: Any] = [:]
  private let isHeld: Bool
  private var problems: [String] = []

  static let date = 1_000.0

  init(_ generator: NaiveGenerator) {
    let date = Date(timeIntervalSinceReferenceDate: Self.date)
    store = EntityStore(
      delivery: .immediate, stamping: generator.hasClock ? .clock : .unstampedWritesWin, date: { date })
    model = NaiveLayers(hasClock: generator.hasClock, date: Self.date)
    (keys, isHeld) = (generator.keys, generator.isHeld)
    if isHeld { for key in keys { observers[key] = key.kind.type.observe(key.id, in: store) } }
  }

  /// Runs a program until the store differs from the model.
  ///
  /// - Returns: what differs, after which step.
  func run(_ program: [NaiveStep]) -> (problem: String, step: Int)? {
    for (index, step) in program.enumerated() {
      run(step, isOutermost: true)
      // The observers that the calls returned are released after their transactions.
      if case .write(let edit) = step { _ = model.end(holders: Set(observers.keys).union(edit.returned)) }
      shown = model.end(holders: Set(observers.keys))
      follow()
      compare(shown, "shown", hasStamps: false)
      store.transaction { _ in compare(model.base, "base", hasStamps: true) }
      compare(shown, "shown after a look at the base", hasStamps: false)
      problems += store._checkInvariants()
      if !problems.isEmpty { return (problems.prefix(6).joined(separator: "; "), index) }
    }
    return nil
  }

  private func run(_ step: NaiveStep, isOutermost: Bool) {
    switch step {
    case .write(let edit):
      do {
        if case .copyField = edit, isOutermost {
          try store.transaction { try edit.apply(to: $0) }
        } else {
          try edit.apply(to: store)
        }
      } catch {}
      model.write([edit])
    case .transaction(let steps, let isThrowing):
      let saved = (model, handles)
      try? store.transaction { _ in
        for step in steps { run(step, isOutermost: false) }
        if isThrowing { throw Refused() }
      }
      if isThrowing {
        let tick = model.tick
        model = saved.0
        model.tick = tick
      }
    case .layer(let number, let edits):
      let problem = model.add(.init(number: number, edits: edits))
      do {
        let layer = try store.optimistically { tx in for edit in edits { try edit.apply(to: tx) } }
        if problem == .thrown { problems.append("layer \(number) did not throw") }
        handles[number] = layer
      } catch {
        if problem != .thrown { problems.append("layer \(number) threw") }
      }
    case .commit(let number):
      guard let layer = handles[number] else { return }
      let expected = model.commit(number)
      let found = layer.commit()
      if expected != found { problems.append("layer \(number) is committed: \(found), and not \(expected)") }
    case .rollBack(let number):
      guard let layer = handles[number] else { return }
      model.rollBack(number)
      layer.rollBack()
    case .observe(let key): observers[key] = key.kind.type.observe(key.id, in: store)
    case .letGo(let key): observers[key] = nil
    case .look: if !isOutermost { compare(model.base, "in the transaction", hasStamps: true) }
    }
  }

  /// Compares which layers are pending.
  private func follow() {
    for (number, layer) in handles {
      let isPending = model.layers.contains { $0.number == number }
      if layer.state.isPending != isPending {
        problems.append("layer \(number) is \(layer.state), and not \(isPending ? "pending" : "ended")")
      }
    }
  }

  private func compare(_ rows: NaiveRows, _ place: String, hasStamps: Bool) {
    func expect<T: Equatable>(_ found: T, _ expected: T, _ what: @autoclosure () -> String) {
      if found != expected { problems.append("\(place): \(what()) is \(found), and not \(expected)") }
    }
    for key in keys {
      expect(key.kind.type.read(key.id, in: store), rows.tree(key), "\(key)")
      guard hasStamps else { continue }
      let (found, expected) = (key.kind.type.readStamp(key.id, in: store), rows.rows[key]?.stamp)
      if let found, let expected, found != expected, abs(found - expected) > 1e-6 || found.isInfinite {
        problems.append("\(place): the stamp of \(key) is \(found), and not \(expected)")
      }
    }
    for kind in NaiveKey.Kind.allCases {
      expect(kind.type.readNamed(in: store), rows.named[kind].flatMap { rows.tree($0.content) }, "the one \(kind)")
      expect(
        kind.type.readCollection(in: store), rows.collections[kind].map { $0.content.compactMap(rows.tree) },
        "the collection of \(kind)")
    }
  }
}
