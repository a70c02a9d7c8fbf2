import Concord

/// One call of an environment with what was pushed.
final class Telling: Sendable {
  /// The call that this code is within.
  @TaskLocal static var current: Telling?

  private let state = Locked((batch: String?.none, wasMerged: false))

  /// Who pushed.
  let context: TransactionContext?

  init(_ object: any ConsistentObject, _ context: TransactionContext?) {
    self.context = context
    state.withLock { $0.batch = (object as? ConsistentBatch)?.id }
  }

  /// Notes that the environment merges what it was called with.
  func noteMerge(with object: any ConsistentObject) {
    guard let batch = object as? ConsistentBatch else { return }
    state.withLock { if $0.batch == batch.id { $0.wasMerged = true } }
  }

  /// Whether the environment left a batch alone: it looks for objects of certain types, not knowing of batches.
  var ignoredBatch: Bool {
    state.withLock { $0.batch != nil && !$0.wasMerged }
  }
}
