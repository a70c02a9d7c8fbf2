import Synchronization

/// The floor of the store with more than one thread: a Dictionary and the closures, behind one lock.
final class PlainStore: Sendable {
  private struct State {
    var books: [Int: Book]
    var closures: [Int: @Sendable (Book) -> Void] = [:]
  }

  private let state: Mutex<State>

  init(_ books: [Book]) {
    state = Mutex(State(books: Dictionary(uniqueKeysWithValues: books.map { ($0.id, $0) })))
  }

  func store(_ book: Book) { state.withLock { $0.books[book.id] = book } }

  func update(_ id: Int, _ change: (inout Book) -> Void) {
    state.withLock { state in state.books.inPlace(id, change) }
  }

  func find(_ id: Int) -> Book? { state.withLock { $0.books[id] } }

  func observe(_ id: Int, _ closure: @escaping @Sendable (Book) -> Void) {
    state.withLock { $0.closures[id] = closure }
  }

  func storeAndNotify(_ book: Book) {
    state.withLock {
      $0.books[book.id] = book
      $0.closures[book.id]?(book)
    }
  }
}
