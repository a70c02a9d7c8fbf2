extension EntityResults: DifferingCollection {
  /// Returns the difference from an earlier snapshot. Only entities that changed count as moved.
  func difference(from old: EntityResults?) -> EntityDifference<Element> {
    let changes = changes(from: old)
    var (inserted, removed) = (changes.inserted, changes.removed)
    var pairs: [EntityDifference<Element>.Pair] = []
    var moved: [EntityDifference<Element>.Pair] = []
    if !inserted.isEmpty, !removed.isEmpty {
      let partners = Self.partners(of: inserted, in: removed)
      var (insertedAlone, paired) = (ContiguousArray<TreeChanges<QueryEntry<Element>>.Change>(), Set<Int>())
      // A changed entity stays if as many unchanged ones precede it as before, and the others that stay are in their order.
      var staying: [(pair: Int, oldOffset: Int)] = []
      var isMoved: [Bool] = []
      for (index, change) in inserted.enumerated() {
        guard let oldIndex = partners[index] else {
          insertedAlone.append(change)
          continue
        }
        paired.insert(oldIndex)
        let former = removed[oldIndex]
        if former.offset - oldIndex == change.offset - index { staying.append((pairs.count, former.offset)) }
        isMoved.append(true)
        pairs.append(
          EntityDifference.Pair(
            oldOffset: former.offset, offset: change.offset, old: former.element.value, new: change.element.value))
      }
      let inOrder = EntityDifference<Element>.longestRise(in: staying.map(\.oldOffset))
      for (index, stay) in staying.enumerated() where inOrder[index] { isMoved[stay.pair] = false }
      moved = pairs.indices.filter { isMoved[$0] }.map { pairs[$0] }
      inserted = insertedAlone
      removed = ContiguousArray(removed.indices.filter { !paired.contains($0) }.map { removed[$0] })
    }
    return EntityDifference(
      elements: { [self] in Array(self) }, isInitial: old == nil, inserted: inserted.map(Self.change),
      removed: removed.map(Self.change), moved: moved, updated: pairs.filter { !areSame($0.old, $0.new) })
  }

  private typealias Changes = ContiguousArray<TreeChanges<QueryEntry<Element>>.Change>

  /// Returns, for each entry that has come, the index of the one of the same entity that has gone.
  private static func partners(of inserted: Changes, in removed: Changes) -> [Int?] {
    var (byNumber, byID): ([UInt64: Int], [Element.ID: Int]) = ([:], [:])
    for (index, change) in removed.enumerated() {
      let id = change.element.value.id
      byNumber[change.element.number] = index
      if !isMissing(id) { byID[id] = index }
    }
    return inserted.map { change in
      let id = change.element.value.id
      // Ids that are missing, or do not equal themselves, tell nothing.
      if isMissing(id) || id != id { return byNumber.removeValue(forKey: change.element.number) }
      return byID.removeValue(forKey: id)
    }
  }

  private static func change(
    _ change: TreeChanges<QueryEntry<Element>>.Change
  ) -> EntityDifference<Element>.Change {
    EntityDifference.Change(offset: change.offset, element: change.element.value)
  }
}
