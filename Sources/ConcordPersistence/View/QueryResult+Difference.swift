import ConcordModel

extension QueryResult where T: Equatable {
  /// Returns the insertions and removals that turn an earlier result into this one.
  ///
  /// - Complexity: the number of branches, and the blocks that the two do not share: of these the number of elements times the number of
  ///   differences.
  func difference(from old: QueryResult?) -> CollectionDifference<T> {
    let (oldParts, newParts) = (
      parts(of: old?.branches ?? [], besides: branches), parts(of: branches, besides: old?.branches ?? [])
    )
    var changes: [CollectionDifference<T>.Change] = []
    var (oldStart, newStart) = (0, 0)
    for (old, new) in zip(oldParts, newParts) {
      for change in new.items.difference(from: old.items) {
        switch change {
        case .remove(let offset, let element, _):
          changes.append(.remove(offset: oldStart + offset, element: element, associatedWith: nil))
        case .insert(let offset, let element, _):
          changes.append(.insert(offset: newStart + offset, element: element, associatedWith: nil))
        }
      }
      oldStart += old.items.count + old.sharedCount
      newStart += new.items.count + new.sharedCount
    }
    return CollectionDifference(changes) ?? items.difference(from: old?.items ?? [])
  }

  /// Elements that may differ, and how many follow that the two results share.
  private struct Part {
    var items: [T] = []
    var sharedCount = 0
  }

  /// Two results share the same blocks, in the same order, so both have as many parts.
  private func parts(of branches: [QueryBranch<T>], besides others: [QueryBranch<T>]) -> [Part] {
    let otherBranches = Dictionary(others.map { ($0.id, $0.leaves) }) { first, _ in first }
    let otherLeaves = Dictionary(
      others.lazy.filter { other in
        !branches.contains { $0.id == other.id && $0.leaves.isStored(as: other.leaves) }
      }.flatMap(\.leaves).map { ($0.id, $0.items) }
    ) { first, _ in first }
    var parts = [Part()]
    func share(_ count: Int) {
      parts[parts.count - 1].sharedCount = count
      parts.append(Part())
    }
    for branch in branches {
      if let other = otherBranches[branch.id], branch.leaves.isStored(as: other) {
        share(branch.count)
        continue
      }
      for leaf in branch.leaves {
        if let other = otherLeaves[leaf.id], leaf.items.isStored(as: other) {
          share(leaf.items.count)
        } else {
          parts[parts.count - 1].items += leaf.items
        }
      }
    }
    return parts
  }
}

extension Array {
  /// Whether the two share their elements; then they are the same.
  func isStored(as other: [Element]) -> Bool {
    guard count == other.count else { return false }
    return withUnsafeBufferPointer { a in other.withUnsafeBufferPointer { b in a.baseAddress == b.baseAddress } }
  }
}
