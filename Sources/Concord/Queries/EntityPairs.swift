/// The pairs that a join of two queries finds, in the order of the first query, and for each of its entities in that of the second.
///
/// - Complexity: of an access by position, the logarithm of the number of pairs.
public struct EntityPairs<Left: Identifiable & Sendable, Right: Identifiable & Sendable>: RandomAccessCollection,
  Sendable
{
  let tree: OrderedTree<PairEntry<Left, Right>>
  let order: PairOrder<Left, Right>

  public var startIndex: Int { 0 }
  public var endIndex: Int { tree.count }

  public subscript(position: Int) -> EntityPair<Left, Right> {
    // As in an array: the caller has made up the index, and there is no element to return instead.
    precondition(indices.contains(position), "an index out of range")
    return tree[position].pair
  }

  /// Whether another snapshot has the same pairs.
  ///
  /// - Complexity: constant if no pair has come or gone since, else the number of those that have, times the logarithm of the number of pairs.
  func isSame(as other: EntityPairs) -> Bool {
    if tree.root === other.tree.root { return true }
    guard tree.count == other.tree.count else { return false }
    // Pairs that went and came back with the same values have entries of their own.
    let changes = changes(from: other)
    return changes.removed.count == changes.inserted.count
      && zip(changes.removed, changes.inserted).allSatisfy { old, new in
        old.offset == new.offset && old.element.left === new.element.left && old.element.right === new.element.right
      }
  }

  /// Returns the pairs that an earlier snapshot does not have, and those that only that has.
  func changes(from old: EntityPairs) -> TreeChanges<PairEntry<Left, Right>> {
    tree.changes(from: old.tree, in: 0..<Int.max, order.compare)
  }
}

/// Two entities that a join has found.
public struct EntityPair<Left: Identifiable & Sendable, Right: Identifiable & Sendable>: Identifiable, Sendable {
  /// The identity of a pair: the ids of its two entities.
  public struct ID: Hashable {
    /// The id of the entity that the first query has found.
    public let left: Left.ID
    /// The id of the entity that the second query has found.
    public let right: Right.ID
  }

  /// The entity that the first query has found.
  public let left: Left
  /// The entity that the second query has found.
  public let right: Right

  public var id: ID { ID(left: left.id, right: right.id) }
}

extension EntityPair: Equatable where Left: Equatable, Right: Equatable {}

extension EntityPair: CustomStringConvertible {
  public var description: String { "(\(left), \(right))" }
}

extension EntityPairs: CustomStringConvertible {
  public var description: String { Array(self).description }
}
extension EntityPairs: Equatable where Left: Equatable, Right: Equatable {
  public static func == (a: Self, b: Self) -> Bool { a.tree.root === b.tree.root || a.elementsEqual(b) }
}

/// A pair of a snapshot, which never changes.
// Unchecked, because its superclass is; what it adds never changes.
final class PairEntry<Left: Identifiable & Sendable, Right: Identifiable & Sendable>: AnyEntry, @unchecked Sendable {
  let left: QueryEntry<Left>
  let right: QueryEntry<Right>

  init(_ left: QueryEntry<Left>, _ right: QueryEntry<Right>) {
    (self.left, self.right) = (left, right)
    super.init()
  }

  var pair: EntityPair<Left, Right> { EntityPair(left: left.value, right: right.value) }
}

/// A join of the results of two queries, kept up to date.
final class Join<Left: Identifiable & Sendable, Right: Identifiable & Sendable>: Sendable {
  private let condition: JoinCondition<Left, Right>
  private let state = Locked(State())

  private struct State {
    var (left, right): (EntityResults<Left>?, EntityResults<Right>?) = (nil, nil)
    var leftByKey: [[AnyHashable]: OrderedTree<QueryEntry<Left>>] = [:]
    var rightByKey: [[AnyHashable]: OrderedTree<QueryEntry<Right>>] = [:]
    var pairs = OrderedTree<PairEntry<Left, Right>>()
  }

  init(_ condition: JoinCondition<Left, Right>) { self.condition = condition }

  /// Returns the pairs of two results: what differs from the last ones is joined.
  func pairs(of left: EntityResults<Left>, _ right: EntityResults<Right>) -> EntityPairs<Left, Right> {
    let (pairs, former) = state.withLock { state in
      // Only these: a copy of the rest would be copied when it is changed.
      let former = (state.left, state.right)
      let order = PairOrder(left.order, right.order)
      let lefts = left.changes(from: state.left)
      let rights = right.changes(from: state.right)
      (state.left, state.right) = (left, right)
      let isFirst = state.leftByKey.isEmpty && state.rightByKey.isEmpty
      var made = ContiguousArray<AnyEntry>()
      for (_, entry) in lefts.removed { remove(entry, order, &state) }
      for (_, entry) in rights.removed { remove(entry, order, &state) }
      for (_, entry) in rights.inserted {
        guard let key = condition.right(entry.value) else { continue }
        state.rightByKey[key, default: OrderedTree()].insert(entry, order.right.precedes)
        for other in state.leftByKey[key] ?? OrderedTree() { made.append(PairEntry(other, entry)) }
      }
      for (_, entry) in lefts.inserted {
        guard let key = condition.left(entry.value) else { continue }
        state.leftByKey[key, default: OrderedTree()].insert(entry, order.left.precedes)
        for other in state.rightByKey[key] ?? OrderedTree() { made.append(PairEntry(entry, other)) }
      }
      if isFirst {
        // In the order of the first query, and for each entity in that of the second: they are sorted.
        state.pairs = OrderedTree(sorted: made)
      } else {
        for pair in made { state.pairs.insert(pair.known(as: PairEntry.self), order.precedes) }
      }
      return (EntityPairs(tree: state.pairs, order: order), former)
    }
    withExtendedLifetime(former) {}
    return pairs
  }

  private func remove(_ entry: QueryEntry<Left>, _ order: PairOrder<Left, Right>, _ state: inout State) {
    guard let key = condition.left(entry.value) else { return }
    state.leftByKey[key]?.remove {
      $0 === entry
    } notBefore: {
      order.left.precedes($0, entry)
    }
    if state.leftByKey[key]?.isEmpty ?? false { state.leftByKey[key] = nil }
    for other in state.rightByKey[key] ?? OrderedTree() { order.remove(PairEntry(entry, other), from: &state.pairs) }
  }

  private func remove(_ entry: QueryEntry<Right>, _ order: PairOrder<Left, Right>, _ state: inout State) {
    guard let key = condition.right(entry.value) else { return }
    state.rightByKey[key]?.remove {
      $0 === entry
    } notBefore: {
      order.right.precedes($0, entry)
    }
    if state.rightByKey[key]?.isEmpty ?? false { state.rightByKey[key] = nil }
    for other in state.leftByKey[key] ?? OrderedTree() { order.remove(PairEntry(other, entry), from: &state.pairs) }
  }
}

/// The order of pairs.
struct PairOrder<Left: Identifiable & Sendable, Right: Identifiable & Sendable>: Sendable {
  let left: EntryOrder<Left>
  let right: EntryOrder<Right>

  init(_ left: EntryOrder<Left>, _ right: EntryOrder<Right>) { (self.left, self.right) = (left, right) }

  func compare(_ a: AnyEntry, _ b: AnyEntry) -> Precedence {
    let (a, b) = (a.known(as: PairEntry<Left, Right>.self), b.known(as: PairEntry<Left, Right>.self))
    let first = left.compare(a.left, b.left)
    return first == .same ? right.compare(a.right, b.right) : first
  }

  func precedes(_ a: AnyEntry, _ b: AnyEntry) -> Bool { compare(a, b) == .before }

  fileprivate func remove(_ pair: PairEntry<Left, Right>, from pairs: inout OrderedTree<PairEntry<Left, Right>>) {
    pairs.remove {
      $0.left === pair.left && $0.right === pair.right
    } notBefore: {
      precedes($0, pair)
    }
  }
}
