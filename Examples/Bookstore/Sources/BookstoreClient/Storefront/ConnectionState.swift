import BookstoreWeb
import Synchronization

/// Whether the feed is connected.
final class ConnectionState: Sendable {
  private let state = Mutex(false)
  private let changes: Broadcast<Void>

  /// - Parameter changes: told when that changes.
  init(_ changes: Broadcast<Void>) { self.changes = changes }

  var isConnected: Bool {
    get { state.withLock { $0 } }
    set {
      let hasChanged = state.withLock { state in
        defer { state = newValue }
        return state != newValue
      }
      if hasChanged { changes.send(()) }
    }
  }
}
