import ConcordModel
import Foundation

/// The unsaved changes of a context, which a purge asks for without waiting for those who use the context.
///
/// Who holds the context's lock reads them without the lock here, and alone changes them, with it.
// Unchecked, because the compiler cannot see which of the two locks guards `changes`.
final class UnsavedChanges: @unchecked Sendable {
  private let lock = NSLock()
  private var changes = PendingChanges()
  private let model: Model

  init(_ model: Model) { self.model = model }

  /// For who holds the context's lock.
  var value: PendingChanges {
    _read { yield changes }
    _modify {
      lock.lock()
      defer { lock.unlock() }
      yield &changes
    }
  }
}

extension UnsavedChanges: RetentionGuard {
  /// The changes up to the last one that has ended, also of a block that still runs.
  package func pendingKeys() -> Set<EntityKey> {
    // The copy is looked through without the lock.
    lock.withLock { changes }.neededKeys(in: model)
  }
}
