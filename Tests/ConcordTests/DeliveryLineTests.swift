import Concord
import Dispatch
import Testing

@Suite("Delivery on a queue")
struct DeliveryLineTests {
  @Test("Thousands of observers that wait on a queue are each told, in the order of the commits")
  func longLine() async {
    let count = 3_000
    let queue = DispatchQueue(label: "delivery")
    let store = EntityStore(queue: queue)
    let log = Log<Int>()
    let tags = store.store((0..<count).map { Tag(id: $0, text: 0) })
    let subscriptions = (0..<count).compactMap { id in
      store.find(Tag.self, id: id)?.observe { tag in
        guard tag.text > 0 else { return }
        log.append(tag.id)
        // While the line is being worked off, it grows at its end.
        if tag.text == 1, id % 2 == 0 { store.update(Tag.self, id: id) { $0.text = 2 } }
      }
    }
    queue.suspend()
    for id in 0..<count { store.update(Tag.self, id: id) { $0.text = 1 } }
    queue.resume()
    await settle(queue) { log.count == count + count / 2 }
    #expect(Array(log.values.prefix(count)) == Array(0..<count))
    #expect(Array(log.values.dropFirst(count)) == Array(stride(from: 0, to: count, by: 2)))
    for subscription in subscriptions { subscription.unsubscribe() }
    withExtendedLifetime(tags) {}
  }

  @Test("Of thousands that wait, those that ended are passed over")
  func endedInLine() async {
    let count = 3_000
    let queue = DispatchQueue(label: "delivery")
    let store = EntityStore(queue: queue)
    let log = Log<Int>()
    let tags = store.store((0..<count).map { Tag(id: $0, text: 0) })
    var subscriptions: [Subscription?] = (0..<count).map { id in
      store.find(Tag.self, id: id)?.observe { if $0.text > 0 { log.append($0.id) } }
    }
    queue.suspend()
    for id in 0..<count { store.update(Tag.self, id: id) { $0.text = 1 } }
    for id in 0..<count where id % 3 != 0 { subscriptions[id] = nil }
    queue.resume()
    let expected = Array(stride(from: 0, to: count, by: 3))
    await settle(queue) { log.count >= expected.count }
    queue.sync {}
    #expect(log.values == expected)
    subscriptions = []
    withExtendedLifetime(tags) {}
  }
}
