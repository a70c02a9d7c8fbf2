import BookstoreKit
import BookstoreWeb
import BookstoreShared
import ConcordSync
import Foundation

/// What the page shows, kept up to date: whoever listens is told all at first, and then what changes, one message for each
/// turn of the main actor. Within a turn all screens see the same state of the store, and so does the page.
@MainActor
final class PageModel {
  let storefront: Storefront
  private var screens: FourScreens?
  private var listeners: [Int: Listening] = [:]
  private var nextListener = 0
  private var isDue = false
  private var isRefusing = false
  private var following: Task<Void, Never>?

  private struct Listening {
    weak var listener: PageListener?
  }

  // What listeners know.
  private var rows: [Book.ID: BookRow] = [:]
  private var told = PageMessage()

  init(_ storefront: Storefront) {
    self.storefront = storefront
    screens = FourScreens(storefront) { [weak self] in self?.needsTelling() }
    let changes = storefront.changes.listen()
    following = Task { [weak self] in
      var wasConnected = false
      for await _ in changes {
        let isConnected = storefront.isConnected
        if isConnected, !wasConnected { await self?.askWhetherRefusing() }
        wasConnected = isConnected
        self?.needsTelling()
      }
    }
  }

  func close() {
    following?.cancel()
    screens = nil
    for listening in listeners.values { listening.listener?.end() }
  }

  var four: FourScreens? { screens }

  // MARK: Telling

  /// All there is, and then what changes.
  func listen() -> PageListener {
    tell()
    var first = told
    first.rows = rows.values.sorted { $0.number < $1.number }
    nextListener += 1
    let number = nextListener
    let listener = PageListener(first) { [weak self] in
      Task { @MainActor in self?.listeners[number] = nil }
    }
    listeners[number] = Listening(listener: listener)
    return listener
  }

  func needsTelling() {
    guard !isDue else { return }
    isDue = true
    Task { tell() }
  }

  private func tell() {
    isDue = false
    guard let screens else { return }
    var message = PageMessage()
    let changed = screens.books.map(BookRow.init).filter { rows[$0.id] != $0 }
    for row in changed { rows[row.id] = row }
    if !changed.isEmpty { message.rows = changed }
    update(\.book, screens.bookContents, &message)
    update(\.author, screens.authorContents, &message)
    update(\.cart, screens.cartContents, &message)
    update(\.outbox, storefront.outboxContents, &message)
    update(\.status, status, &message)
    if !message.isEmpty { for listening in listeners.values { listening.listener?.tell(message) } }
  }

  private func update<Part: Equatable>(
    _ path: WritableKeyPath<PageMessage, Part?>, _ new: Part?, _ message: inout PageMessage
  ) {
    guard told[keyPath: path] != new else { return }
    told[keyPath: path] = new
    message[keyPath: path] = new
  }

  private var status: PageStatus {
    PageStatus(
      isOnline: storefront.isOnline, isConnected: storefront.isConnected, isRefusing: isRefusing,
      serverURL: storefront.network.serverURL.absoluteString, customer: storefront.customer)
  }

  // MARK: What the buttons do

  func select(_ book: Book.ID) { screens?.select(book) }

  func setOnline(_ isOnline: Bool) {
    storefront.isOnline = isOnline
    needsTelling()
  }

  func setRefusing(_ wanted: Bool) async throws {
    try await storefront.setRefusing(wanted)
    isRefusing = wanted
    needsTelling()
  }

  private func askWhetherRefusing() async {
    if let answer = try? await storefront.isRefusing() { isRefusing = answer }
  }

  func book(_ id: Book.ID) throws -> Book {
    guard let book = screens?.books.first(where: { $0.id == id }) else { throw ShopProblem.noBook(id) }
    return book
  }
}
