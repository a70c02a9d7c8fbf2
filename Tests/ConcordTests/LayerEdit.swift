import Concord

/// A change that a store and its model can make, in the base or in a layer.
enum LayerEdit: Sendable {
  case store(LayerBook, stamp: Double?)
  case like(Int), retitle(Int, String), removeBook(Int)
  case storeShelf(LayerShelf, stamp: Double?)
  case renameShelf(Int, String), takeFromShelf(Int), addToShelf(Int, LayerBook), setBest(Int, LayerBook?), removeShelf(
    Int)
  case storeReader(Int, String), befriend(Int, Int), part(Int, Int), giveShelf(Int, Int), takeShelf(Int), removeReader(
    Int)
  case feature(LayerBook), unfeature, collect([LayerBook]), collectOne(LayerBook), uncollect
  /// A reader that is stored, with all it contains, of which some parts may be changed: the name, and a book on the shelf.
  case storeReaderWhole(LayerReader, changed: LayerBook?)
  /// Throws if a book has an odd number of likes.
  case refuseOdd(Int)

  /// Whether the store traces what it depends on.
  var isTraced: Bool {
    switch self {
    case .store, .like, .retitle, .storeShelf, .renameShelf, .takeFromShelf, .addToShelf, .setBest, .part, .takeShelf:
      true
    default: false
    }
  }

  /// Whether it is one call, and not a read and a call.
  var isOneCall: Bool {
    switch self {
    case .storeReader, .befriend, .giveShelf: false
    default: true
    }
  }

  var isOfBooks: Bool {
    switch self {
    case .store, .like, .retitle: true
    default: false
    }
  }

  func apply(to store: EntityStore) throws {
    switch self {
    case .store(let book, let stamp): store.store(book, modifiedAt: stamp)
    case .like(let id): store.update(LayerBook.self, id: id) { $0.likes += 1 }
    case .retitle(let id, let title): store.update(LayerBook.self, id: id) { $0.title = title }
    case .removeBook(let id): store.remove(LayerBook.self, id: id)
    case .storeShelf(let shelf, let stamp): store.store(shelf, modifiedAt: stamp)
    case .renameShelf(let id, let name): store.update(LayerShelf.self, id: id) { $0.name = name }
    case .takeFromShelf(let id):
      store.update(LayerShelf.self, id: id) { if !$0.books.isEmpty { $0.books.removeFirst() } }
    case .addToShelf(let id, let book):
      store.update(LayerShelf.self, id: id) { shelf in
        if !shelf.books.contains(where: { $0.id == book.id }), shelf.best?.id != book.id { shelf.books.append(book) }
      }
    case .setBest(let id, let book):
      store.update(LayerShelf.self, id: id) { shelf in
        if !shelf.books.contains(where: { $0.id == book?.id }) { shelf.best = book }
      }
    case .removeShelf(let id): store.remove(LayerShelf.self, id: id)
    case .storeReader(let id, let name):
      if store.value(LayerReader.self, id: id) == nil {
        store.store(LayerReader(id: id, name: name))
      } else {
        store.update(LayerReader.self, id: id) { $0.name = name }
      }
    case .befriend(let id, let friend):
      let value = store.value(LayerReader.self, id: friend)
      store.update(LayerReader.self, id: id) { reader in
        if let value, friend != id, !reader.friends.contains(where: { $0.id == friend }) {
          reader.friends.append(value)
        }
      }
    case .part(let id, let friend):
      store.update(LayerReader.self, id: id) { $0.friends.removeAll { $0.id == friend } }
    case .giveShelf(let id, let shelf):
      let value = store.value(LayerShelf.self, id: shelf)
      store.update(LayerReader.self, id: id) { $0.shelf = value ?? $0.shelf }
    case .takeShelf(let id): store.update(LayerReader.self, id: id) { $0.shelf = nil }
    case .removeReader(let id): store.remove(LayerReader.self, id: id)
    case .storeReaderWhole(let reader, _): store.store(reader)
    case .feature(let book): store.store(book, named: .featured)
    case .unfeature: store.removeAlias(named: .featured)
    case .collect(let books): store.store(books, named: .shelved)
    case .collectOne(let book):
      store.update(named: .shelved) { books in
        if !books.contains(where: { $0.id == book.id }) { books.append(book) }
      }
    case .uncollect: store.removeAlias(named: .shelved)
    case .refuseOdd(let id): if let book = store.value(LayerBook.self, id: id), book.likes % 2 == 1 { throw Refused() }
    }
  }

  func apply(to writer: inout LayerWriter) {
    // After an error the closure does nothing any more.
    if writer.problem == .thrown { return }
    switch self {
    case .store(let book, let stamp): writer.store(book, stamp)
    case .like(let id): writer.updateBook(id) { $0.likes += 1 }
    case .retitle(let id, let title): writer.updateBook(id) { $0.title = title }
    case .removeBook(let id): writer.removeBook(id)
    case .storeShelf(let shelf, let stamp):
      for book in shelf.books + (shelf.best.map { [$0] } ?? []) { writer.store(book, stamp) }
      if writer.take("shelf\(shelf.id)", exists: writer.rows.shelves[shelf.id] != nil, stamp) {
        writer.rows.shelves[shelf.id] = .init(name: shelf.name, books: shelf.books.map(\.id), best: shelf.best?.id)
      }
    case .renameShelf(let id, let name): writer.updateShelf(id) { $0.name = name }
    case .takeFromShelf(let id): writer.updateShelf(id) { if !$0.books.isEmpty { $0.books.removeFirst() } }
    case .addToShelf(let id, let book):
      let isNew = writer.rows.shelves[id].map { !$0.books.contains(book.id) && $0.best != book.id } ?? false
      writer.updateShelf(id) { if isNew { $0.books.append(book.id) } }
      if isNew { writer.storeEdited(book) }
    case .setBest(let id, let book):
      let isTaken = writer.rows.shelves[id].map { shelf in book.map { !shelf.books.contains($0.id) } ?? true } ?? false
      writer.updateShelf(id) { if isTaken { $0.best = book?.id } }
      if isTaken, let book { writer.storeEdited(book) }
    case .removeShelf(let id): writer.removeShelf(id)
    case .storeReader(let id, let name):
      if writer.rows.readers[id] == nil {
        _ = writer.take("reader\(id)", exists: false, nil)
        writer.rows.readers[id] = .init(name: name)
      } else {
        writer.updateReader(id) { $0.name = name }
      }
    case .befriend(let id, let friend):
      let isThere = writer.rows.readers[friend] != nil
      writer.updateReader(id) { if isThere, friend != id, !$0.friends.contains(friend) { $0.friends.append(friend) } }
    case .part(let id, let friend): writer.updateReader(id) { $0.friends.removeAll { $0 == friend } }
    case .giveShelf(let id, let shelf):
      let isThere = writer.rows.shelves[shelf] != nil
      writer.updateReader(id) { if isThere { $0.shelf = shelf } }
    case .takeShelf(let id): writer.updateReader(id) { $0.shelf = nil }
    case .removeReader(let id): writer.removeReader(id)
    case .storeReaderWhole(let reader, let changed):
      writer.storeWhole(reader)
      if let changed { writer.rows.books[changed.id] = changed }
    case .feature(let book):
      writer.store(book, nil)
      writer.rows.featured = book.id
    case .unfeature: writer.rows.featured = nil
    case .collect(let books):
      for book in books { writer.store(book, nil) }
      writer.rows.favourites = books.map(\.id)
    case .collectOne(let book):
      guard let favourites = writer.rows.favourites else { return writer.miss() }
      if favourites.contains(book.id) { return }
      writer.rows.favourites = favourites + [book.id]
      writer.storeEdited(book)
    case .uncollect: writer.rows.favourites = nil
    case .refuseOdd(let id): if let book = writer.rows.books[id], book.likes % 2 == 1 { writer.problem = .thrown }
    }
  }
}

extension LayerWriter {
  /// A value that an update's closure put in: it is an edit only if it differs from what is stored.
  mutating func storeEdited(_ book: LayerBook) { if rows.books[book.id] != book { store(book, nil) } }

  /// A value that was read, whose name may have been changed. Each entity in it gets one stamp.
  mutating func storeWhole(_ reader: LayerReader) {
    var keys: Set<String> = []
    var open = [reader]
    while let next = open.popLast() {
      open += next.friends
      keys.insert("reader\(next.id)")
      guard let shelf = next.shelf else { continue }
      keys.formUnion(["shelf\(shelf.id)"] + (shelf.books + [shelf.best].compactMap(\.self)).map { "book\($0.id)" })
    }
    for key in keys { _ = take(key, exists: true, nil) }
    rows.readers[reader.id]?.name = reader.name
  }
}
