import Concord
import Testing

@Suite("Each iteration of values follows on its own", .timeLimit(.minutes(1)))
struct ValuesSequenceTests {
  private let store = EntityStore(delivery: .immediate)

  @Test("Two iterators of one sequence both see everything they wait for")
  func twoIterators() async {
    let tag = store.store(Tag(id: 0, text: 0))
    let values = tag.values
    var first = values.makeAsyncIterator()
    var second = values.makeAsyncIterator()
    #expect(await first.next(isolation: nil)?.text == 0)
    #expect(await second.next(isolation: nil)?.text == 0)
    for text in 1...20 {
      store.update(Tag.self, id: 0) { $0.text = text }
      #expect(await first.next(isolation: nil)?.text == text)
      #expect(await second.next(isolation: nil)?.text == text)
    }
  }

  @Test("A second iteration afterwards begins with the current value")
  func secondAfterwards() async {
    let tag = store.store(Tag(id: 0, text: 0))
    let values = tag.values
    for round in 1...5 {
      var seen: [Int] = []
      for await value in values {
        seen.append(value.text)
        if seen.count == 1 { store.update(Tag.self, id: 0) { $0.text += 1 } } else { break }
      }
      #expect(seen == [round - 1, round])
    }
  }

  @Test("An iteration that ended ends no other")
  func endsAlone() async {
    let tag = store.store(Tag(id: 0, text: 0))
    let values = tag.values
    var staying = values.makeAsyncIterator()
    #expect(await staying.next(isolation: nil)?.text == 0)
    for await _ in values { break }
    let cancelled = Task {
      var count = 0
      for await _ in values { count += 1 }
      return count
    }
    cancelled.cancel()
    #expect(await cancelled.value <= 1)
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(await staying.next(isolation: nil)?.text == 1)
    var late = values.makeAsyncIterator()
    #expect(await late.next(isolation: nil)?.text == 1)
  }

  @Test("Several tasks at once, of one sequence: each ends on the newest value, and none goes back")
  func severalTasks() async {
    let store = store
    let tag = store.store(Tag(id: 0, text: 0))
    let values = tag.values
    let last = 300
    let seen = await withTaskGroup(of: [Int].self) { group in
      for _ in 0..<4 {
        group.addTask {
          var seen: [Int] = []
          for await value in values {
            seen.append(value.text)
            if value.text == last { break }
          }
          return seen
        }
      }
      group.addTask {
        for text in 1...last {
          store.update(Tag.self, id: 0) { $0.text = text }
          if text % 10 == 0 { await Task.yield() }
        }
        return [last]
      }
      return await group.reduce(into: [[Int]]()) { $0.append($1) }
    }
    #expect(seen.count == 5)
    for seen in seen {
      #expect(seen.last == last)
      #expect(seen == seen.sorted())
      #expect(Set(seen).count == seen.count)
    }
  }

  @Test("An iteration keeps the entity alive, and lets it go when it ends")
  func lifetime() async {
    do {
      let values = store.store(Tag(id: 0, text: 0)).values
      var iterator = values.makeAsyncIterator()
      #expect(await iterator.next(isolation: nil)?.text == 0)
      #expect(store.find(Tag.self, id: 0) != nil)
      #expect(store.update(Tag.self, id: 0) { $0.text = 1 })
      #expect(await iterator.next(isolation: nil)?.text == 1)
    }
    #expect(store.find(Tag.self, id: 0) == nil)
  }

  @Test("A sequence nobody iterates misses nothing that matters, and holds no iteration")
  func unused() async {
    let tag = store.store(Tag(id: 0, text: 0))
    let values = tag.values
    for text in 1...5 { store.update(Tag.self, id: 0) { $0.text = text } }
    var iterator = values.makeAsyncIterator()
    #expect(await iterator.next(isolation: nil)?.text == 5)
  }
}
