import Concord

/// Two stores that are given the same base data, one of them with layers above; observers come and go. When all layers have ended,
/// both have the same, and when nobody observes anything, nothing.
final class LayersWeakWorld {
  private static let ids = 0..<5

  private let layered = EntityStore(delivery: .immediate, stamping: .unstampedWritesWin)
  private let plain = EntityStore(delivery: .immediate, stamping: .unstampedWritesWin)
  private var random: SeededGenerator
  private var layers: [OptimisticLayer] = []
  private var kept: [Int: [Any]] = [:]
  private(set) var log: [String] = []

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  /// What went wrong.
  func step() -> String? {
    switch random.below(10) {
    case 0..<3:
      let edit = baseEdit()
      note("\(edit)")
      for store in [layered, plain] { try? edit.apply(to: store) }
    case 3: keep()
    case 4:
      guard let number = kept.keys.sorted().randomElement(using: &random) else { return nil }
      note("let go of \(number)")
      kept[number] = nil
    case 5..<8:
      let edits = (0..<random.below(3) + 1).map { _ in random.chance(40) ? baseEdit() : layerEdit() }
      note("layer \(edits)")
      if let layer = try? layered.optimistically({ tx in for edit in edits { try edit.apply(to: tx) } }) {
        layers.append(layer)
      }
    default:
      guard let index = layers.indices.randomElement(using: &random) else { return nil }
      note("roll back \(index)")
      layers.remove(at: index).rollBack()
    }
    let problems = layered._checkInvariants()
    return problems.isEmpty ? nil : problems.joined(separator: "; ")
  }

  func end() -> String? {
    while let layer = layers.popLast() { layer.rollBack() }
    if layered.dump() != plain.dump() { return "\(layered.dump())\n--- and not\n\(plain.dump())" }
    for store in [layered, plain] { store.removeAllAlias() }
    kept = [:]
    let left = layered._statistics()
    if left.entities != 0 || left.nodes != 0 { return "\(left) is left" }
    return nil
  }

  private func keep() {
    let number = random.below(6)
    let id = random.pick(Array(Self.ids))
    switch number % 3 {
    case 0: keep(LayerBook.self, id, number)
    case 1: keep(LayerShelf.self, id, number)
    default: keep(LayerReader.self, id, number)
    }
  }

  /// What the base has only as long as a layer keeps it is not kept for longer, since the other store does not have it.
  private func keep<T: Identifiable & Sendable>(_ type: T.Type, _ id: Int, _ number: Int) where T.ID == Int {
    let isInBase = layered.transaction { $0.value(type, id: id) != nil }
    guard isInBase == (plain.value(type, id: id) != nil) else { return }
    note("keep \(type) \(id) as \(number)")
    kept[number] = [layered.observer(type, id: id), plain.observer(type, id: id)]
  }

  /// Complete values only: an update of what only a layer keeps would find it in one of the stores.
  private func baseEdit() -> LayerEdit {
    let id = random.pick(Array(Self.ids))
    switch random.below(8) {
    case 0, 1: return .store(book(id), stamp: nil)
    case 2, 3: return .storeShelf(shelf(id), stamp: nil)
    case 4: return .feature(book(id))
    case 5: return .collect(Self.ids.filter { _ in random.chance(40) }.map(book))
    case 6: return random.pick([.removeBook(id), .removeShelf(id)])
    default: return random.pick([.unfeature, .uncollect])
    }
  }

  private func layerEdit() -> LayerEdit {
    let id = random.pick(Array(Self.ids))
    let other = random.pick(Array(Self.ids))
    switch random.below(9) {
    case 0: return .like(id)
    case 1: return .takeFromShelf(id)
    case 2: return .addToShelf(id, book(other))
    case 3: return .setBest(id, random.chance(50) ? book(other) : nil)
    case 4: return .storeReader(id, "\(random.below(3))")
    case 5: return .befriend(id, other)
    case 6: return .giveShelf(id, other)
    case 7: return .collectOne(book(id))
    default: return .refuseOdd(id)
    }
  }

  private func book(_ id: Int) -> LayerBook {
    LayerBook(id: id, title: "\(random.below(3))", likes: random.below(3))
  }

  private func shelf(_ id: Int) -> LayerShelf {
    var books = Self.ids.filter { _ in random.chance(40) }.map(book)
    let best = random.chance(50) ? books.popLast() : nil
    return LayerShelf(id: id, name: "\(random.below(3))", books: books, best: best)
  }

  private func note(_ line: String) { log.append(line) }
}
