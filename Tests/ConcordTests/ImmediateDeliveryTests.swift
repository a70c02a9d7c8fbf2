import Concord
import Dispatch
import Foundation
import Synchronization
import Testing

@Suite("Immediate delivery is of one's own commit")
struct ImmediateDeliveryTests {
  private let store = EntityStore(delivery: .immediate)

  @Test("A write returns when its own commit is delivered, however much others go on to commit")
  func returns() {
    let store = store
    let tag = store.store(Tag(id: 0, text: 0))
    let other = store.store(Tag(id: 1, text: 0))
    let own = ObjectIdentifier(Thread.current)
    let commits = Counter()
    let ownCalls = Counter()
    let isStopped = StopFlag()
    // Each callback takes as long as somebody else's commit, so that there is always another one to deliver.
    let subscriptions = [tag, other].map { observer in
      observer.observe { _ in
        guard ObjectIdentifier(Thread.current) == own, !isStopped.isSet else { return }
        ownCalls.increment()
        let before = commits.value
        for _ in 0..<50 where commits.value == before { usleep(1_000) }
      }
    }
    let writer = DispatchGroup()
    let before = ownCalls.value
    DispatchQueue.global().async(group: writer) {
      for _ in 0..<400 where !isStopped.isSet {
        store.update(Tag.self, id: 1) { $0.text += 1 }
        commits.increment()
      }
    }
    while commits.value == 0 { usleep(100) }
    store.update(Tag.self, id: 0) { $0.text = 1 }
    isStopped.set()
    // Its own, and what was committed before it and not yet delivered.
    #expect(ownCalls.value - before < 50)
    writer.wait()
    for subscription in subscriptions { subscription.unsubscribe() }
  }

  @Test("Of many threads each tells its own commits, in commit order", arguments: [2, 4])
  func toldWhenReturned(threads: Int) async {
    let store = store
    let rounds = 200
    let faults = Log<String>()
    let tags = store.store((0..<threads).map { Tag(id: $0, text: 0) })
    let last = (0..<threads).map { _ in Kept<Int>() }
    let subscriptions = (0..<threads).compactMap { id in
      store.find(Tag.self, id: id)?.observe { tag in
        if let before = last[id].value, before >= tag.text { faults.append("\(tag.text) after \(before)") }
        last[id].value = tag.text
      }
    }
    DispatchQueue.concurrentPerform(iterations: threads) { id in
      for text in 1...rounds { store.update(Tag.self, id: id) { $0.text = text } }
    }
    // What was committed while somebody was delivering is told by a thread of its own.
    await store.settled()
    #expect(last.map(\.value) == Array(repeating: rounds, count: threads))
    #expect(faults.values == [])
    for subscription in subscriptions { subscription.unsubscribe() }
    withExtendedLifetime(tags) {}
  }

  @Test("A callback that waits for another thread's write does not wait for ever")
  func callbackWaits() {
    let store = store
    let tag = store.store(Tag(id: 0, text: 0))
    let other = store.store(Tag(id: 1, text: 0))
    let subscription = tag.observe { tag in
      guard tag.text == 1 else { return }
      #expect(ends { store.update(Tag.self, id: 1) { $0.text = 5 } })
    }
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(other.value.text == 5)
    subscription.unsubscribe()
  }
}

private final class StopFlag: Sendable {
  private let flag = Atomic(false)
  var isSet: Bool { flag.load(ordering: .sequentiallyConsistent) }
  func set() { flag.store(true, ordering: .sequentiallyConsistent) }
}
