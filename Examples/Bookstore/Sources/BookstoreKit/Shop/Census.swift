import Concord
import Synchronization

/// Counts the entities that are alive, from what the store tells its logger.
final class Census: EntityStoreLogger {
  private struct Key: Hashable {
    let type: ObjectIdentifier
    let id: String
  }

  private let alive = Mutex<Set<Key>>([])

  var count: Int { alive.withLock { $0.count } }

  func didStore<T: Identifiable>(_ type: T.Type, id: T.ID) {
    guard let key = key(type, id) else { return }
    alive.withLock { _ = $0.insert(key) }
  }

  func didRelease<T: Identifiable>(_ type: T.Type, id: T.ID) {
    guard let key = key(type, id) else { return }
    alive.withLock { _ = $0.remove(key) }
  }

  /// All ids of the bookstore are strings.
  private func key<T: Identifiable>(_ type: T.Type, _ id: T.ID) -> Key? {
    (id as? String).map { Key(type: ObjectIdentifier(type), id: $0) }
  }
}
