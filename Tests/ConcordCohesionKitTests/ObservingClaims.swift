import ConcordCohesionKit
import ConcordCombine
import Dispatch
import Foundation
import Testing

@MainActor private final class Screen {
  var titles: [String] = []
  var subscription: Concord.Subscription?

  nonisolated init() {}

  func show(_ book: EntityObserver<Book>) {
    subscription = book.observe { [weak self] in self?.titles.append($0.title) }
  }
}

// That `AliasObserver` is this type, too, is tested in `LegacyNamesTests`, where deprecated names are.
private func featured(in store: EntityStore) -> EntityObserver<Book?> { store.find(named: .featured) }

private func title(_ observer: any Observer<Book>) -> String { observer.value.title }

extension GuideTests {
  static let observing: [Claim] = [
    Claim("`AliasObserver<Book>`, `any Observer<Book>`") {
      let store = EntityStore(delivery: .immediate)
      let received = Received<String?>()
      let subscription = featured(in: store).observe { received.append($0?.title) }
      #expect(title(store.store(emma, named: .featured)) == "Emma")
      #expect(received.all == [nil, "Emma"])
      subscription.unsubscribe()
    },
    Claim("`observer.observe { … }`") {
      let store = EntityStore(delivery: .immediate)
      let received = Received<(String, String)>()
      let subscription = store.store(emma).observe { received.append(($0.title, $0.author?.name ?? "")) }
      for step in 1...3 {
        store.transaction { tx in
          tx.update(Author.self, id: "austen") { $0.name = "\(step)" }
          tx.update(Book.self, id: "emma") { $0.title = "\(step)" }
        }
      }
      #expect(received.all.map(\.0) == ["Emma", "1", "2", "3"])
      #expect(received.all.dropFirst().allSatisfy { $0.0 == $0.1 })
      subscription.unsubscribe()
    },
    Claim("its first call, on the queue, for which `observe` waits") {
      let queue = DispatchQueue(label: "guide")
      let store = EntityStore(queue: queue)
      let book = store.store(emma)
      let (here, there) = (Received<String>(), Received<String>())
      queue.suspend()
      let subscriptions = [
        book.observe { here.append($0.title) },
        book.observe(firstCall: .inTurn) {
          dispatchPrecondition(condition: .onQueue(queue))
          there.append($0.title)
        },
      ]
      #expect(here.all == ["Emma"])
      #expect(there.all == [])
      store.update(Book.self, id: "emma") { $0.title = "1" }
      queue.resume()
      await store.settled()
      #expect(here.all == ["Emma", "1"])
      #expect(there.all == ["1"])
      for subscription in subscriptions { subscription.unsubscribe() }
    },
    Claim("its later calls, each state queued") {
      let queue = DispatchQueue(label: "guide")
      let store = EntityStore(queue: queue)
      let book = store.store(emma)
      let (newest, every) = (Received<String>(), Received<String>())
      let subscriptions = [
        book.observe { newest.append($0.title) }, book.observe(buffering: .every) { every.append($0.title) },
      ]
      queue.suspend()
      for title in ["1", "2"] { store.update(Book.self, id: "emma") { $0.title = title } }
      queue.resume()
      await store.settled()
      #expect(newest.all == ["Emma", "2"])
      #expect(every.all == ["Emma", "1", "2"])
      for subscription in subscriptions { subscription.unsubscribe() }
    },
    Claim("`observe` in a class on the main actor") {
      let store = EntityStore(queue: DispatchQueue(label: "guide"))
      let book = store.store(emma)
      let screen = Screen()
      await screen.show(book)
      store.update(Book.self, id: "emma") { $0.title = "1" }
      await store.settled()
      #expect(await screen.titles == ["Emma", "1"])
    },
    Claim("– `observe(\\.title)`, `observe(on: MainActor.shared)`, `values`") {
      let store = EntityStore(delivery: .immediate)
      let book = store.store(emma)
      let (parts, onMain) = (Received<String>(), Received<String>())
      let part = book.observe(\.title) { parts.append($0) }
      let main = await MainActor.run {
        book.observe(on: MainActor.shared) { book in
          dispatchPrecondition(condition: .onQueue(.main))
          onMain.append(book.title)
        }
      }
      store.update(Author.self, id: "austen") { $0.name = "" }
      store.update(Book.self, id: "emma") { $0.title = "1" }
      await store.settled()
      #expect(parts.all == ["Emma", "1"])
      #expect(onMain.all.last == "1")
      for await book in book.values {
        #expect(book.title == "1")
        break
      }
      part.unsubscribe()
      main.unsubscribe()
    },
    Claim("`subscription.unsubscribe()`") {
      let queue = DispatchQueue(label: "guide")
      let store = EntityStore(queue: queue)
      let book = store.store(emma)
      let received = Received<String>()
      let subscription = book.observe { received.append($0.title) }
      var dropped: Concord.Subscription? = book.observe { received.append($0.title) }
      queue.suspend()
      store.update(Book.self, id: "emma") { $0.title = "1" }
      subscription.unsubscribe()
      withExtendedLifetime(dropped) {}
      dropped = nil
      queue.resume()
      await store.settled()
      #expect(received.all == ["Emma", "Emma"])
    },
    Claim("waiting in tests") {
      let store = EntityStore(queue: DispatchQueue(label: "guide"))
      let received = Received<String>()
      let subscription = store.store(emma).observe { received.append($0.title) }
      store.update(Book.self, id: "emma") { $0.title = "1" }
      await store.settled()
      #expect(received.all == ["Emma", "1"])
      subscription.unsubscribe()
    },
    Claim("`observer.asPublisher`, `publisher.store(in:)`") {
      #if canImport(Combine) || OpenCombine
        let store = EntityStore(delivery: .immediate)
        let received = (Received<String>(), Received<String>())
        let source = PassthroughSubject<Book, Never>()
        let stored = source.store(in: store).sink { received.0.append($0.title) }
        source.send(emma)
        let observed = store.find(Book.self, id: "emma")?.asPublisher.prefix(1).sink { received.1.append($0.title) }
        store.update(Book.self, id: "emma") { $0.title = "1" }
        #expect(received.0.all == ["Emma", "1"])
        #expect(received.1.all == ["Emma"])
        stored.cancel()
        observed?.cancel()
      #endif
    },
  ]
}
