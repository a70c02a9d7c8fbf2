import Concord
import Dispatch
import Foundation
import Synchronization
import Testing

/// Watches one observer: its versions only grow, its calls do not overlap, and none comes on the thread that has
/// unsubscribed.
private final class Watch: Sendable {
  private struct State {
    var isRunning = false
    var version = Int.min
    var unsubscriber: ObjectIdentifier?
  }

  private let state = Mutex(State())
  private let faults: Log<String>

  init(_ faults: Log<String>) { self.faults = faults }

  func begin(_ version: Int) {
    let fault: String? = state.withLock { state in
      defer {
        state.isRunning = true
        state.version = version
      }
      if state.isRunning { return "calls overlap" }
      if state.unsubscriber == ObjectIdentifier(Thread.current) { return "a call after unsubscribe" }
      return version < state.version ? "version \(version) after \(state.version)" : nil
    }
    if let fault { faults.append(fault) }
  }

  func end() { state.withLock { $0.isRunning = false } }
  func unsubscribed() { state.withLock { $0.unsubscriber = ObjectIdentifier(Thread.current) } }
}

@Suite("Stress")
struct StressTests {
  @Test("Eight threads mix everything", arguments: [true, false])
  func eightThreads(isImmediate: Bool) async {
    let operations = TestOptions.number("CONCORD_STRESS_OPERATIONS") ?? 300
    let queue = DispatchQueue(label: "delivery")
    let store = isImmediate ? EntityStore(delivery: .immediate) : EntityStore(queue: queue)
    let worker = Worker(store: store)
    // Two that always change together, and are never removed.
    let pair = store.store([Tag(id: 100, text: 0), Tag(id: 101, text: 0)])
    let pairSubscription = pair.observe { tags in
      if Set(tags.map(\.text)).count != 1 { worker.faults.append("half of a transaction: \(tags)") }
    }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
          var random = SeededGenerator(seed: UInt64(thread))
          var held: [(Subscription, Watch)] = []
          for _ in 0..<operations { worker.step(&random, &held) }
          for (subscription, watch) in held {
            subscription.unsubscribe()
            watch.unsubscribed()
          }
        }
        continuation.resume()
      }
    }
    queue.sync {}
    pairSubscription.unsubscribe()
    #expect(worker.faults.values == [])
    #expect(store._checkInvariants().isEmpty)
    store.removeAllAlias()
    #expect(store._statistics().entities == 2)
    withExtendedLifetime(pair) {}
  }
}

private struct Worker: Sendable {
  let store: EntityStore
  let faults = Log<String>()
  let versions = Counter()
  private let alias: AliasKey<Person> = "person"
  private let list: AliasKey<[Tag]> = "tags"

  init(store: EntityStore) { self.store = store }

  func step(_ random: inout SeededGenerator, _ held: inout [(Subscription, Watch)]) {
    let id = random.below(4)
    let other = random.below(4)
    switch random.below(16) {
    case 0, 1:
      // The version is taken inside, where writers wait for each other.
      store.transaction { store in
        let version = versions.increment()
        store.store(
          Person(id: id, name: version, friends: [Person(id: other, name: version)], tag: Tag(id: id, text: version)))
      }
    case 2, 3: store.update(Tag.self, id: id) { $0.text = versions.increment() }
    case 4:
      store.update(Person.self, id: id) { person in
        person.name = versions.increment()
        person.tag = Tag(id: other, text: person.name)
        _ = store.find(Tag.self, id: id)?.value
      }
    case 5: store.remove(Tag.self, id: id)
    case 6: store.transaction { $0.store(Person(id: id, name: versions.increment()), named: alias) }
    case 7: store.transaction { $0.store([Tag(id: id, text: versions.increment())], named: list) }
    case 8: random.chance(50) ? store.removeAlias(named: alias) : store.removeAlias(named: list)
    case 9, 10:
      let watch = Watch(faults)
      let subscription = store.observer(Tag.self, id: id).observe { [store, faults] tag in
        // An absent one has no version.
        guard let tag else { return }
        watch.begin(tag.text)
        if tag.text % 7 == 0 {
          _ = store.find(Person.self, id: tag.id)?.value
          store.store(Note(id: tag.id, text: tag.text))
        }
        if tag.id != id { faults.append("another entity") }
        watch.end()
      }
      held.append((subscription, watch))
    case 11:
      guard let (subscription, watch) = held.popLast() else { return }
      subscription.unsubscribe()
      watch.unsubscribed()
    case 12:
      guard let (subscription, _) = held.last else { return }
      subscription.pause()
      store.update(Tag.self, id: id) { $0.text = versions.increment() }
      subscription.resume()
    case 13:
      try? store.transaction { store in
        store.update(Tag.self, id: id) { $0.text = -1 }
        store.update(Tag.self, id: 100) { $0.text = -1 }
        throw Refused()
      }
    case 14:
      store.transaction { store in
        let version = versions.increment()
        for id in [100, 101] { store.update(Tag.self, id: id) { $0.text = version } }
      }
    default:
      let person = store.find(Person.self, id: id)
      let found = store.find(named: list)
      if let value = person?.value, value.id != id { faults.append("found another") }
      if let tags = found.value, tags.count > 1 { faults.append("another list") }
    }
    if held.count > 6 {
      let (subscription, watch) = held.removeFirst()
      subscription.unsubscribe()
      watch.unsubscribed()
    }
  }
}

extension StressTests {
  @Test("Readers of sequences and writers")
  func sequences() async {
    let store = EntityStore(delivery: .immediate)
    let tag = store.store(Tag(id: 0, text: 0))
    let ends = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<4 {
        group.addTask {
          var last = -1
          for await value in tag.values {
            if value.text < last { return false }
            last = value.text
            if last >= 400 { return true }
          }
          return false
        }
      }
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<100 {
            store.update(Tag.self, id: 0) { $0.text += 1 }
            await Task.yield()
          }
          return true
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(ends.allSatisfy { $0 })
  }
}
