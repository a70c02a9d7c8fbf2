import Concord
import ConcordModel

/// The result of a saved merge.
package struct MergeOutcome: Sendable {
  /// The number of stored entities that were compared.
  package var compared = 0
  package var counts = PendingCounts()
  /// The part of the time spent in reading.
  package var readingTime = Duration.zero
}

extension ContextCore {
  /// Merges and saves in one transaction of the stores.
  ///
  /// - Returns: `nil` if a flat merge is not possible: the context has changes or a parent context, the entities
  ///   contain entities or are not identified by their ids, or one takes a unique value from another.
  func mergeAndSave<T: PersistentEntity>(_ request: MergeRequest<T>) throws -> MergeOutcome? {
    let entity = try model.entity(T.self)
    guard !hasChanges, let coordinator = parent as? PersistentStoreCoordinator, request.uniqueness == [.key],
      entity.targets.isEmpty, entity.collections.isEmpty, entity.columns.count <= ColumnSet.most
    else { return nil }
    let stamp = MergeStamp(request.stamp, parent)
    // Not within the transaction, since a property may be the user's code.
    let rows = try FlatRows(request.objects, entity)
    let subset = request.keepsMissing ? RowFilter(keys: rows.keys) : try RowFilter(request.subset, entity, self)
    let condition = try RowFilter(request.condition, entity, self)
    // Removals reach all that refers to what goes.
    let isReferredTo = model.entities.contains { $0.targets.contains { $0 == entity.type } }
    let types = isReferredTo && !request.keepsMissing ? Array(model.connected(with: [entity])) : [entity]
    do {
      let merge = FlatMerge(
        entity, rows, ignored: request.ignored, subset: subset, condition: condition, stamp: stamp)
      return try coordinator.mergeAndSave(merge, types)
    } catch StoreError.notUnique {
      return nil
    }
  }
}

extension PersistentStoreCoordinator {
  fileprivate func mergeAndSave(_ merge: FlatMerge, _ types: [EntityDescription]) throws -> MergeOutcome {
    try write(types) { writing in
      var merge = merge
      let start = ContinuousClock.now
      try merge.entity.evaluating { try merge.compare(writing) }
      let readingTime = ContinuousClock.now - start
      return MergeOutcome(
        compared: merge.compared, counts: try merge.write(writing, model),
        readingTime: readingTime)
    }
  }
}
