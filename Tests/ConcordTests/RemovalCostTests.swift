import Concord
import Testing

/// How often the store reads and writes the elements of a list, and writes the list itself.
private let reads = Counter()
private let writes = Counter()

/// A list that counts.
private struct CountedList: MutableCollection, RangeReplaceableCollection, Sendable, Equatable {
  private var tags: [Tag] = []

  init() {}

  var startIndex: Int { 0 }
  var endIndex: Int { tags.count }
  func index(after index: Int) -> Int { index + 1 }

  subscript(position: Int) -> Tag {
    get {
      reads.increment()
      return tags[position]
    }
    set {
      reads.increment()
      tags[position] = newValue
    }
  }

  mutating func replaceSubrange<C: Collection>(_ range: Range<Int>, with new: C) where C.Element == Tag {
    reads.increment()
    tags.replaceSubrange(range, with: new)
  }
}

private struct Box: Aggregate, Equatable {
  let id: Int
  var counted = CountedList()
  var tags: [Tag] {
    get { stored }
    set {
      writes.increment()
      stored = newValue
    }
  }
  private var stored: [Tag] = []

  init(_ tags: [Tag], counted: [Tag] = []) {
    id = 0
    stored = tags
    self.counted.append(contentsOf: counted)
  }

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.tags), .init(\.counted)] }
}

// One after the other, since all of them count in one place.
@Suite("Removing many in one transaction makes one new collection", .serialized)
struct RemovalCostTests {
  private let store = EntityStore(delivery: .immediate)

  private func removeHundred(_ store: EntityStore, of count: Int) {
    for id in 0..<100 { store.remove(Tag.self, id: id * (count / 100)) }
  }

  @Test("100 of 10,000: the array is written once", arguments: [true, false])
  func writtenOnce(isObserved: Bool) {
    let log = Log<Int>()
    let box = store.store(Box((0..<10_000).map { Tag(id: $0, text: 0) }))
    let subscription = isObserved ? box.observe { log.append($0.tags.count) } : nil
    let before = writes.value
    store.transaction { removeHundred($0, of: 10_000) }
    #expect(box.value.tags.count == 9_900)
    // One to write it, and one or two for a setter that is asked whether it has done so.
    #expect(writes.value - before <= 3)
    if isObserved { #expect(log.values == [10_000, 9_900]) }
    #expect(box.value.tags.allSatisfy { $0.id % 100 != 0 })
    #expect(store._checkInvariants() == [])
    subscription?.unsubscribe()
  }

  @Test("The elements are passed once, however many go", arguments: [true, false])
  func passedOnce(isObserved: Bool) {
    func cost(_ removed: Int) -> Int {
      let box = store.store(Box([], counted: (0..<2_000).map { Tag(id: $0, text: 0) }))
      let subscription = isObserved ? box.observe { _ in } : nil
      defer {
        subscription?.unsubscribe()
        store.removeAll()
      }
      let before = reads.value
      store.transaction { store in for id in 0..<removed { store.remove(Tag.self, id: id * 3) } }
      #expect(box.value.counted.count == 2_000 - removed)
      return reads.value - before
    }
    let (few, many) = (cost(10), cost(160))
    #expect(many <= few * 2, "\(few) reads for 10, \(many) for 160")
  }

  @Test("With a change in between, and a child updated")
  func mixed() {
    let box = store.store(Box((0..<1_000).map { Tag(id: $0, text: 0) }))
    let before = writes.value
    store.transaction { store in
      for id in 0..<50 {
        store.remove(Tag.self, id: id * 2)
        store.update(Tag.self, id: id * 2 + 1) { $0.text = 1 }
      }
    }
    #expect(box.value.tags.count == 950)
    #expect(box.value.tags.prefix(50).allSatisfy { $0.text == 1 })
    #expect(writes.value - before <= 6)
    #expect(store._checkInvariants() == [])
  }

  @Test("What is read inside the transaction has it all")
  func readInside() {
    let box = store.store(Box((0..<200).map { Tag(id: $0, text: 0) }))
    try? store.transaction { store in
      for id in 0..<20 {
        store.remove(Tag.self, id: id)
        #expect(box.value.tags.count == 199 - id)
        #expect(box.value.tags.first?.id == id + 1)
      }
      throw Refused()
    }
    #expect(box.value.tags.count == 200)
    #expect(store._checkInvariants() == [])
  }
}
