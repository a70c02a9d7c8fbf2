import Concord
import Dispatch
import Synchronization
import Testing

/// Counts how many values are alive: each state of an entity has one of its own.
private final class Token: Sendable {
  static func == (lhs: Token, rhs: Token) -> Bool { lhs === rhs }
  private let counter: Alive
  init(_ counter: Alive) {
    self.counter = counter
    counter.number.add(1, ordering: .relaxed)
  }
  deinit { counter.number.subtract(1, ordering: .relaxed) }

  final class Alive: Sendable { let number = Atomic(0) }
}

private struct State: Identifiable, Equatable {
  let id: Int
  var text = 0
  var token: Token

  static func == (lhs: State, rhs: State) -> Bool { lhs.text == rhs.text && lhs.token === rhs.token }
}

private struct States: Aggregate, Equatable {
  let id: Int
  var states: [State]
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.states)] }
}

@Suite("A queue is told the newest committed state when its turn comes")
struct CoalescingTests {
  private let queue = DispatchQueue(label: "delivery")
  private let store: EntityStore

  init() { store = EntityStore(queue: queue) }

  /// Until nothing is waiting.
  private func settled() { for _ in 0..<3 { queue.sync {} } }

  @Test("Once, whatever was missed in between", arguments: [1, 2, 100, 5_000])
  func once(count: Int) {
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe { log.append($0.text) }
    queue.suspend()
    for text in 1...count { store.update(Tag.self, id: 0) { $0.text = text } }
    queue.resume()
    settled()
    #expect(log.values == [0, count])
    subscription.unsubscribe()
  }

  @Test("States that came and went, so that the newest is what was told before, tell nothing")
  func backAgain() {
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe { log.append($0.text) }
    queue.suspend()
    for text in [1, 2, 0] { store.update(Tag.self, id: 0) { $0.text = text } }
    queue.resume()
    settled()
    #expect(log.values == [0] || log.values == [0, 0])
    #expect(log.last == 0)
    subscription.unsubscribe()
  }

  @Test("A waiting notice holds no value", arguments: [10, 1_000])
  func holdsNothing(count: Int) {
    let alive = Token.Alive()
    let parent = store.store(States(id: 0, states: (0..<20).map { State(id: $0, token: Token(alive)) }))
    let subscriptions = (0..<3).map { _ in parent.observe { _ in } }
    settled()
    let before = alive.number.load(ordering: .relaxed)
    queue.suspend()
    for number in 1...count {
      store.update(State.self, id: number % 20) {
        $0.text = number
        $0.token = Token(alive)
      }
    }
    // The committed one of each, and perhaps one that was told last.
    #expect(alive.number.load(ordering: .relaxed) <= 2 * before)
    queue.resume()
    settled()
    #expect(alive.number.load(ordering: .relaxed) == 20)
    for subscription in subscriptions { subscription.unsubscribe() }
  }

  @Test("All who are told in one turn see the same commit")
  func sameCommit() {
    let store = store
    let log = Log<Int>()
    let tags = store.store([Tag(id: 0, text: 0), Tag(id: 1, text: 0)])
    let subscriptions = [
      tags.observe { log.append($0[0].text) }, store.find(Tag.self, id: 1)?.observe { log.append($0.text) },
    ]
    settled()
    for round in 1...50 {
      log.clear()
      queue.suspend()
      for text in 0..<10 {
        store.transaction { store in
          for id in 0..<2 { store.update(Tag.self, id: id) { $0.text = round * 100 + text } }
        }
      }
      queue.resume()
      settled()
      #expect(log.values == [round * 100 + 9, round * 100 + 9])
    }
    for subscription in subscriptions { subscription?.unsubscribe() }
  }

  @Test("Also while others commit: what one turn tells belongs to one commit, and no later turn goes back")
  func whileOthersCommit() {
    let store = store
    let tags = store.store((0..<4).map { Tag(id: $0, text: 0) })
    let turn = Log<(observer: Int, text: Int)>()
    let subscriptions = (0..<4).compactMap { id in
      store.find(Tag.self, id: id)?.observe { turn.append((id, $0.text)) }
    }
    turn.clear()
    for text in 1...2_000 {
      store.transaction { store in for id in 0..<4 { store.update(Tag.self, id: id) { $0.text = text } } }
    }
    settled()
    let calls = turn.values
    for id in 0..<4 {
      let texts = calls.filter { $0.observer == id }.map(\.text)
      #expect(texts == texts.sorted() && Set(texts).count == texts.count)
      #expect(texts.last == 2_000)
    }
    // All four are told of each state that one of them is told of.
    let states = (0..<4).map { id in Set(calls.filter { $0.observer == id }.map(\.text)) }
    #expect(Set(states).count == 1)
    for subscription in subscriptions { subscription.unsubscribe() }
    withExtendedLifetime(tags) {}
  }

  @Test("Immediate delivery tells each state")
  func immediate() {
    let store = EntityStore(delivery: .immediate)
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe { log.append($0.text) }
    for text in 1...100 { store.update(Tag.self, id: 0) { $0.text = text } }
    #expect(log.values == Array(0...100))
    subscription.unsubscribe()
  }

  @Test("One who unsubscribes, or is removed and stored again meanwhile, is told what holds then")
  func meanwhile() {
    let log = Log<Int?>()
    let gone = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = store.observer(Tag.self, id: 0).observe { log.append($0?.text) }
    let other = tag.observe { gone.append($0.text) }
    queue.suspend()
    store.update(Tag.self, id: 0) { $0.text = 1 }
    other.unsubscribe()
    store.remove(Tag.self, id: 0)
    queue.resume()
    settled()
    #expect(log.values == [0, nil])
    #expect(gone.values == [0])
    queue.suspend()
    store.store(Tag(id: 0, text: 2))
    store.remove(Tag.self, id: 0)
    store.store(Tag(id: 0, text: 3))
    queue.resume()
    settled()
    #expect(log.values == [0, nil, 3])
    subscription.unsubscribe()
  }

  @Test("One who is paused meanwhile is told the newest when resumed, once")
  func paused() {
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe { log.append($0.text) }
    queue.suspend()
    store.update(Tag.self, id: 0) { $0.text = 1 }
    subscription.pause()
    store.update(Tag.self, id: 0) { $0.text = 2 }
    queue.resume()
    settled()
    store.update(Tag.self, id: 0) { $0.text = 3 }
    subscription.resume()
    settled()
    #expect(log.values == [0, 3])
    subscription.unsubscribe()
  }
}
