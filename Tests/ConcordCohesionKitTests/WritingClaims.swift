import ConcordCohesionKit
import Dispatch
import Foundation
import Testing

extension GuideTests {
  static let writing: [Claim] = [
    Claim("`IdentityMap()`, `EntityStore()`") {
      for store in [EntityStore(), EntityStore(delivery: .immediate)] {
        let book = store.store(emma)
        let subscription = book.observe { @Sendable book in
          if book.title == "0" { store.update(Book.self, id: "emma") { $0.title = "1" } }
        }
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
          for _ in 0..<50 {
            store.update(Author.self, id: "austen") { author in
              author.name = store.value(Book.self, id: "emma")?.title ?? ""
              store.store(Author(id: "\(thread)", name: ""))
            }
          }
        }
        store.update(Book.self, id: "emma") { $0.title = "0" }
        await store.settled()
        await store.settled()
        #expect(book.value.title == "1")
        subscription.unsubscribe()
      }
    },
    Claim("`EntityStore(queue: nil)`") {
      let store = EntityStore(queue: nil)
      let received = Received<String>()
      let subscription = store.store(emma).observe(firstCall: .inTurn) { @Sendable book in
        dispatchPrecondition(condition: .onQueue(.main))
        received.append(book.title)
      }
      await store.settled()
      #expect(received.all == ["Emma"])
      subscription.unsubscribe()
    },
    Claim("`store(entity: book)`, `store(book)`") {
      let store = EntityStore(delivery: .immediate)
      let received = Received<String>()
      let subscription = store.store(entity: emma, modifiedAt: 5).observe { received.append($0.title) }
      store.store(Book(id: "emma", title: "Ema"), modifiedAt: 4)
      store.store(emma, modifiedAt: 6)
      #expect(received.all == ["Emma"])
      subscription.unsubscribe()
    },
    Claim("`store(entities: books, named:)`") {
      let store = EntityStore(delivery: .immediate)
      let received = Received<[Book]>()
      let subscription = store.find(named: .favourites).observe { books in books.map(received.append) }
      store.store(entities: [emma, persuasion], named: .favourites)
      store.store([Book(id: "emma", title: "1"), Book(id: "persuasion", title: "2")], named: .favourites)
      #expect(received.all.map { $0.map(\.title) } == [["Emma", "Persuasion"], ["1", "2"]])
      #expect(store.store([emma], named: nil).value == [emma])
      let clock = ContinuousClock()
      // The fastest of three, since other programs run as well.
      let times = [2_000, 16_000].map { count in
        let books = (0..<count).map { Book(id: "\($0)", title: "") }
        let all = (0..<3).map { turn in
          clock.measure { _ = store.store(books, named: AliasKey("\(count) \(turn)")) }
        }
        return all.min() ?? .zero
      }
      #expect(times[1] < times[0] * 40)
      subscription.unsubscribe()
    },
    Claim("`store(entities: Set(books), named:)`") {
      let store = EntityStore(delivery: .immediate)
      let received = Received<Set<String>>()
      let subscription = store.find(named: .shelf).observe { received.append(Set($0?.map(\.title) ?? [])) }
      store.store(entities: Set([emma]), named: .shelf)
      store.update(Book.self, id: "emma") { $0.title = "Emma: A Novel" }
      store.update(named: .shelf) { $0.insert(persuasion) }
      store.remove(Book.self, id: "emma")
      #expect(
        received.all == [[], ["Emma"], ["Emma: A Novel"], ["Emma: A Novel", "Persuasion"], ["Persuasion"]])
      subscription.unsubscribe()
    },
    Claim("`store(book, ifPresent: { … })`") {
      let store = EntityStore(delivery: .immediate)
      let shelf = store.store(
        Shelf(id: "A", books: [emma], byTitle: ["Emma": Book(id: "emma", title: "Emma", author: emma.author)]))
      store.store(shelf.value) { $0.byTitle["Emma"]?.title = "Emma: A Novel" }
      #expect(shelf.value.byTitle["Emma"]?.title == "Emma: A Novel")
      #expect(shelf.value.books.map(\.title) == ["Emma: A Novel"])
    },
    Claim("`update(Book.self, id:) { … }`") {
      let store = EntityStore(delivery: .immediate)
      let received = Received<String>()
      #expect(!store.update(Book.self, id: "emma") { $0.title = "" })
      let subscription = store.store(emma, modifiedAt: 5).observe { received.append($0.title) }
      #expect(!store.update(Book.self, id: "emma", modifiedAt: 5) { $0.title = "1" })
      #expect(!store.update(Book.self, id: "emma", modifiedAt: 6) { $0.id = "1" })
      #expect(store.update(Book.self, id: "emma", modifiedAt: 6) { $0.title = "Emma" })
      #expect(received.all == ["Emma"])
      #expect(store.update(Book.self, id: "emma", modifiedAt: 7) { $0.title = "1" })
      #expect(received.all == ["Emma", "1"])
      subscription.unsubscribe()
    },
    Claim("`update(Book.self, id: \"emma\", change)`") {
      let store = EntityStore(delivery: .immediate)
      let book = store.store(emma)
      let change: EntityStore.Update<Book> = { $0.title = "Emma: A Novel" }
      #expect(store.update(Book.self, id: "emma", change))
      #expect(book.value.title == "Emma: A Novel")
    },
    Claim("`update(named:) { … }`") {
      let store = EntityStore(delivery: .immediate)
      store.store(emma, named: .featured)
      #expect(store.update(named: .featured) { $0 = persuasion })
      #expect(store.find(named: .featured).value == persuasion)
      #expect(store.find(Book.self, id: "emma") == nil)
    },
    Claim("– `remove(Book.self, id:)`") {
      let store = EntityStore(delivery: .immediate)
      let shelf = store.store(Shelf(id: "A", books: [emma, persuasion], byTitle: ["Emma": emma], medium: .book(emma)))
      store.store([persuasion, emma], named: .favourites)
      #expect(store.remove(Book.self, id: "emma"))
      #expect(shelf.value.books == [persuasion])
      #expect(shelf.value.byTitle.isEmpty)
      #expect(shelf.value.medium == nil)
      #expect(store.find(named: .favourites).value == [persuasion])
    },
    Claim("– `transaction { tx in … }`") {
      struct Undone: Error {}
      let store = EntityStore(delivery: .immediate)
      let received = Received<String>()
      let subscription = store.store(emma).observe { received.append($0.title) }
      store.transaction(context: .server) { tx in
        tx.update(Book.self, id: "emma") { $0.title = "1" }
        tx.update(Book.self, id: "emma") { $0.title = "2" }
      }
      #expect(throws: Undone.self) {
        try store.transaction { tx in
          tx.update(Book.self, id: "emma") { $0.title = "3" }
          throw Undone()
        }
      }
      #expect(received.all == ["Emma", "2"])
      subscription.unsubscribe()
    },
    Claim("– `changes`") {
      let store = EntityStore(delivery: .immediate)
      var changes = store.changes.makeAsyncIterator()
      let author = store.store(Author(id: "austen", name: "Jane"))
      store.transaction(context: .server) { $0.update(Author.self, id: "austen") { $0.name = "Jane Austen" } }
      store.remove(Author.self, id: "austen")
      var kinds: [ChangeSet.Change.Kind] = []
      var contexts: [TransactionContext?] = []
      for _ in 0..<3 {
        guard let set = await changes.next() else { break }
        kinds += set.changes.map(\.kind)
        contexts.append(set.context)
      }
      #expect(kinds == [.inserted, .updated, .removed])
      #expect(contexts == [nil, .server, nil])
      withExtendedLifetime(author) {}
    },
    Claim("`removeAlias(named:)`, `removeAllAlias()`, `removeAll()`") {
      func forget<T>(_ alias: AliasKey<T>, in store: EntityStore) { store.removeAlias(named: alias) }
      let store = EntityStore(delivery: .immediate)
      func storeAll() {
        store.store(emma, named: .featured)
        store.store([emma], named: .favourites)
        store.store(Set([emma]), named: .shelf)
      }
      storeAll()
      forget(AliasKey<Book>.featured, in: store)
      forget(AliasKey<[Book]>.favourites, in: store)
      #expect(store.find(Book.self, id: "emma") != nil)
      forget(AliasKey<Set<Book>>.shelf, in: store)
      #expect(store.find(Book.self, id: "emma") == nil)
      storeAll()
      store.removeAllAlias()
      #expect(store.find(Book.self, id: "emma") == nil)
      storeAll()
      let book = store.find(Book.self, id: "emma")
      store.removeAll()
      #expect(store.find(Book.self, id: "emma") == nil)
      #expect(book?.value == emma)
    },
    Claim("`AliasKey(named: \"user\")`, `AliasKey(\"user\")`") {
      let store = EntityStore(delivery: .immediate)
      #expect(AliasKey<Book>(named: "user") == AliasKey<Book>("user"))
      store.store(emma, named: AliasKey("user"))
      #expect(store.find(named: AliasKey<Book>("user")).value == emma)
      #expect(store.find(named: AliasKey<Author>("user")).value == nil)
      #expect(store.find(named: AliasKey<[Book]>("user")).value == nil)
    },
    Claim("`modifiedAt:`, `Date().stamp`") {
      let store = EntityStore(delivery: .immediate)
      let book = store.store(emma, modifiedAt: Date().stamp)
      store.update(Book.self, id: "emma", modifiedAt: Date().stamp + 20) { $0.title = "1" }
      store.store(
        Book(id: "emma", title: "2", author: Author(id: "austen", name: "Miss Austen")), modifiedAt: Date().stamp + 10)
      #expect(book.value == Book(id: "emma", title: "1", author: Author(id: "austen", name: "Miss Austen")))
    },
  ]
}
