extension EntityResults: DifferingCollection {
  /// Returns the difference from an earlier snapshot. Only entities that changed count as moved.
  func difference(from old: EntityResults?) -> EntityDifference<Element> {
    if let old, let only = onlyChange(from: old) { return difference(only) }
    let changes = changes(from: old)
    var (inserted, removed) = (changes.inserted, changes.removed)
    var pairs: [EntityDifference<Element>.Pair] = []
    var moved: [EntityDifference<Element>.Pair] = []
    if !inserted.isEmpty, !removed.isEmpty {
      let partners = Self.partners(of: inserted, in: removed)
      var (insertedAlone, paired) = (ContiguousArray<TreeChanges<QueryEntry<Element>>.Change>(), Set<Int>())
      // A changed entity stays if as many unchanged ones precede it as before, and all others that stay are in their order.
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

  /// Returns the difference that one change makes. It is the most frequent one, and needs no tables.
  private func difference(_ change: OnlyChange) -> EntityDifference<Element> {
    func made(
      inserted: [EntityDifference<Element>.Change] = [], removed: [EntityDifference<Element>.Change] = [],
      _ pairs: [EntityDifference<Element>.Pair] = [], isMoved: Bool = false, isUpdated: Bool = false
    ) -> EntityDifference<Element> {
      EntityDifference(
        elements: { [self] in Array(self) }, isInitial: false, inserted: inserted, removed: removed,
        moved: isMoved ? pairs : [], updated: isUpdated ? pairs : [])
    }
    switch (change.removed, change.inserted) {
    case (nil, nil): return made()
    case (let removed?, nil): return made(removed: [.init(offset: removed.offset, element: removed.element.value)])
    case (nil, let inserted?):
      return made(inserted: [.init(offset: inserted.offset, element: inserted.element.value)])
    // An entity keeps its number as long as it is there.
    case (let removed?, let inserted?):
      let (old, new) = (removed.element.value, inserted.element.value)
      return made(
        [.init(oldOffset: removed.offset, offset: inserted.offset, old: old, new: new)],
        isMoved: removed.offset != inserted.offset, isUpdated: !areSame(old, new))
    }
  }

  /// Returns the removals and insertions that turn an earlier snapshot into this one.
  ///
  /// - Complexity: the number of differences, times the logarithm of the number of entities.
  package func collectionDifference(from old: EntityResults?) -> CollectionDifference<Element>? {
    let changes = changes(from: old)
    let removals = changes.removed.map {
      CollectionDifference<Element>.Change.remove(offset: $0.offset, element: $0.element.value, associatedWith: nil)
    }
    let insertions = changes.inserted.map {
      CollectionDifference<Element>.Change.insert(offset: $0.offset, element: $0.element.value, associatedWith: nil)
    }
    return CollectionDifference(removals + insertions)
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
