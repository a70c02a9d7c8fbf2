#if Server
  import ConcordServer
  import Foundation

  /// Sets the title of a book. Taking it back changes only what it has set itself.
  struct Retitle: SyncAction, ReversibleAction {
    var book: Int
    var title: String
    /// The title that it replaces; `nil` for whatever is there.
    var replaced: String?
    static let name = "retitle"
    var entity: AnyEntityReference { .init(Book.self, id: book) }

    struct Overwritten: Error, CustomStringConvertible {
      let title: String
      var description: String { "the title is '\(title)' by now" }
    }

    func apply(to store: EntityStore) throws {
      if let replaced, let found = store.value(Book.self, id: book)?.title, found != replaced {
        throw Overwritten(title: found)
      }
      store.update(Book.self, id: book) { $0.title = title }
    }

    func inverse(in store: EntityStore) throws -> Retitle {
      Retitle(book: book, title: store.value(Book.self, id: book)?.title ?? "", replaced: title)
    }
  }

  /// Adds to the stock of a book, which can be taken back whatever others add.
  struct Restock: SyncAction, ReversibleAction {
    var book: Int
    var count: Int
    static let name = "restock"
    var entity: AnyEntityReference { .init(Book.self, id: book) }
    func apply(to store: EntityStore) throws { store.update(Book.self, id: book) { $0.stock += count } }
    func inverse(in store: EntityStore) throws -> Restock { Restock(book: book, count: -count) }
  }

  /// Adds a number to a note, and can be taken back. The note keeps both, so that it tells what was lost, doubled or exchanged.
  struct Put: SyncAction, ReversibleAction {
    var cart: Int
    var number: Int
    static let name = "put"
    var entity: AnyEntityReference { .init(Cart.self, id: cart) }
    func apply(to store: EntityStore) throws { store.update(Cart.self, id: cart) { $0.note += " \(number)" } }
    func inverse(in store: EntityStore) throws -> Take { Take(cart: cart, number: number) }
  }

  struct Take: SyncAction {
    var cart: Int
    var number: Int
    static let name = "take"
    var entity: AnyEntityReference { .init(Cart.self, id: cart) }
    func apply(to store: EntityStore) throws { store.update(Cart.self, id: cart) { $0.note += " \(-number)" } }
  }
#endif
