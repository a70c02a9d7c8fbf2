import Testing

@testable import Concord

@Suite("The list with gaps")
struct SlotListTests {
  private final class Thing: Sendable {}

  @Test("It has what an array has, in the same order", arguments: 0..<(TestOptions.isLong ? 20 : 3) as Range<UInt64>)
  func random(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let things = (0..<60).map { _ in Thing() }
    var list = SlotList<Thing>()
    var model: [Thing] = []
    for _ in 0..<2_000 {
      let thing = things[Int(random.next() % 60)]
      let key = ObjectIdentifier(thing)
      // Now it grows, and now it shrinks.
      if random.next() % 100 < (random.next() % 2 == 0 ? 70 : 30) {
        list.append(thing, key: key)
        if !model.contains(where: { $0 === thing }) { model.append(thing) }
      } else {
        list.remove(key)
        model.removeAll { $0 === thing }
      }
      #expect(list.elements.elementsEqual(model) { $0 === $1 })
      #expect(list.elements.reversed().elementsEqual(model.reversed()) { $0 === $1 })
      #expect(list.count == model.count && list.isEmpty == model.isEmpty)
      #expect(list.contains(key) == model.contains { $0 === thing })
      #expect((list[key] === thing) == list.contains(key))
      let some = Set(things.prefix(20).map { ObjectIdentifier($0) })
      #expect(list.elements(of: some).elementsEqual(model.filter { some.contains(ObjectIdentifier($0)) }) { $0 === $1 })
    }
  }

  @Test("What is removed is not kept")
  func released() {
    var list = SlotList<Thing>()
    weak var gone: Thing?
    do {
      let thing = Thing()
      gone = thing
      list.append(thing, key: ObjectIdentifier(thing))
      list.remove(ObjectIdentifier(thing))
    }
    #expect(gone == nil)
    #expect(list.isEmpty && list.elements.isEmpty)
  }
}
