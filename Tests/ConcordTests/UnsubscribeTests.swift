import Concord
import Dispatch
import Foundation
import Synchronization
import Testing

@Suite("After unsubscribe() on the queue or actor that delivers, no callback begins")
struct UnsubscribeTests {
  private static let rounds =
    TestOptions.number("CONCORD_STRESS_OPERATIONS").map { $0 * 10 } ?? 3_000

  /// Whether somebody has unsubscribed, and how many callbacks began afterwards.
  private final class Watch: Sendable {
    let isOver = Atomic(false)
    let late = Atomic(0)
    func callback() { if isOver.load(ordering: .sequentiallyConsistent) { late.add(1, ordering: .relaxed) } }
    func over() { isOver.store(true, ordering: .sequentiallyConsistent) }
  }

  @Test("On a serial queue, while another thread writes without a pause")
  func onQueue() {
    let queue = DispatchQueue(label: "delivery")
    let store = EntityStore(queue: queue)
    let tag = store.store(Tag(id: 0, text: 0))
    let writer = DispatchGroup()
    let stop = Watch()
    DispatchQueue.global().async(group: writer) {
      while !stop.isOver.load(ordering: .sequentiallyConsistent) { store.update(Tag.self, id: 0) { $0.text += 1 } }
    }
    var late = 0
    for _ in 0..<Self.rounds {
      let watch = Watch()
      let subscription = tag.observe { _ in watch.callback() }
      queue.sync {
        subscription.unsubscribe()
        watch.over()
      }
      late += watch.late.load(ordering: .relaxed)
      queue.sync {}
      late += watch.late.load(ordering: .relaxed)
    }
    stop.over()
    writer.wait()
    #expect(late == 0)
  }

  @Test("In another observer's callback on that queue")
  func inCallback() {
    let queue = DispatchQueue(label: "delivery")
    let store = EntityStore(queue: queue)
    let tag = store.store(Tag(id: 0, text: 0))
    var late = 0
    for _ in 0..<Self.rounds / 10 {
      let watches = (0..<3).map { _ in Watch() }
      let others = Kept<[Subscription]>()
      let first = tag.observe { tag in
        guard tag.text % 2 == 1 else { return }
        for subscription in others.value ?? [] { subscription.unsubscribe() }
        for watch in watches { watch.over() }
      }
      others.value = watches.map { watch in tag.observe { _ in watch.callback() } }
      for _ in 0..<4 { store.update(Tag.self, id: 0) { $0.text += 1 } }
      queue.sync {}
      queue.sync {}
      first.unsubscribe()
      late += watches.reduce(0) { $0 + $1.late.load(ordering: .relaxed) }
    }
    #expect(late == 0)
  }

  @Test("In its own callback")
  func inOwnCallback() {
    for isImmediate in [true, false] {
      let queue = DispatchQueue(label: "delivery")
      let store = isImmediate ? EntityStore(delivery: .immediate) : EntityStore(queue: queue)
      let tag = store.store(Tag(id: 0, text: 0))
      let watch = Watch()
      let own = Kept<Subscription>()
      own.value = tag.observe { tag in
        watch.callback()
        if tag.text > 0 {
          own.value?.unsubscribe()
          watch.over()
        }
      }
      for _ in 0..<100 { store.update(Tag.self, id: 0) { $0.text += 1 } }
      queue.sync {}
      #expect(watch.late.load(ordering: .relaxed) == 0)
      own.value = nil
    }
  }

  @Test("On the main actor")
  @MainActor
  func onMainActor() async {
    let store = EntityStore()
    let tag = store.store(Tag(id: 0, text: 0))
    let stop = Watch()
    let writer = Task.detached {
      while !stop.isOver.load(ordering: .sequentiallyConsistent) {
        store.update(Tag.self, id: 0) { $0.text += 1 }
        await Task.yield()
      }
    }
    var late = 0
    for round in 0..<Self.rounds / 10 {
      let watch = Watch()
      let subscription = tag.observe(on: MainActor.shared) { _ in watch.callback() }
      if round % 3 == 0 { await Task.yield() }
      subscription.unsubscribe()
      watch.over()
      await Task.yield()
      late += watch.late.load(ordering: .relaxed)
    }
    stop.over()
    await writer.value
    #expect(late == 0)
  }

  @Test("By immediate delivery, on the thread that writes")
  func immediate() {
    let store = EntityStore(delivery: .immediate)
    let tag = store.store(Tag(id: 0, text: 0))
    let watch = Watch()
    let subscription = tag.observe { _ in watch.callback() }
    store.update(Tag.self, id: 0) { $0.text = 1 }
    subscription.unsubscribe()
    watch.over()
    for _ in 0..<100 { store.update(Tag.self, id: 0) { $0.text += 1 } }
    #expect(watch.late.load(ordering: .relaxed) == 0)
  }

  @Test("From elsewhere, at most the one that is being started, and none once that has ended")
  func fromElsewhere() {
    let queue = DispatchQueue(label: "delivery")
    let store = EntityStore(queue: queue)
    let tag = store.store(Tag(id: 0, text: 0))
    let stop = Watch()
    let writer = DispatchGroup()
    DispatchQueue.global().async(group: writer) {
      while !stop.isOver.load(ordering: .sequentiallyConsistent) { store.update(Tag.self, id: 0) { $0.text += 1 } }
    }
    for _ in 0..<Self.rounds / 3 {
      let watch = Watch()
      let subscription = tag.observe { _ in watch.callback() }
      subscription.unsubscribe()
      watch.over()
      // What was running on the queue has ended now.
      queue.sync {}
      let late = watch.late.load(ordering: .relaxed)
      #expect(late <= 1)
      queue.sync {}
      #expect(watch.late.load(ordering: .relaxed) == late)
    }
    stop.over()
    writer.wait()
  }

  @Test("Releasing the subscription is the same")
  func released() {
    let queue = DispatchQueue(label: "delivery")
    let store = EntityStore(queue: queue)
    let tag = store.store(Tag(id: 0, text: 0))
    var late = 0
    for _ in 0..<Self.rounds / 3 {
      let watch = Watch()
      let subscription = Kept<Subscription>()
      subscription.value = tag.observe { _ in watch.callback() }
      for _ in 0..<3 { store.update(Tag.self, id: 0) { $0.text += 1 } }
      queue.sync {
        subscription.value = nil
        watch.over()
      }
      store.update(Tag.self, id: 0) { $0.text += 1 }
      queue.sync {}
      late += watch.late.load(ordering: .relaxed)
    }
    #expect(late == 0)
  }
}
