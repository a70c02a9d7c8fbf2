import Concord
import Testing

/// Has as many shapes as there are subsets of its eight tags.
private struct Hand: Aggregate, Equatable {
  let id: Int
  var shown: Int
  var a, b, c, d, e, f, g, h: Tag

  init(_ id: Int, shown: Int) {
    (self.id, self.shown) = (id, shown)
    func tag(_ number: Int) -> Tag { Tag(id: number, text: 0) }
    (a, b, c, d, e, f, g, h) = (tag(0), tag(1), tag(2), tag(3), tag(4), tag(5), tag(6), tag(7))
  }

  var tags: [Tag] { [a, b, c, d, e, f, g, h] }

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    let all: [PartialIdentifiableKeyPath<Self>] = [
      .init(\.a), .init(\.b), .init(\.c), .init(\.d), .init(\.e), .init(\.f), .init(\.g), .init(\.h),
    ]
    return all.indices.filter { shown & (1 << $0) != 0 }.map { all[$0] }
  }
}

private struct Crowd: Aggregate, Equatable {
  let id: Int
  var tags: [Tag]
  var byID: [Int: Tag] = [:]
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.tags), .init(\.byID)] }
}

@Suite("Many shapes, many children, many removals")
struct LargeShapesTests {
  private let store = EntityStore(delivery: .immediate)

  @Test("One entity in 256 shapes, one after the other")
  func oneInMany() {
    let keep = store.store((0..<8).map { Tag(id: $0, text: 0) })
    let hand = store.store(Hand(0, shown: 0))
    for shown in (0..<256).map({ ($0 * 37) % 256 }) {
      store.update(Hand.self, id: 0) { $0.shown = shown }
      store.update(Tag.self, id: shown % 8) { $0.text += 1 }
      for (number, tag) in hand.value.tags.enumerated() where shown & (1 << number) != 0 {
        #expect(tag == keep.value[number])
      }
    }
    #expect(store._checkInvariants() == [])
  }

  @Test("256 entities of one type, each of another shape")
  func manyAtOnce() {
    let hands = (0..<256).map { store.store(Hand($0, shown: $0)) }
    for text in 1...3 {
      for id in 0..<8 { store.update(Tag.self, id: id) { $0.text = text * 10 + id } }
      for hand in hands {
        let value = hand.value
        for (number, tag) in value.tags.enumerated() where value.shown & (1 << number) != 0 {
          #expect(tag.text == text * 10 + number)
        }
      }
    }
    store.remove(Tag.self, id: 3)
    for id in 0..<256 { #expect((store.find(Hand.self, id: id) == nil) == (id & 8 != 0)) }
    #expect(store._checkInvariants() == [])
    withExtendedLifetime(hands) {}
  }

  @Test(
    "Children at either side of what a word has bits for",
    arguments: [[0], [63], [64], [63, 64], [65, 127, 128], [0, 191, 192, 299], Array(0..<300)])
  func staleChildren(changed: [Int]) {
    let log = Log<[Int]>()
    let tags = (0..<300).map { Tag(id: $0, text: 0) }
    let crowd = store.store(Crowd(id: 0, tags: tags, byID: Dictionary(uniqueKeysWithValues: tags.map { ($0.id, $0) })))
    for id in changed { store.update(Tag.self, id: id) { $0.text = 1 } }
    let expected = (0..<300).map { changed.contains($0) ? 1 : 0 }
    #expect(crowd.value.tags.map(\.text) == expected)
    #expect((0..<300).map { crowd.value.byID[$0]?.text ?? -1 } == expected)
    let subscription = crowd.observe { log.append($0.tags.map(\.text)) }
    store.transaction { store in for id in changed.reversed() { store.update(Tag.self, id: id) { $0.text = 2 } } }
    #expect(log.values == [expected, expected.map { $0 * 2 }])
    #expect(store._checkInvariants() == [])
    subscription.unsubscribe()
  }

  @Test(
    "Thousands come and go: who stays is found and shown",
    arguments: TestOptions.isLong ? [500, 1_023, 1_024, 1_025, 3_000] : [500, 1_025])
  func comeAndGo(count: Int) {
    let kept = (0..<count).map { store.store(Tag(id: $0, text: $0)) }.enumerated().filter { $0.offset % 3 == 0 }
    let crowd = store.store(Crowd(id: 0, tags: (0..<count).map { Tag(id: $0, text: -1) }))
    for id in 0..<count where id % 5 != 0 { store.remove(Tag.self, id: id) }
    #expect(crowd.value.tags.map(\.id) == (0..<count).filter { $0 % 5 == 0 })
    for id in stride(from: 0, to: count, by: 5) { store.update(Tag.self, id: id) { $0.text = id * 2 } }
    #expect(crowd.value.tags.map(\.text) == (0..<count).filter { $0 % 5 == 0 }.map { $0 * 2 })
    for id in 0..<count where id % 5 != 0 { store.store(Tag(id: id, text: 7)) }
    for (id, tag) in kept { #expect(tag.value.text == (id % 5 == 0 ? id * 2 : 7)) }
    #expect(store._checkInvariants() == [])
  }
}
