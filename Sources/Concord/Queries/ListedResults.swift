import Foundation

/// Results of a query that is answered elsewhere, made of the differences between its lists.
package struct ListedResults<Key: Hashable & Sendable, Element: Identifiable & Sendable>: Sendable {
  private let order: EntryOrder<Element>
  private var entries: [Key: QueryEntry<Element>] = [:]
  private var tree = OrderedTree<QueryEntry<Element>>()
  private var lastNumber: UInt64 = 0

  /// - Parameter order: the order of the lists.
  package init(_ order: EntryOrder<Element>) { self.order = order }

  /// The results: those of one state share with those of the next what is the same.
  package var results: EntityResults<Element> { EntityResults(tree, order, 0..<Int.max) }

  /// Whether two results are of the same state.
  package static func areSame(_ a: EntityResults<Element>, _ b: EntityResults<Element>) -> Bool {
    a.tree.root === b.tree.root
  }

  /// Returns results that have the order of an array, whatever that is.
  package static func results(of elements: some Sequence<Element>) -> EntityResults<Element> {
    // Nothing but the numbers of the entries tells these apart.
    let order = EntryOrder<Element>([]) { _, _ in .orderedSame }
    let entries = elements.enumerated().map { QueryEntry($1, number: UInt64($0)) as AnyEntry }
    return EntityResults(OrderedTree(sorted: ContiguousArray(entries)), order, 0..<Int.max)
  }

  /// Applies the difference to the next list. What is removed and inserted with the same value stays.
  ///
  /// - Complexity: the number of elements, times the logarithm of the length of the list.
  package mutating func apply(removed: [(Key, Element)], inserted: [(Key, Element)]) {
    var new: [(key: Key, element: Element)] = []
    var kept: Set<Key> = []
    for (key, element) in inserted {
      if let known = entries[key], areSameValues(known.value, element) {
        kept.insert(key)
      } else {
        new.append((key, element))
      }
    }
    for (key, _) in removed where !kept.contains(key) { remove(key) }
    if tree.isEmpty {
      let sorted = ContiguousArray(new.map { entry($0.key, $0.element) as AnyEntry })
      return tree = OrderedTree(sorted: sorted)
    }
    for (key, element) in new {
      remove(key)
      tree.insert(entry(key, element), order.precedes)
    }
  }

  private func areSameValues(_ a: Element, _ b: Element) -> Bool { Concord.areSame(a, b) }

  private mutating func entry(_ key: Key, _ element: Element) -> QueryEntry<Element> {
    lastNumber += 1
    let entry = QueryEntry(element, number: lastNumber)
    entry.setRank(order.rank(of: element))
    entries[key] = entry
    return entry
  }

  private mutating func remove(_ key: Key) {
    guard let old = entries.removeValue(forKey: key) else { return }
    let order = order
    tree.remove {
      $0 === old
    } notBefore: {
      order.precedes($0, old)
    }
  }
}
