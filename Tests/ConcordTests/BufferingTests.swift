import Concord
import Dispatch
import Testing

@Suite("Whoever needs each state asks for it")
struct BufferingTests {
  private let queue = DispatchQueue(label: "delivery")
  private let store: EntityStore

  init() { store = EntityStore(queue: queue) }

  private func settled() { for _ in 0..<3 { queue.sync {} } }

  @Test("Every state, in order, each as it was committed")
  func every() {
    let log = Log<[Int?]>()
    let person = store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)))
    let subscription = person.observe(buffering: .every) { log.append([$0.name, $0.tag?.text]) }
    queue.suspend()
    store.update(Tag.self, id: 0) { $0.text = 1 }
    store.update(Person.self, id: 0) { $0.name = 1 }
    store.transaction { store in
      store.update(Person.self, id: 0) { $0.name = 2 }
      store.update(Tag.self, id: 0) { $0.text = 2 }
    }
    store.remove(Tag.self, id: 0)
    queue.resume()
    settled()
    #expect(log.values == [[0, 0], [0, 1], [1, 1], [2, 2], [2, nil]])
    subscription.unsubscribe()
  }

  @Test("The newest ones, and no more of them than asked for", arguments: [1, 3, 16])
  func newest(count: Int) {
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe(buffering: .newest(count)) { log.append($0.text) }
    queue.suspend()
    for text in 1...100 { store.update(Tag.self, id: 0) { $0.text = text } }
    queue.resume()
    settled()
    #expect(log.values == [0] + Array((101 - count)...100))
    log.clear()
    queue.suspend()
    store.update(Tag.self, id: 0) { $0.text = 200 }
    queue.resume()
    settled()
    #expect(log.values == [200])
    subscription.unsubscribe()
  }

  @Test("Each observer as it asked")
  func each() {
    let logs = [Log<Int>(), Log<Int>(), Log<Int>()]
    let tag = store.store(Tag(id: 0, text: 0))
    let subscriptions = [
      tag.observe(buffering: .every) { logs[0].append($0.text) },
      tag.observe(buffering: .newest(2)) { logs[1].append($0.text) },
      tag.observe { logs[2].append($0.text) },
    ]
    queue.suspend()
    for text in 1...5 { store.update(Tag.self, id: 0) { $0.text = text } }
    queue.resume()
    settled()
    #expect(logs.map(\.values) == [[0, 1, 2, 3, 4, 5], [0, 4, 5], [0, 5]])
    for subscription in subscriptions { subscription.unsubscribe() }
  }

  @Test("A pause and an end drop what waits")
  func paused() {
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe(buffering: .every) { log.append($0.text) }
    queue.suspend()
    for text in 1...3 { store.update(Tag.self, id: 0) { $0.text = text } }
    subscription.pause()
    store.update(Tag.self, id: 0) { $0.text = 4 }
    queue.resume()
    settled()
    #expect(log.values == [0])
    subscription.resume()
    settled()
    #expect(log.last == 4)
    queue.suspend()
    for text in 5...9 { store.update(Tag.self, id: 0) { $0.text = text } }
    subscription.unsubscribe()
    queue.resume()
    settled()
    #expect(log.last == 4)
  }
}
