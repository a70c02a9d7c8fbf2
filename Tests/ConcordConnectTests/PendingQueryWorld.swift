import Concord
import ConcordConnect
import Foundation

/// A change of books, authors or novels, to be forwarded.
struct Alteration: ForwardAction {
  enum Kind: Codable {
    case raise(Int, by: Double)
    case put(Book)
    case remove(Int)
    case rename(Int, String)
    case write(Novel)
    case retitle(Int, String)
  }

  var kind: Kind
  static let name = "alteration"

  var entity: AnyEntityReference {
    switch kind {
    case .raise(let id, _), .remove(let id): .init(Book.self, id: id)
    case .put(let book): .init(Book.self, id: book.id)
    case .rename(let id, _): .init(Author.self, id: id)
    case .write(let novel): .init(Novel.self, id: novel.id)
    case .retitle(let id, _): .init(Novel.self, id: id)
    }
  }

  var touches: [AnyEntityReference] {
    if case .write(let novel) = kind { [.init(Author.self, id: novel.author.id)] } else { [] }
  }

  func apply(to store: EntityStore) throws {
    switch kind {
    case .raise(let id, let amount): store.update(Book.self, id: id) { $0.price += amount }
    case .put(let book): store.store(book)
    case .remove(let id): store.remove(Book.self, id: id)
    case .rename(let id, let name): store.update(Author.self, id: id) { $0.name = name }
    case .write(let novel): store.store(novel)
    case .retitle(let id, let title): store.update(Novel.self, id: id) { $0.title = title }
    }
  }

  func send(with transport: any Transport, key: IdempotencyKey) async throws {
    let request = TransportRequest("POST", "/alterations", headers: ["Idempotency-Key": key.rawValue])
    _ = try await transport.send(request).successful()
  }
}

/// What is stored or shown, in plain dictionaries: a model of it that knows neither layers nor queries.
struct PendingQueryWorld {
  var books: [Int: Book] = [:]
  var authors: [Int: Author] = [:]
  var titles: [Int: (title: String, author: Int)] = [:]

  init() {}

  init(books: [Book], novels: [Novel]) {
    for book in books { self.books[book.id] = book }
    for novel in novels { titles[novel.id] = (novel.title, novel.author.id) }
  }

  var novels: [Novel] {
    titles.compactMap { id, novel in authors[novel.author].map { Novel(id: id, title: novel.title, author: $0) } }
  }

  /// Makes a change, if it applies.
  mutating func apply(_ action: Alteration) {
    switch action.kind {
    case .raise(let id, let amount): books[id]?.price += amount
    case .put(let book): books[book.id] = book
    case .remove(let id): books[id] = nil
    case .rename(let id, let name): authors[id]?.name = name
    case .write(let novel):
      authors[novel.author.id] = novel.author
      titles[novel.id] = (novel.title, novel.author.id)
    case .retitle(let id, let title): titles[id]?.title = title
    }
  }
}
