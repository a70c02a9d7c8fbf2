import Concord

/// The pushes that a paused environment missed, combined into as few as leave its objects in the same states.
///
/// Updates combine: of each object the last state counts. A removal does not combine with the updates after it, because it
/// also removes objects that require the removed one in the environment's state, which only the environment knows, and because
/// a removed object may come back in some places only. So a removal ends a step, and later updates begin another
/// one. When an object is removed again, the environment has it only where a missed push brought it: it is taken out of what
/// these pushes brought, and needs no further step. So there are at most as many steps as removed objects, and one more.
struct MissedPushes {
  /// The steps that a removal ended.
  private var steps: [Push] = []
  /// The last states of the objects that all pushes so far brought, without those that were removed since.
  private var states: [any ConsistentObject] = []
  /// The number of states that the steps contain.
  private var toldCount = 0
  /// The removals since the last updates.
  private var removals: [any ConsistentObject] = []
  /// The objects that some step removes: the environment has none of them but those that a missed push brought.
  private var removed: Set<ObjectKey> = []
  private var context: TransactionContext?

  /// Appends a push, which all stores have answered.
  mutating func append(_ push: Push) {
    guard let index = push.content?.index else { return }
    let updated = index.updated
    if !updated.isEmpty {
      remove()
      states += updated
    }
    removals += index.removed
    context = push.context
  }

  /// The combined pushes.
  var combined: [Push] {
    var copy = self
    copy.remove()
    copy.endStep()
    return copy.steps
  }

  /// Applies the removals to the states, and ends a step if one of them may concern other objects of the environment.
  private mutating func remove() {
    if removals.isEmpty { return }
    let index = ConsistentIndex(states, removing: removals)
    let keys = index.removed.map { ObjectKey($0) }
    let concernsOthers = !removed.isSuperset(of: keys)
    if concernsOthers { endStep(removing: index.removed) }
    states = index.updated
    // Otherwise all are told again, without the objects that were removed from them.
    toldCount = concernsOthers ? states.count : 0
    removed.formUnion(keys)
    removals = []
  }

  private mutating func endStep(removing removed: [any ConsistentObject] = []) {
    let updated = Array(states[toldCount...])
    if updated.isEmpty, removed.isEmpty { return }
    steps.append(Push(toOwners: updated, removing: removed, context: context))
  }
}
