import Concord
import Dispatch
import Foundation
import Synchronization
import Testing

@Suite("The interface compiles and behaves word for word")
struct InterfaceTests {
  private let bookA = Book(id: "A", title: "Emma")
  private let bookB = Book(id: "B", title: "Persuasion")
  private var authorBooks: AuthorBooks {
    AuthorBooks(author: Author(id: "1", name: "Jane Austen"), books: [bookA, bookB])
  }

  @Test("Stores are made for the main queue, for a queue and for none, with either policy for stamps")
  func stores() {
    let stores = [
      EntityStore(),
      EntityStore(queue: DispatchQueue(label: "…")),
      EntityStore(delivery: .immediate),
      EntityStore(stamping: .clock),
      EntityStore(stamping: .unstampedWritesWin),
      EntityStore(queue: DispatchQueue(label: "…"), stamping: .clock, logger: nil),
    ]
    for entityStore in stores {
      let book = entityStore.store(bookA)
      #expect(book.value == bookA)
    }
  }

  @Test("Entities, aggregates and collections are stored, with or without a name")
  func storing() {
    let entityStore = EntityStore(delivery: .immediate)
    let book: EntityObserver<Book> = entityStore.store(bookA)
    let featured: EntityObserver<AuthorBooks> = entityStore.store(
      authorBooks, named: .featured, modifiedAt: 9000, ifPresent: { $0.books = [] })
    let favourites: EntityObserver<[Book]> = entityStore.store([bookA, bookB], named: .favourites)
    #expect(book.value == bookA)
    #expect(featured.value.books == [bookA, bookB])
    #expect(favourites.value == [bookA, bookB])
    entityStore.store(bookA)
  }

  @Test("Entities are found by id and by name")
  func finding() {
    let entityStore = EntityStore(delivery: .immediate)
    let waiting: EntityObserver<Book?> = entityStore.observer(Book.self, id: "ACK")
    let current: EntityObserver<User?> = entityStore.find(named: .currentUser)
    #expect(waiting.value == nil)
    #expect(current.value == nil)

    let kept = entityStore.store(Book(id: "ACK", title: "Ack"))
    entityStore.store(User(id: "1", name: "Jane"), named: .currentUser)
    let found: EntityObserver<Book>? = entityStore.find(Book.self, id: "ACK")
    #expect(found?.value.title == "Ack")
    #expect(waiting.value?.title == "Ack")
    #expect(current.value?.name == "Jane")
    withExtendedLifetime(kept) {}
  }

  @Test("update and remove say whether they did anything")
  func changing() {
    let entityStore = EntityStore(delivery: .immediate)
    #expect(entityStore.update(Book.self, id: "A") { $0.title = "…" } == false)
    #expect(entityStore.remove(Book.self, id: "A") == false)

    entityStore.store([bookA], named: .favourites)
    #expect(entityStore.update(Book.self, id: "A", modifiedAt: Date().stamp + 60) { $0.title = "…" })
    #expect(entityStore.update(Book.self, id: "A", modifiedAt: 1) { $0.title = "stale" } == false)
    #expect(entityStore.update(Book.self, id: "A", modifiedAt: Date().stamp + 120, update: { $0.title = "….." }))
    #expect(entityStore.update(named: .favourites) { $0.append(bookB) })
    #expect(entityStore.find(named: .favourites).value?.map(\.title) == ["…..", "Persuasion"])
    #expect(entityStore.remove(Book.self, id: "A"))
    #expect(entityStore.find(named: .favourites).value == [bookB])
  }

  @Test("Aliases are removed one by one, all at once, and with everything else")
  func removing() {
    let entityStore = EntityStore(delivery: .immediate)
    let jane = User(id: "1", name: "Jane")
    entityStore.store(jane, named: .currentUser)
    entityStore.removeAlias(named: .currentUser)
    #expect(entityStore.find(named: .currentUser).value == nil)
    entityStore.store(jane, named: .currentUser)
    entityStore.removeAllAlias()
    #expect(entityStore.find(named: .currentUser).value == nil)
    entityStore.store(jane, named: .currentUser)
    entityStore.removeAll()
    #expect(entityStore.find(named: .currentUser).value == nil)
    #expect(entityStore.find(User.self, id: "1") == nil)
  }

  @Test("A transaction stores, updates, finds and removes")
  func transaction() throws {
    let entityStore = EntityStore(delivery: .immediate)
    let kept = entityStore.store(bookA)
    let found = try entityStore.transaction { tx in
      tx.store(bookB)
      tx.update(Book.self, id: "A") { $0.title = "…" }
      guard let found = tx.find(Book.self, id: "B") else { throw CancellationError() }
      tx.remove(Book.self, id: "A")
      return found
    }
    #expect(found.value == bookB)
    #expect(entityStore.find(Book.self, id: "A") == nil)
    withExtendedLifetime(kept) {}
  }

  @Test("Stamps are numbers, and a date has one")
  func stamps() {
    let stamp: Stamp = Date().stamp
    let number: Double = stamp
    #expect(number > 0)
  }

  @Test("An observer gives the value, all values, a part of it, and its values in sequence")
  func observing() async {
    let entityStore = EntityStore(delivery: .immediate)
    let observer = entityStore.store(bookA)
    let titles = Mutex<[String]>([])
    let parts = Mutex<[String]>([])

    let subscription: Subscription = observer.observe { book in titles.withLock { $0.append(book.title) } }
    let partial = observer.observe(\.title) { title in parts.withLock { $0.append(title) } }
    #expect(titles.withLock { $0 } == ["Emma"])
    entityStore.update(Book.self, id: "A") { $0.title = "Emma, 2nd edition" }
    #expect(observer.value.title == "Emma, 2nd edition")
    #expect(titles.withLock { $0 } == ["Emma", "Emma, 2nd edition"])

    subscription.pause()
    entityStore.update(Book.self, id: "A") { $0.title = "Emma, 3rd edition" }
    #expect(titles.withLock { $0.count } == 2)
    subscription.resume()
    #expect(titles.withLock { $0.last } == "Emma, 3rd edition")
    subscription.unsubscribe()
    entityStore.update(Book.self, id: "A") { $0.title = "Emma, 4th edition" }
    #expect(titles.withLock { $0.count } == 3)
    #expect(parts.withLock { $0 } == ["Emma", "Emma, 2nd edition", "Emma, 3rd edition", "Emma, 4th edition"])

    for await book in observer.values {
      #expect(book.title == "Emma, 4th edition")
      break
    }
    partial.unsubscribe()
  }

  @Test("A closure on the main actor touches its state without a hop")
  @MainActor
  func mainActor() {
    final class Screen {
      var title = ""
    }
    let screen = Screen()
    let entityStore = EntityStore(delivery: .immediate)
    let observer = entityStore.store(bookA)
    let subscription = observer.observe(on: MainActor.shared) { book in screen.title = book.title }
    #expect(screen.title == "Emma")
    subscription.unsubscribe()
  }

  @Test("Aggregates hold entities in wrappers")
  func wrappers() {
    let entityStore = EntityStore(delivery: .immediate)
    let media = entityStore.store(AuthorMedia(author: Author(id: "1", name: "Jane Austen"), media: .book(bookA)))
    entityStore.update(Book.self, id: "A") { $0.title = "…" }
    #expect(media.value.media.book?.title == "…")
  }

  @Test("What the earlier system's code called differently compiles too")
  @available(*, deprecated)
  func earlierNames() {
    let identityMap = IdentityMap(queue: .main)
    let key = AliasKey<[Book]>(named: "kept")
    let book = identityMap.store(entity: bookA)
    let author = identityMap.store(entity: authorBooks, named: .featured, modifiedAt: 9000)
    let books = identityMap.store(entities: [bookA, bookB], named: key)
    let unnamed = identityMap.store(entities: [bookA, bookB])
    #expect(book.value == bookA)
    #expect(author.value.books == [bookA, bookB])
    #expect(books.value == unnamed.value)
  }
}
