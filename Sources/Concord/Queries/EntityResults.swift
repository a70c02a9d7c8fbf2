/// The entities that a query has found, in order: a snapshot, of which copies cost nothing.
///
/// ```swift
/// let open = store.query(Note.self, where: { !$0.isDone }, sortBy: [SortDescriptor(\.due)])
/// print(open.value.count, open.value.first?.title ?? "nothing to do")
/// ```
///
/// A snapshot shares with an earlier one what did not change, so that the difference costs what differs.
///
/// - Complexity: of an access by position the logarithm of the number of entities, of iterating constant time for each.
public struct EntityResults<Element: Identifiable & Sendable>: RandomAccessCollection, Sendable {
  let tree: OrderedTree<QueryEntry<Element>>
  let order: EntryOrder<Element>
  let window: Range<Int>
  let edition: ResultsEdition

  init(
    _ tree: OrderedTree<QueryEntry<Element>>, _ order: EntryOrder<Element>, _ window: Range<Int>,
    _ edition: ResultsEdition = ResultsEdition()
  ) {
    (self.tree, self.order, self.window, self.edition) = (tree, order, window, edition)
  }

  /// Whether all that was found is shown.
  private var isWhole: Bool { window.lowerBound == 0 && window.upperBound == .max }

  public var startIndex: Int { 0 }
  public var endIndex: Int { Swift.max(0, Swift.min(window.upperBound, tree.count) - window.lowerBound) }

  public subscript(position: Int) -> Element {
    // As in an array: the caller has made up the index, and there is no element to return instead.
    precondition(indices.contains(position), "an index out of range")
    return tree[window.lowerBound + position].value
  }

  public func makeIterator() -> Iterator {
    Iterator(entries: OrderedTree.Iterator(tree.root, from: window.lowerBound), rest: endIndex)
  }

  /// An iterator over the entities, in order.
  public struct Iterator: IteratorProtocol {
    var entries: OrderedTree<QueryEntry<Element>>.Iterator
    var rest: Int

    public mutating func next() -> Element? {
      guard rest > 0 else { return nil }
      rest -= 1
      return entries.next()?.value
    }
  }

  /// The entries that are shown, in order.
  private var entries: [QueryEntry<Element>] { indices.map { tree[window.lowerBound + $0] } }

  /// Returns the entries that an earlier snapshot does not show, and those that only that shows.
  func changes(from old: EntityResults?) -> TreeChanges<QueryEntry<Element>> {
    // What another query shows has nothing in common with this.
    if let old, old.window != window {
      return TreeChanges(
        removed: ContiguousArray(old.entries.enumerated().map { ($0, $1) }),
        inserted: ContiguousArray(entries.enumerated().map { ($0, $1) }))
    }
    if let old, let only = onlyChange(from: old) {
      var changes = TreeChanges<QueryEntry<Element>>(looks: 1)
      if let removed = only.removed { changes.removed.append(removed) }
      if let inserted = only.inserted { changes.inserted.append(inserted) }
      return changes
    }
    return tree.changes(from: old?.tree ?? OrderedTree(), in: window, order.compare)
  }

  /// Returns the one change that made this snapshot of an earlier one, if that is known.
  func onlyChange(from old: EntityResults) -> OnlyChange? {
    guard isWhole, old.isWhole, edition.follows(old.edition) else { return nil }
    return OnlyChange(
      removed: edition.removed.map { ($0, old.tree[$0]) }, inserted: edition.inserted.map { ($0, tree[$0]) })
  }

  /// An entry that has gone or come, or both, with its position.
  struct OnlyChange {
    let removed: (offset: Int, element: QueryEntry<Element>)?
    let inserted: (offset: Int, element: QueryEntry<Element>)?
  }

  /// Whether another snapshot shows the same values.
  func isSame(as other: EntityResults) -> Bool {
    guard window == other.window else { return false }
    // What is applied is a change.
    if isWhole, edition.follows(other.edition) || other.edition.follows(edition) { return false }
    return tree.root === other.tree.root
      || tree.changes(from: other.tree, in: window, any: true, order.compare).isEmpty
  }
}

extension EntityResults: Equatable where Element: Equatable {
  public static func == (a: Self, b: Self) -> Bool {
    a.tree.root === b.tree.root && a.window == b.window || a.elementsEqual(b)
  }
}

extension EntityResults: CustomStringConvertible {
  public var description: String { Array(self).description }
}
