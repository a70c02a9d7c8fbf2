import Concord

/// One call of an environment with a push.
final class Telling: Sendable {
  /// The call that this code is a part of.
  @TaskLocal static var current: Telling?

  private let state = Locked((batch: String?.none, wasMerged: false))

  /// The context of the push.
  let context: TransactionContext?
  /// The index of the objects that the environment is called with.
  private let index: ConsistentIndex

  init(_ push: Push.Content, _ context: TransactionContext?) {
    self.context = context
    index = push.index
    let object = push.object
    state.withLock { $0.batch = (object as? ConsistentBatch)?.id }
  }

  /// Notes that the environment merges the object that it was called with.
  func noteMerge(with object: any ConsistentObject) {
    guard let batch = object as? ConsistentBatch else { return }
    state.withLock { if $0.batch == batch.id { $0.wasMerged = true } }
  }

  /// Whether the call removes an object. Pushing that removal again, from within the call or from a task that it starts, is
  /// redundant, and would not end where an environment keeps the object.
  func removes(_ object: any ConsistentObject) -> Bool { index.brings(removalOf: object) }

  /// Whether the environment ignored a batch: it expects objects of certain types, and does not merge batches.
  var ignoredBatch: Bool {
    state.withLock { $0.batch != nil && !$0.wasMerged }
  }
}
