import Concord
import Dispatch
import Foundation
import Testing

// The interface as the documentation shows it, word for word.

private struct Book: Identifiable { let id: String; var title: String }
private struct Author: Identifiable { let id: String; var name: String }
private struct User: Identifiable { let id: String; var name: String }
private struct Game: Identifiable { let id: String; var title: String }
private struct TvShow: Identifiable { let id: String; var title: String }

private struct AuthorBooks: Aggregate {
  var id: Author.ID { author.id }
  var author: Author
  var books: [Book]
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.author), .init(\.books)] }
}

private enum MediaType: EntityWrapper {
  case book(Book), game(Game), tvShow(TvShow)

  func wrappedEntitiesKeyPaths<Root>(relativeTo parent: WritableKeyPath<Root, Self>) -> [PartialIdentifiableKeyPath<
    Root
  >] {
    [
      .init(parent.appending(path: \.book)), .init(parent.appending(path: \.game)),
      .init(parent.appending(path: \.tvShow)),
    ]
  }

  var book: Book? {
    get { if case .book(let book) = self { book } else { nil } }
    set { if let newValue { self = .book(newValue) } }
  }

  var game: Game? {
    get { if case .game(let game) = self { game } else { nil } }
    set { if let newValue { self = .game(newValue) } }
  }

  var tvShow: TvShow? {
    get { if case .tvShow(let tvShow) = self { tvShow } else { nil } }
    set { if let newValue { self = .tvShow(newValue) } }
  }
}

private struct AuthorMedia: Aggregate {
  var id: Author.ID { author.id }
  var author: Author
  var media: MediaType
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.author), .init(wrapper: \.media)] }
}

extension AliasKey where T == User { fileprivate static let currentUser = AliasKey("user") }
extension AliasKey where T == [Book] { fileprivate static let favourites = AliasKey("favourites") }
extension AliasKey where T == AuthorBooks { fileprivate static let featured = AliasKey("featured") }

@Suite("Documentation")
struct DocumentationTests {
  @Test("The interface compiles and behaves as it is shown")
  @MainActor
  func interface() async throws {
    let entityStore = EntityStore()
    _ = EntityStore(queue: DispatchQueue(label: "delivery"))
    _ = EntityStore(delivery: .immediate)
    _ = EntityStore(stamping: .clock)
    _ = EntityStore(stamping: .unstampedWritesWin)

    let book = Book(id: "ACK", title: "A")
    let bookA = Book(id: "A", title: "A")
    let bookB = Book(id: "B", title: "B")
    let authorBooks = AuthorBooks(author: Author(id: "1", name: "N"), books: [book])

    let stored = entityStore.store(book)
    let featured = entityStore.store(
      authorBooks, named: .featured, modifiedAt: Date().stamp + 9000, ifPresent: { $0.books = [] })
    entityStore.store([bookA, bookB], named: .favourites)
    let found: EntityObserver<Book>? = entityStore.find(Book.self, id: "ACK")
    let user: EntityObserver<User?> = entityStore.find(named: .currentUser)
    let waiting: EntityObserver<Book?> = entityStore.observer(Book.self, id: "other")
    #expect(found?.value.title == "A")
    #expect(featured.value.books.map(\.id) == ["ACK"])
    #expect(user.value == nil)
    #expect(waiting.value == nil)

    let stamp: Stamp = Date().stamp + 10_000
    #expect(entityStore.update(Book.self, id: "ACK", modifiedAt: stamp) { $0.title = "New" })
    #expect(entityStore.update(named: .favourites) { $0.append(Book(id: "C", title: "C")) })
    #expect(entityStore.find(named: .favourites).value?.map(\.id) == ["A", "B", "C"])
    #expect(stored.value.title == "New")
    #expect(featured.value.books[0].title == "New")

    entityStore.store(User(id: "1", name: "U"), named: .currentUser)
    #expect(user.value?.name == "U")
    try entityStore.transaction { tx in
      tx.store(Book(id: "other", title: "O"))
      tx.update(Book.self, id: "other") { $0.title = "P" }
      let inside = try #require(tx.find(Book.self, id: "other"))
      #expect(inside.value.title == "P")
      tx.remove(Book.self, id: "A")
    }
    #expect(waiting.value?.title == "P")
    #expect(entityStore.find(named: .favourites).value?.map(\.id) == ["B", "C"])

    let titles = Log<String>()
    let first = stored.observe { book in titles.append(book.title) }
    let second = stored.observe(\.title) { title in titles.append(title) }
    var shown = ""
    let third = stored.observe(on: MainActor.shared) { book in shown = book.title }
    #expect(titles.values == ["New", "New"])
    #expect(shown == "New")
    for await value in stored.values {
      #expect(value.title == "New")
      break
    }
    for subscription in [first, second, third] {
      subscription.pause()
      subscription.resume()
      subscription.unsubscribe()
    }

    #expect(entityStore.remove(Book.self, id: "ACK"))
    entityStore.removeAlias(named: .currentUser)
    entityStore.removeAllAlias()
    entityStore.removeAll()
    #expect(user.value == nil)
  }

  @Test("Observers are called on the main queue when nothing else is said")
  @MainActor
  func mainQueue() async {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    let entityStore = EntityStore()
    let log = Log<Bool>()
    let book = entityStore.store(Book(id: "ACK", title: "A"))
    let subscription = book.observe { _ in log.append(DispatchQueue.getSpecific(key: key) == true) }
    log.clear()
    await Task.detached { _ = entityStore.update(Book.self, id: "ACK") { $0.title = "B" } }.value
    for _ in 0..<2_000 where log.count < 1 { try? await Task.sleep(for: .milliseconds(1)) }
    #expect(log.values == [true])
    subscription.unsubscribe()
  }

  @Test("A wrapper follows its entity")
  func wrapper() {
    let entityStore = EntityStore(delivery: .immediate)
    let media = entityStore.store(
      AuthorMedia(author: Author(id: "1", name: "N"), media: .game(Game(id: "G", title: "G"))))
    entityStore.update(Game.self, id: "G") { $0.title = "H" }
    #expect(media.value.media.game?.title == "H")
    entityStore.store(Author(id: "1", name: "M"))
    #expect(media.value.author.name == "M")
  }
}
