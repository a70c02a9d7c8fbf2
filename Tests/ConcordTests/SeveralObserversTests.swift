import Concord
import Dispatch
import Foundation
import Testing

@Suite("Several observed at once")
struct SeveralObserversTests {
  private let store = EntityStore(delivery: .immediate)

  @Test("The closure is called once a transaction, with all of one state")
  func together() {
    let log = Log<[Int]>()
    let (tag, note) = (store.store(Tag(id: 0, text: 0)), store.store(Note(id: 0, text: 0)))
    let subscription = store.observe(tag, note) { tag, note in log.append([tag.text, note.text]) }
    store.transaction { store in
      store.update(Tag.self, id: 0) { $0.text = 1 }
      store.update(Note.self, id: 0) { $0.text = 1 }
      store.update(Tag.self, id: 0) { $0.text = 2 }
    }
    store.update(Note.self, id: 0) { $0.text = 3 }
    store.store(Tag(id: 0, text: 2))
    store.store(Tag(id: 1, text: 2))
    #expect(log.values == [[0, 0], [2, 1], [2, 3]])
    subscription.unsubscribe()
    store.update(Tag.self, id: 0) { $0.text = 4 }
    #expect(log.count == 3)
    #expect(store._checkInvariants() == [])
  }

  @Test("Three, four, the same one twice, and observers of every kind")
  func kinds() {
    let log = Log<[Int]>()
    let tag = store.store(Tag(id: 0, text: 0))
    let alias = AliasKey<Tag>("tag")
    let subscriptions = [
      store.observe(tag, tag, tag) { log.append([$0.0.text, $0.1.text, $0.2.text]) },
      store.observe(
        tag.text, store.find(named: alias), store.observer(Note.self, id: 0), store.observer(all: Note.self)
      ) {
        text, alias, note, notes in
        log.append([text, alias?.text ?? -1, note?.text ?? -1, notes.count])
      },
    ]
    store.update(Tag.self, id: 0) { $0.text = 1 }
    store.transaction { store in
      store.store(Tag(id: 0, text: 1), named: alias)
      store.store(Note(id: 0, text: 5), named: "note")
    }
    #expect(
      log.values == [[0, 0, 0], [0, -1, -1, 0], [1, 1, 1], [1, -1, -1, 0], [1, 1, 5, 1]])
    for subscription in subscriptions { subscription.unsubscribe() }
    #expect(store._checkInvariants() == [])
  }

  @Test("A combined observer reads one state, keeps all alive, and lets all go")
  func lifetime() {
    var both: EntityObserver<(Tag, Note)>? = store.observer(
      of: store.store(Tag(id: 0, text: 0)), store.store(Note(id: 0, text: 1)))
    #expect(store.find(Tag.self, id: 0) != nil)
    #expect(both?.value.0.text == 0)
    #expect(both?.value.1.text == 1)
    var subscription = both?.observe { _ in }
    both = nil
    #expect(store.find(Note.self, id: 0) != nil)
    #expect(subscription != nil)
    subscription = nil
    #expect(store.find(Tag.self, id: 0) == nil)
    #expect(store.find(Note.self, id: 0) == nil)
    #expect(store._statistics().nodes == 0)
    #expect(store._checkInvariants() == [])
  }

  @Test("A removed one shows its last value, and tells nobody")
  func removed() {
    let log = Log<[Int]>()
    let (tag, note) = (store.store(Tag(id: 0, text: 0)), store.store(Note(id: 0, text: 0)))
    let subscription = store.observe(tag, note) { log.append([$0.text, $1.text]) }
    store.remove(Tag.self, id: 0)
    store.update(Note.self, id: 0) { $0.text = 1 }
    #expect(log.values == [[0, 0], [0, 1]])
    subscription.unsubscribe()
  }

  @Test("Parts that did not change tell nobody")
  func parts() {
    let log = Log<[Int]>()
    let person = store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)))
    let subscription = store.observe(person.name, person.map { $0.tag?.text ?? 0 }) { log.append([$0, $1]) }
    store.update(Person.self, id: 0) { $0.friends = [Person(id: 1, name: 1)] }
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(log.values == [[0, 0], [0, 1]])
    subscription.unsubscribe()
  }

  @Test("Born in the open transaction, the first call comes at the commit")
  func unborn() {
    let log = Log<[Int]>()
    let kept = Kept<Subscription>()
    store.transaction { store in
      let (tag, note) = (store.store(Tag(id: 0, text: 0)), store.store(Note(id: 0, text: 0)))
      kept.value = store.observe(tag, note) { log.append([$0.text, $1.text]) }
      store.update(Tag.self, id: 0) { $0.text = 1 }
      #expect(log.values == [])
      let both = store.observer(of: tag, note)
      #expect(both.value.0.text == 1)
    }
    #expect(log.values == [[1, 0]])
    kept.value = nil
    #expect(store._checkInvariants() == [])
  }

  @Test("Other threads read what was committed of all")
  func committed() {
    let (tag, other) = (store.store(Tag(id: 0, text: 0)), store.store(Tag(id: 1, text: 0)))
    let both = store.observer(of: tag, other)
    let log = Log<[Int]>()
    store.transaction { store in
      store.update(Tag.self, id: 0) { $0.text = 1 }
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        log.append([both.value.0.text, both.value.1.text])
        done.signal()
      }
      done.wait()
      #expect(both.value.0.text == 1)
    }
    #expect(log.values == [[0, 0]])
  }

  @Test("In a class on the main actor it belongs to the main actor")
  @MainActor
  func mainActor() async {
    let store = EntityStore(queue: DispatchQueue(label: "store"))
    var log: [[Int]] = []
    let (tag, other) = (store.store(Tag(id: 0, text: 0)), store.store(Tag(id: 1, text: 0)))
    let subscription = store.observe(tag, other) { log.append([$0.text, $1.text]) }
    _ = await Task.detached { store.update(Tag.self, id: 1) { $0.text = 1 } }.value
    await store.settled()
    #expect(log == [[0, 0], [0, 1]])
    subscription.unsubscribe()
  }

  @Test("Many ids: those that are stored, in the order of the ids, once a transaction")
  func ids() {
    let log = Log<[[Int]]>()
    let observer = store.observer(Tag.self, ids: [3, 1, 2, 1])
    #expect(observer.value == [])
    let subscription = observer.observe { log.append($0.map { [$0.id, $0.text] }) }
    store.store((1...4).map { Tag(id: $0, text: 0) })
    store.transaction { store in for id in 1...4 { store.update(Tag.self, id: id) { $0.text = 1 } } }
    store.update(Tag.self, id: 4) { $0.text = 2 }
    store.remove(Tag.self, id: 1)
    #expect(
      log.values == [
        [], [[3, 0], [1, 0], [2, 0], [1, 0]], [[3, 1], [1, 1], [2, 1], [1, 1]], [[3, 1], [2, 1]],
      ])
    #expect(store.find(Tag.self, id: 4) == nil)
    #expect(store.find(Tag.self, id: 3) != nil)
    subscription.unsubscribe()
    #expect(store.observer(Tag.self, ids: []).value == [])
    withExtendedLifetime(observer) {}
    #expect(store._checkInvariants() == [])
  }

  @Test("A thousand observed a thousand times are told once, and leave nothing")
  func many() {
    let log = Log<Int>()
    var subscriptions = (0..<1_000).map { _ in
      store.observer(Tag.self, ids: 0..<10).observe { log.append($0.count) }
    }
    log.clear()
    store.store((0..<10).map { Tag(id: $0, text: 0) })
    #expect(log.values == Array(repeating: 10, count: 1_000))
    withExtendedLifetime(subscriptions) {}
    subscriptions = []
    #expect(subscriptions.isEmpty)
    #expect(store._statistics().nodes == 0)
  }
}
