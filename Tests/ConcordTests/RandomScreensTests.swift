import Concord
import Testing

/// A store and what screens show of it, changed at random: after each step, whoever is not paused shows what there is, and
/// nobody was told the same twice.
@Suite("Screens at random")
struct RandomScreensTests {
  @Test("Lists, several at once, derived ones and pauses agree with the store after each step", arguments: 0..<20)
  func steps(seed: Int) {
    let screens = Screens(seed: UInt64(seed) &* 7_919 &+ 1)
    for step in 0..<150 {
      screens.step()
      screens.check("seed \(seed), step \(step)")
    }
    screens.close()
    #expect(screens.store._statistics().nodes == 0)
  }
}

private final class Screens {
  let store = EntityStore(delivery: .immediate)
  private var random: UInt64
  private var observers: [EntityObserver<Person>] = []
  private var shown: [Shown] = []
  private let group = SubscriptionGroup()
  private var isPaused = false

  /// One thing that is shown: what was told last, and what there is.
  private struct Shown {
    let told: Log<[Int]>
    /// `nil` if what there was is gone, and its last state may never have been committed.
    let present: () -> [Int]?
    let subscription: Subscription
    let isPausable: Bool
  }

  init(seed: UInt64) { random = seed }

  private func next(_ bound: Int) -> Int {
    random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(random >> 33) % bound
  }

  private func person() -> Person {
    let tag = next(3) == 0 ? nil : Tag(id: next(4), text: next(3))
    return Person(
      id: next(5), name: next(3), friends: next(3) == 0 ? [Person(id: next(5), name: next(3))] : [], tag: tag)
  }

  func step() {
    switch next(14) {
    case 0, 1: observers.append(store.store(person()))
    case 2: store.store(person())
    case 3, 4: store.update(Person.self, id: next(5)) { $0.name = next(3) }
    case 5, 6: store.update(Tag.self, id: next(4)) { $0.text = next(3) }
    case 7: store.remove(Person.self, id: next(5))
    case 8: store.remove(Tag.self, id: next(4))
    case 9: if !observers.isEmpty { observers.remove(at: next(observers.count)) }
    case 10: transaction()
    case 11: show()
    case 12: if !shown.isEmpty, next(2) == 0 { shown.remove(at: next(shown.count)) }
    default: pause()
    }
  }

  private func transaction() {
    let isUndone = next(3) == 0
    try? store.transaction { store in
      for _ in 0..<next(5) { step() }
      if isUndone { throw Refused() }
    }
  }

  private func pause() {
    isPaused.toggle()
    if isPaused { group.pause() } else { group.resume() }
  }

  private func show() {
    switch next(5) {
    case 0:
      let list = store.observer(all: Person.self) { $0.name > 0 }
      let store = store
      show(list.map { $0.map { $0.id * 100 + $0.name * 10 + ($0.tag?.text ?? 9) }.sorted() }) {
        store.all(Person.self) { $0.name > 0 }.map { $0.id * 100 + $0.name * 10 + ($0.tag?.text ?? 9) }.sorted()
      }
    case 1:
      let count = store.observer(all: Tag.self).map { [$0.count] }
      let store = store
      show(count) { [store.count(Tag.self)] }
    case 2:
      let some = store.observer(Tag.self, ids: [next(4), next(4), next(4)])
      show(some.map { $0.map(\.text) }) { some.value.map(\.text) }
    case 3:
      let both = store.observer(
        of: store.observer(Person.self, id: next(5)).map { $0?.name ?? -1 }, store.observer(Tag.self, id: next(4)))
      show(both.map { [$0.0, $0.1?.text ?? -1] }) { [both.value.0, both.value.1?.text ?? -1] }
    default:
      guard !observers.isEmpty else { return }
      let name = observers[next(observers.count)].name
      show(name.map { [$0] }) { name.isRemoved ? nil : [name.value] }
    }
  }

  private func show(_ observer: EntityObserver<[Int]>, _ present: @escaping () -> [Int]?) {
    let told = Log<[Int]>()
    let subscription = observer.observe { told.append($0) }
    let isPausable = next(2) == 0
    if isPausable { subscription.store(in: group) }
    shown.append(Shown(told: told, present: present, subscription: subscription, isPausable: isPausable))
  }

  func check(_ place: String) {
    for shown in shown {
      let told = shown.told.values
      #expect(zip(told, told.dropFirst()).allSatisfy { $0 != $1 }, "told twice, \(place)")
      if !(shown.isPausable && isPaused), let present = shown.present() { #expect(told.last == present, "\(place)") }
    }
    #expect(store._checkInvariants() == [], "\(place)")
  }

  func close() {
    shown = []
    group.unsubscribe()
    observers = []
  }
}
