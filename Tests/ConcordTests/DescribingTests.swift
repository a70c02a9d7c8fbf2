import Concord
import Foundation
import Testing

@Suite("What is in a store can be seen")
struct DescribingTests {
  private struct Author: Identifiable, Equatable {
    let id: String
    var name: String
  }

  private struct Book: Aggregate, Equatable, CustomStringConvertible {
    let id: String
    var author: Author
    var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.author)] }
    var description: String { "“\(id)” by \(author.name)" }
  }

  private let store = EntityStore(delivery: .immediate)
  private let austen = Author(id: "austen", name: "Jane Austen")

  @Test("A description says the value, the stamp, who keeps it and how many observe it")
  func description() {
    let books = ["emma", "persuasion"].map { store.store(Book(id: $0, author: austen), modifiedAt: 7) }
    #expect(
      store.debugDescription(of: austen) == """
        Author austen, stamp 7.0
          Author(id: "austen", name: "Jane Austen")
          kept by Book emma, Book persuasion
          observed by 0
        """)
    store.store(austen, named: AliasKey("favourite"), modifiedAt: 8)
    let subscription = store.find(Author.self, id: "austen")?.observe { _ in }
    #expect(
      store.debugDescription(of: Author.self, id: "austen") == """
        Author austen, stamp 8.0
          Author(id: "austen", name: "Jane Austen")
          kept by Book emma, Book persuasion, the alias favourite, 1 holder
          observed by 1
        """)
    #expect(store.debugDescription(of: Author.self, id: "nobody") == "Author nobody is not stored")
    withExtendedLifetime((books, subscription)) {}
  }

  @Test("A value without a stamp says so, and an updated child is shown")
  func unstamped() {
    let store = EntityStore(delivery: .immediate, stamping: .unstampedWritesWin)
    let book = store.store(Book(id: "emma", author: austen))
    store.update(Author.self, id: "austen") { $0.name = "J. Austen" }
    #expect(
      store.debugDescription(of: book.value) == """
        Book emma, no stamp
          “emma” by J. Austen
          kept by 1 holder
          observed by 0
        """)
  }

  @Test("A dump has a line for each entity, is cut, and leaves out what is too much")
  func dump() {
    let books = ["persuasion", "emma"].map { store.store(Book(id: $0, author: austen)) }
    #expect(
      store.dump() == """
        1 Author
          austen  Author(id: "austen", name: "Jane Austen")
        2 Book
          emma  “emma” by Jane Austen
          persuasion  “persuasion” by Jane Austen
        """)
    #expect(
      store.dump(limit: 1, width: 20) == """
        1 Author
          austen  Author(id…
        2 Book
          emma  “emma” by J…
          … and 1 more
        """)
    #expect(
      store.dump(limit: -1) == """
        1 Author
          … and 1 more
        2 Book
          … and 2 more
        """)
    #expect(store.debugDescription == "EntityStore(1 Author, 2 Book)")
    #expect(EntityStore().debugDescription == "EntityStore(empty)")
    #expect(EntityStore().dump() == "")
    withExtendedLifetime(books) {}
  }

  @Test("Tools that show values see the entities by type")
  func mirror() throws {
    let books = ["persuasion", "emma"].map { store.store(Book(id: $0, author: austen)) }
    let mirror = Mirror(reflecting: store)
    #expect(mirror.children.map(\.label) == ["Author", "Book"])
    let shown = try #require(Array(mirror.children).last?.value as? [Any])
    #expect(shown.compactMap { ($0 as? Book)?.id } == ["emma", "persuasion"])
    withExtendedLifetime(books) {}
  }

  @Test("A value that asks the store while it describes itself holds nobody up")
  func reentrant() {
    struct Curious: Identifiable, Sendable, CustomStringConvertible {
      let id: Int
      let store: EntityStore
      var description: String { "one of \(store.count(Curious.self))" }
    }
    let kept = store.store(Curious(id: 0, store: store))
    #expect(store.dump().contains("one of 1"))
    #expect(store.debugDescription(of: kept.value).contains("one of 1"))
    store.removeAll()
  }

  @Test("While a transaction is open its thread sees what it wrote, and others what was committed")
  func inTransaction() {
    let book = store.store(Book(id: "emma", author: austen))
    store.transaction { tx in
      tx.update(Author.self, id: "austen") { $0.name = "J. Austen" }
      #expect(tx.dump().contains("by J. Austen"))
      let (seen, done) = (Log<String>(), DispatchSemaphore(value: 0))
      Thread.detachNewThread { [store] in
        seen.append(store.dump())
        done.signal()
      }
      done.wait()
      #expect(seen.last?.contains("by Jane Austen") == true)
    }
    withExtendedLifetime(book) {}
  }
}
