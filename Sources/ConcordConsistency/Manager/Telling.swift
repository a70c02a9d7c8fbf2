import Concord

/// One call of an environment with what was pushed.
final class Telling: Sendable {
  /// The call that this code is within.
  @TaskLocal static var current: Telling?

  private let state = Locked((batch: String?.none, wasMerged: false))

  /// Who pushed.
  let context: TransactionContext?
  /// What it is called with.
  private let index: ConsistentIndex

  init(_ push: Push.Content, _ context: TransactionContext?) {
    self.context = context
    index = push.index
    let object = push.object
    state.withLock { $0.batch = (object as? ConsistentBatch)?.id }
  }

  /// Notes that the environment merges what it was called with.
  func noteMerge(with object: any ConsistentObject) {
    guard let batch = object as? ConsistentBatch else { return }
    state.withLock { if $0.batch == batch.id { $0.wasMerged = true } }
  }

  /// Whether the environment is told that the object was removed. To push that once more, from within the call or from a
  /// task that it starts, adds nothing, and would not end where an environment keeps the object.
  func removes(_ object: any ConsistentObject) -> Bool { index.brings(removalOf: object) }

  /// Whether the environment left a batch alone: it looks for objects of certain types, not knowing of batches.
  var ignoredBatch: Bool {
    state.withLock { $0.batch != nil && !$0.wasMerged }
  }
}
