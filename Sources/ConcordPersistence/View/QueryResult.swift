import Concord
import ConcordModel

/// The result of a live query, as an aggregate in the view's store: it keeps the entities, and shows their newest values.
///
/// It has the blocks of a ``BlockList``: a change of one entity is a change of its leaf, its branch and the result, and what one result has
/// in common with an earlier one it shares with it.
struct QueryResult<T: PersistentEntity>: Aggregate {
  let id: Int
  var branches: [QueryBranch<T>] = []
  /// Ends with the last copy of the result.
  let life: QueryLife

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.branches)] }

  /// All entities, in order.
  ///
  /// - Complexity: their number.
  var items: [T] {
    var found: [T] = []
    found.reserveCapacity(branches.reduce(0) { $0 + $1.count })
    for branch in branches { for leaf in branch.leaves { found += leaf.items } }
    return found
  }
}

/// A run of leaves.
struct QueryBranch<T: PersistentEntity>: Aggregate {
  let id: QueryBlockID
  var leaves: [QueryLeaf<T>]

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.leaves)] }

  var count: Int { leaves.reduce(0) { $0 + $1.items.count } }
}

/// A run of entities.
struct QueryLeaf<T: PersistentEntity>: Aggregate {
  let id: QueryBlockID
  var items: [T]

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.items)] }

  /// The keys of the entities, in order; `null` for an entity without one.
  var keys: [StoredValue] { items.map { (try? T.storedKey(of: $0.id)) ?? .null } }
}

/// The identity of a block of a result.
struct QueryBlockID: Hashable, Sendable {
  let query: Int
  let block: Int
}

/// A token that calls a closure when the result of a query is released.
final class QueryLife: Sendable {
  private let onEnd: @Sendable () -> Void

  init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

  deinit { onEnd() }
}

extension QueryResult {
  /// Replaces the blocks that were changed in a list.
  ///
  /// - Parameters:
  ///   - list: the keys of the entities to be shown.
  ///   - touched: the blocks of the list that differ from the result's.
  ///   - value: returns the entity with a key, for entities that are not in the result: its own values hold newer entities inside.
  mutating func take(_ list: BlockList<StoredValue>, _ touched: Set<Int>, _ value: (StoredValue) -> T?) {
    var knownBranches: [Int: QueryBranch<T>] = [:]
    var knownLeaves: [Int: (leaf: QueryLeaf<T>, keys: [StoredValue])] = [:]
    var known: [StoredValue: T] = [:]
    for branch in branches {
      knownBranches[branch.id.block] = branch
      guard touched.contains(branch.id.block) else { continue }
      for leaf in branch.leaves {
        let keys = touched.contains(leaf.id.block) ? leaf.keys : []
        knownLeaves[leaf.id.block] = (leaf, keys)
        for (key, item) in zip(keys, leaf.items) { known[key] = item }
      }
    }
    func leaf(_ block: BlockList<StoredValue>.Leaf) -> QueryLeaf<T> {
      if let (leaf, keys) = knownLeaves[block.id], !touched.contains(block.id) || keys.elementsEqual(block.elements) {
        return leaf
      }
      return QueryLeaf(
        id: QueryBlockID(query: id, block: block.id), items: block.elements.compactMap { known[$0] ?? value($0) })
    }
    branches = list.branches.map { block in
      if let branch = knownBranches[block.id], !touched.contains(block.id) { return branch }
      return QueryBranch(id: QueryBlockID(query: id, block: block.id), leaves: block.leaves.map(leaf))
    }
  }
}
