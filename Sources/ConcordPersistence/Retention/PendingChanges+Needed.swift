import ConcordModel

extension PendingChanges {
  /// The changed entities, and those that they contain once they are saved: these must still be stored then.
  ///
  /// - Complexity: the number of changes, and of the references that differ from those of the rows that they were made to.
  func neededKeys(in model: Model) -> Set<EntityKey> {
    var needed: Set<EntityKey> = []
    for entry in all {
      needed.insert(entry.key)
      guard let row = entry.change.row else { continue }
      // What an earlier save has changed may be stored otherwise by then than in the row before.
      let isKnown = entry.change.setBack.isEmpty && !entry.change.isInsertedAgain
      needed.formUnion(
        entry.key.entity.referencedKeys(of: row, differingFrom: isKnown ? entry.change.baseRow : nil, in: model))
    }
    return needed
  }
}
