import ConcordConsistency
import Foundation
import Synchronization
import Testing

@Suite("Merging with generated conformances")
struct StaticMergeTests {
  let id = UUID()
  let other = UUID()

  @Test("An id may have any type, and the object has an id as text too")
  func anyID() {
    let author = Author(id: 1, name: "Ada")
    #expect(author.id + 1 == 2)
    #expect((author as any ConsistentObject).id == "1")
    #expect((author as any ConsistentObject).consistentID == AnyHashable(1))
    #expect(author.updated(with: Author(id: 1, name: "Ada L.")).name == "Ada L.")
    #expect(author.updated(with: Author(id: 2, name: "Bob")).name == "Ada")
  }

  @Test("Merging reaches every property, and existentials among them")
  func everyProperty() {
    let old = Author(id: 1, name: "Ada")
    let inner = Book(id: other, title: "Inner", author: old)
    let book = Book(
      id: id, title: "Outer", author: old, editors: [Author(id: 2, name: "Bob"), old], translator: old,
      byLanguage: ["fr": inner], anything: [old, User("1", "Una")])
    let updated = book.updated(with: Author(id: 1, name: "Ada L."))
    #expect(updated.author.name == "Ada L.")
    #expect(updated.editors.map(\.name) == ["Bob", "Ada L."])
    #expect(updated.translator?.name == "Ada L.")
    #expect(updated.byLanguage?["fr"]?.author.name == "Ada L.")
    #expect((updated.anything[0] as? Author)?.name == "Ada L.")
    #expect((updated.anything[1] as? User)?.name == "Una")
    #expect((book.updated(with: User("1", "Una V.")).anything[1] as? User)?.name == "Una V.")
  }

  @Test("A book contributes its parts, of which the outermost count")
  func parts() {
    let book = Book(
      id: id, title: "Outer", author: Author(id: 1, name: "new"),
      byLanguage: ["fr": Book(id: other, title: "Inner", author: Author(id: 1, name: "old"))])
    #expect(Author(id: 1, name: "").updated(with: book).name == "new")
    let inner = Book(id: other, title: "", author: Author(id: 5, name: "")).updated(with: book)
    #expect(inner.title == "Inner")
    #expect(inner.author.name == "new")
  }

  @Test("Collections of them, and mixed ones, are merged")
  func collections() {
    let author = Author(id: 1, name: "Ada L.")
    let books = (0..<5).map { Book(id: UUID(), title: "", author: Author(id: $0, name: "")) }
    #expect(books.updated(with: author).map(\.author.name) == ["", "Ada L.", "", "", ""])
    let mixed: [any ConsistentObject] = [books[1], User("1", "Una")]
    #expect((mixed.updated(with: author)[0] as? Book)?.author.name == "Ada L.")
    let set = Set([Author(id: 1, name: ""), Author(id: 2, name: "")].map(Named.init))
    #expect(set.updated(with: author).contains(Named(author)))
  }

  @Test("Properties can be read and set by name as well")
  func byName() {
    let author = Author(id: 1, name: "Ada")
    #expect(author.properties.map(\.label) == ["id", "name"])
    #expect(author.setting(property: ("name", "Ada L.")).name == "Ada L.")
    #expect(author.setting(property: ("name", 3)).name == "Ada")
  }

  @Test("What cannot contain a pushed type is not looked into")
  func skipping() {
    let shelf = [Shelf(id: 1, books: Unopened(walks: Counter()))]
    _ = shelf.updated(with: User("1", "Una"))
    _ = shelf.updated(with: Shelf(id: 2, books: Unopened(walks: Counter())))
    #expect(shelf[0].books.walks.count == 0)
    _ = shelf.updated(with: Author(id: 1, name: "Ada"))
    #expect(shelf[0].books.walks.count == 1)
  }
}

private struct Named: ConsistentValue, Hashable {
  var author: Author

  init(_ author: Author) {
    self.author = author
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(author.id)
  }

  static func declareConsistentTypes(in types: inout ConsistentTypes) {
    types.include(Author.self)
  }

  func visitConsistentObjects(_ visitor: ConsistentVisitor) {
    visitor.visit(author)
  }

  func merged(by merge: ConsistentMerge) -> Named? {
    merge.updated(author).map { Named($0) }
  }
}

final class Counter: Sendable {
  private let mutex = Mutex(0)

  var count: Int {
    get { mutex.withLock { $0 } }
    set { mutex.withLock { $0 = newValue } }
  }
}

/// A container of authors that counts how often it is looked into.
private struct Unopened: ConsistentValue {
  let walks: Counter

  static func declareConsistentTypes(in types: inout ConsistentTypes) {
    types.include(Author.self)
  }

  func visitConsistentObjects(_ visitor: ConsistentVisitor) {}

  func merged(by merge: ConsistentMerge) -> Unopened? {
    walks.count += 1
    return nil
  }
}

private struct Shelf: StaticallyConsistent {
  let id: Int
  var books: Unopened

  var properties: [Property] { [("books", books)] }

  func setting(property: Property) -> Shelf { self }

  static func declareConsistentParts(in types: inout ConsistentTypes) {
    types.include(\Self.books)
  }

  func visitConsistentParts(_ visitor: ConsistentVisitor) {
    visitor.visit(books)
  }

  func mergingConsistentParts(_ merge: ConsistentMerge) -> Shelf? {
    merge.updated(books).map { Shelf(id: id, books: $0) }
  }
}
