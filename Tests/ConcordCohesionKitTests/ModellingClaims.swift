import ConcordCohesionKit
import Dispatch
import Foundation
import Testing

private enum Left {
  struct Item: Identifiable, Equatable { let id: Int }
}

private enum Right {
  struct Item: Identifiable, Equatable { let id: Int }
}

private func isSendable<T: Sendable>(_ value: T) -> Bool { true }

extension GuideTests {
  static let modelling: [Claim] = [
    Claim("`Aggregate`, `nestedEntitiesKeyPaths`") {
      let store = EntityStore(delivery: .immediate)
      let left = store.store(Shelf(id: "left", books: [emma], byTitle: ["Emma": emma]))
      let right = store.store(Shelf(id: "right", books: [emma], neighbours: [left.value]))
      store.update(Shelf.self, id: "left") { $0.neighbours = [right.value] }
      store.update(Author.self, id: "austen") { $0.name = "Miss Austen" }
      store.update(Author.self, id: "artist") { $0.name = "Brock" }
      #expect(left.value.books.first?.author?.name == "Miss Austen")
      #expect(left.value.byTitle["Emma"]?.author?.name == "Miss Austen")
      #expect(left.value.cover.artist.name == "Brock")
      #expect(left.value.neighbours.first?.cover.artist.name == "Brock")
      #expect(right.value.neighbours.first?.books.first?.author?.name == "Miss Austen")
    },
    Claim("`EntityWrapper`, `EntityEnumWrapper`") {
      let store = EntityStore(delivery: .immediate)
      let shelf = store.store(Shelf(id: "A", medium: .book(emma), media: [.book(emma), .book(persuasion)]))
      store.update(Book.self, id: "emma") { $0.title = "1" }
      #expect(shelf.value.medium?.book?.title == "1")
      #expect(shelf.value.media.map(\.book?.title) == ["1", "Persuasion"])
    },
    Claim("`Logger`") {
      let logger = GuideLogger()
      let store = EntityStore(delivery: .immediate, logger: logger)
      let book = store.store(emma, modifiedAt: 5)
      store.store(Book(id: "emma", title: "Ema"), modifiedAt: 4)
      store.update(Book.self, id: "persuasion") { $0.title = "" }
      #expect(logger.lines.all == ["discarded emma 4.0 5.0", "refused persuasion notStored"])
      withExtendedLifetime(book) {}
    },
    Claim("`didFailedToStore(_:id:error:)`") {
      let logger = EarlierLogger()
      let store = EntityStore(delivery: .immediate, logger: logger)
      let book = store.store(emma, modifiedAt: 5)
      store.store(Book(id: "emma", title: "Ema"), modifiedAt: 4)
      store.update(Book.self, id: "emma") { $0.id = "" }
      store.update(Book.self, id: "persuasion") { $0.title = "" }
      #expect(
        logger.lines.all
          == ["emma tooOld(current: 5.0, received: 4.0)", "emma changedID", "persuasion notStored"])
      withExtendedLifetime(book) {}
    },
  ]

  static let differences: [Claim] = [
    Claim("Entities are Sendable") { #expect(isSendable(emma)) },
    Claim("Relations are writable") {
      // That one that is not does not compile is tested with the compiler, in `CompileFailureTests`.
      let path: WritableKeyPath<Book, Author?> = \.author
      #expect(emma[keyPath: path]?.id == "austen")
    },
    Claim("Observers of Equatable entities are not called for equal values") {
      let store = EntityStore(delivery: .immediate)
      let received = Received<Book>()
      let subscription = store.store(emma).observe { received.append($0) }
      store.store(emma)
      store.update(Book.self, id: "emma") { $0.title = "Emma" }
      #expect(received.all.count == 1)
      subscription.unsubscribe()
    },
    Claim("observer") {
      let store = EntityStore(delivery: .immediate)
      let observer = store.store(emma)
      let book = observer.value
      store.update(Book.self, id: "emma") { $0.title = "1" }
      #expect([book.title, observer.value.title] == ["Emma", "1"])
    },
    Claim("observe makes the first call itself") {
      let queue = DispatchQueue(label: "guide")
      let store = EntityStore(queue: queue)
      let book = store.store(emma)
      let received = Received<String>()
      queue.suspend()
      let first = book.observe { received.append("at once \($0.title)") }
      let second = book.observe(firstCall: .inTurn) { received.append("in turn \($0.title)") }
      received.append("returned")
      queue.resume()
      await store.settled()
      #expect(received.all == ["at once Emma", "returned", "in turn Emma"])
      first.unsubscribe()
      second.unsubscribe()
    },
    Claim("An observer on a queue or an actor is not called with states that it was too slow to see") {
      let queue = DispatchQueue(label: "guide")
      let store = EntityStore(queue: queue)
      let book = store.store(emma)
      let received = (Received<String>(), Received<String>())
      let first = book.observe { received.0.append($0.title) }
      let second = book.observe(buffering: .every) { received.1.append($0.title) }
      queue.suspend()
      for title in ["1", "2"] { store.update(Book.self, id: "emma") { $0.title = title } }
      queue.resume()
      await store.settled()
      #expect(received.0.all == ["Emma", "2"])
      #expect(received.1.all == ["Emma", "1", "2"])
      first.unsubscribe()
      second.unsubscribe()
    },
    Claim("In cycles a value ends sooner") {
      let store = EntityStore(delivery: .immediate)
      let left = store.store(Shelf(id: "left"))
      let right = store.store(Shelf(id: "right", neighbours: [left.value]))
      store.update(Shelf.self, id: "left") { $0.neighbours = [right.value] }
      #expect(left.value.neighbours.map(\.id) == ["right"])
      #expect(left.value.neighbours.first?.neighbours == [])
    },
    Claim("An unstamped write uses the store's clock") {
      let ahead = Date().stamp + 1_000
      let store = EntityStore(delivery: .immediate)
      let book = store.store(emma, modifiedAt: ahead)
      #expect(store.update(Book.self, id: "emma") { $0.title = "1" })
      #expect(book.value.title == "1")
      #expect(!store.update(Book.self, id: "emma", modifiedAt: ahead.nextUp) { $0.title = "2" })
      let earlier = EntityStore(delivery: .immediate, stamping: .unstampedWritesWin)
      let other = earlier.store(emma, modifiedAt: ahead)
      #expect(earlier.update(Book.self, id: "emma") { $0.title = "1" })
      #expect(other.value.title == "1")
      #expect(!earlier.update(Book.self, id: "emma", modifiedAt: ahead) { $0.title = "2" })
      #expect(earlier.update(Book.self, id: "emma", modifiedAt: ahead.nextUp) { $0.title = "2" })
    },
    Claim("The clock counts from 2001") {
      let logger = GuideLogger()
      let store = EntityStore(delivery: .immediate, logger: logger)
      let now = Date()
      #expect(now.stamp == now.timeIntervalSinceReferenceDate)
      #expect((now.timeIntervalSince1970 - now.stamp) / (365.25 * 24 * 3600) > 30.9)
      let book = store.store(emma, modifiedAt: now.timeIntervalSince1970)
      #expect(!store.update(Book.self, id: "emma", modifiedAt: Date().stamp) { $0.title = "1" })
      #expect(book.value.title == "Emma")
      #expect(store.update(Book.self, id: "emma") { $0.title = "2" })
      #expect(logger.lines.all.last == "ahead emma")
    },
    Claim("Identity is the type and the id") {
      let store = EntityStore(delivery: .immediate)
      let left = store.store(Left.Item(id: 1))
      #expect(store.find(Right.Item.self, id: 1) == nil)
      withExtendedLifetime(left) {}
    },
    Claim("An entity whose id is nil has no identity") {
      let logger = GuideLogger()
      let store = EntityStore(delivery: .immediate, logger: logger)
      let drafts = [store.store(Draft(id: nil, text: "a")), store.store(Draft(id: nil, text: "b"))]
      #expect(drafts.map(\.value.text) == ["a", "b"])
      #expect(store.find(Draft.self, id: nil) == nil)
      #expect(store.store([Draft(id: nil, text: "a"), Draft(id: nil, text: "b")]).value.map(\.text) == ["a", "b"])
      #expect(Set(logger.lines.all) == ["refused nil missingID"])
    },
    Claim("An update of an entity that is not stored") {
      let logger = GuideLogger()
      let store = EntityStore(delivery: .immediate, logger: logger)
      store.update(Book.self, id: "emma") { $0.title = "" }
      store.update(named: .featured) { $0.title = "" }
      #expect(logger.lines.all == ["refused emma notStored", "refused featured"])
    },
  ]
}
