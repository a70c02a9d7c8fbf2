import Concord
import Testing

@Suite("What became of a collection is told by identity")
struct DifferencesTests {
  private let store = EntityStore(delivery: .immediate)

  private func difference(_ old: [(Int, Int)]?, _ new: [(Int, Int)]) -> EntityDifference<Tag> {
    EntityDifference(from: old?.map { Tag(id: $0.0, text: $0.1) }, to: new.map { Tag(id: $0.0, text: $0.1) })
  }

  @Test("Inserted, removed, moved and updated are told apart, with where they stand and stood")
  func kinds() {
    let told = difference([(0, 0), (1, 0), (2, 0), (3, 0)], [(3, 0), (0, 0), (2, 9), (7, 0)])
    #expect(told.inserted.map { [$0.offset, $0.element.id] } == [[3, 7]])
    #expect(told.removed.map { [$0.offset, $0.element.id] } == [[1, 1]])
    #expect(told.moved.map { [$0.oldOffset, $0.offset, $0.new.id] } == [[3, 0, 3]])
    #expect(told.updated.map { [$0.oldOffset, $0.offset, $0.old.text, $0.new.text] } == [[2, 2, 0, 9]])
    #expect(!told.isInitial)
    #expect(difference([(0, 0)], [(0, 0)]).isEmpty)
    #expect(difference(nil, [(0, 0)]).isInitial)
    #expect(difference(nil, []).isInitial)
    #expect(difference([(0, 0), (1, 0)], [(1, 0), (0, 5)]).updated.count == 1)
  }

  @Test("A difference is read as text, however large it is")
  func description() {
    let told = difference([(0, 0), (1, 0), (2, 0), (3, 0)], [(3, 0), (0, 0), (2, 9), (7, 0)])
    #expect("\(told)" == "inserted at 3; removed at 1; moved 3 to 0; updated at 2")
    #expect("\(difference([(0, 0)], [(0, 0)]))" == "no difference")
    #expect("\(difference(nil, (0..<25).map { ($0, 0) }))" == "inserted at 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 15 more")
    #expect(told.inserted.map { "\($0)" }.first?.hasPrefix("3: ") == true)
    #expect(told.moved.map { "\($0)" }.first?.hasPrefix("3 to 0: ") == true)
    #expect(told.updated.map { "\($0)" }.first?.hasPrefix("2: ") == true)
  }

  @Test("Applied as a table does, a difference gives the new collection", arguments: 0..<300)
  func applied(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    func collection() -> [(Int, Int)] {
      (0..<Int.random(in: 0..<9, using: &random)).map { _ in
        (Int.random(in: 0..<7, using: &random), Int.random(in: 0..<2, using: &random))
      }
    }
    let (old, new) = (collection(), collection())
    let told = difference(old, new)
    var rows: [Tag?] = Array(repeating: nil, count: new.count)
    let gone = Set(told.removed.map(\.offset) + told.moved.map(\.oldOffset))
    for insertion in told.inserted { rows[insertion.offset] = insertion.element }
    for move in told.moved { rows[move.offset] = move.old }
    var rest = old.enumerated().filter { !gone.contains($0.offset) }.map { Tag(id: $0.element.0, text: $0.element.1) }
    for offset in rows.indices where rows[offset] == nil { rows[offset] = rest.isEmpty ? nil : rest.removeFirst() }
    #expect(rest.isEmpty)
    for update in told.updated {
      #expect(rows[update.offset] == update.old)
      rows[update.offset] = update.new
    }
    #expect(rows == new.map { Tag(id: $0.0, text: $0.1) }, "\(old) \(new)")
  }

  @Test("As few as can be are moved")
  func fewMoves() {
    #expect(difference((0..<100).map { ($0, 0) }, [(99, 0)] + (0..<99).map { ($0, 0) }).moved.map(\.new.id) == [99])
    #expect(difference([(0, 0), (1, 0)], [(1, 0), (0, 0)]).moved.count == 1)
    #expect(difference((0..<9).map { ($0, 0) }, (3..<9).map { ($0, 0) }).moved.isEmpty)
  }

  @Test("An observer of a collection is told the initial state, and then what changes")
  func observed() {
    let tags = store.store((0..<3).map { Tag(id: $0, text: $0) })
    let log = Log<EntityDifference<Tag>>()
    let subscription = tags.observeDifferences { log.append($0) }
    store.update(Tag.self, id: 1) { $0.text = 9 }
    store.update(Tag.self, id: 1) { $0.text = 9 }
    store.remove(Tag.self, id: 0)
    #expect(log.values.map(\.isInitial) == [true, false, false])
    #expect(log.values.map { $0.inserted.map(\.element.id) } == [[0, 1, 2], [], []])
    #expect(log.values.map { $0.updated.map(\.new.text) } == [[], [9], []])
    #expect(log.values.map { $0.removed.map(\.offset) } == [[], [], [0]])
    #expect(log.values.map { $0.elements.map(\.id) } == [[0, 1, 2], [0, 1, 2], [1, 2]])
    subscription.unsubscribe()
    store.update(Tag.self, id: 1) { $0.text = 10 }
    #expect(log.values.count == 3)
  }

  @Test("Entities that come and go in a listing are inserted and removed")
  func listing() {
    let log = Log<EntityDifference<Tag>>()
    let subscription = store.observer(all: Tag.self) { $0.text > 0 }.observeDifferences { log.append($0) }
    let tag = store.store(Tag(id: 0, text: 0))
    store.update(Tag.self, id: 0) { $0.text = 1 }
    store.update(Tag.self, id: 0) { $0.text = 2 }
    store.update(Tag.self, id: 0) { $0.text = 0 }
    #expect(
      log.values.map { [$0.inserted.count, $0.updated.count, $0.removed.count] } == [
        [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1],
      ])
    withExtendedLifetime((tag, subscription)) {}
  }

  @Test("Each iteration of the sequence is given the initial state, and differences to what it was given before")
  func sequence() async {
    let tags = store.store((0..<2).map { Tag(id: $0, text: 0) })
    var first = tags.differences.makeAsyncIterator()
    #expect(await first.next()?.inserted.map(\.element.id) == [0, 1])
    // What the reader missed is told at once, and what cancels itself out is not told.
    store.update(Tag.self, id: 0) { $0.text = 1 }
    store.update(Tag.self, id: 1) { $0.text = 1 }
    store.update(Tag.self, id: 0) { $0.text = 0 }
    let missed = await first.next()
    #expect(missed?.updated.map(\.new.id) == [1])
    #expect(missed?.isInitial == false)
    store.update(Tag.self, id: 0) { $0.text = 1 }
    store.update(Tag.self, id: 0) { $0.text = 0 }
    store.remove(Tag.self, id: 1)
    let last = await first.next()
    #expect(last?.removed.map(\.offset) == [1])
    #expect(last?.updated.isEmpty == true)
    var second = tags.differences.makeAsyncIterator()
    #expect(await second.next()?.inserted.map(\.element.id) == [0])
  }

  @Test("What cannot be compared counts as updated when it was written")
  func incomparable() {
    let old = [Opaque(id: 0, action: {})]
    #expect(EntityDifference(from: old, to: old).isEmpty)
    #expect(EntityDifference(from: old, to: [Opaque(id: 0, action: { _ = 1 })]).updated.count == 1)
  }

  private struct Opaque: Identifiable, Sendable {
    let id: Int
    let action: @Sendable () -> Void
  }
}
