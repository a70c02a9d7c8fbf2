import ConcordCohesionKit
import Foundation
import Testing

// As CohesionKit's users have it: without any word of Concord.
@available(*, deprecated, message: "so that the deprecated names compile without a warning")
private final class StoreLogger: Logger, @unchecked Sendable {
  private let lock = NSLock()
  private var lines: [String] = []

  var all: [String] { lock.withLock { lines } }

  func didStore<T: Identifiable>(_ type: T.Type, id: T.ID) { append("stored \(type) \(id)") }

  func didFailedToStore<T: Identifiable>(_ type: T.Type, id: T.ID, error: Error) {
    if let error = error as? StampError, case .tooOld(let current, let received) = error {
      append("failed \(type) \(id): \(received) after \(current)")
    }
  }

  func didRegisterAlias<T>(_ alias: AliasKey<T>) { append("registered \(T.self)") }

  func didUnregisterAlias<T>(_ alias: AliasKey<T>) { append("unregistered \(T.self)") }

  private func append(_ line: String) { lock.withLock { lines.append(line) } }
}

private struct Novel: Identifiable, Equatable {
  let id: Int
  var title: String
}

@Suite("A logger of the earlier system")
struct LoggerTests {
  @Test("It compiles with its four methods, and each is called")
  @available(*, deprecated, message: "so that the deprecated names compile without a warning")
  func called() {
    let logger = StoreLogger()
    let store = EntityStore(queue: nil, logger: logger)
    let book = store.store(entity: Novel(id: 1, title: "Emma"), named: AliasKey(named: "book"), modifiedAt: 5)
    _ = store.store(entity: Novel(id: 1, title: "Ema"), modifiedAt: 4)
    store.removeAlias(named: AliasKey<Novel>(named: "book"))
    #expect(
      logger.all == ["stored Novel 1", "registered Novel", "failed Novel 1: 4.0 after 5.0", "unregistered Novel"])
    #expect(book.value.title == "Emma")
  }
}
