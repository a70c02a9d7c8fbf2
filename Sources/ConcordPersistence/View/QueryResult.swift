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

  /// The keys of the entities, in order; `null` for what has none.
  var keys: [StoredValue] { items.map { (try? T.storedKey(of: $0.id)) ?? .null } }
}

/// The identity of a block of a result.
struct QueryBlockID: Hashable, Sendable {
  let query: Int
  let block: Int
}

/// Tells when nobody has the result of a query any longer.
final class QueryLife: Sendable {
  private let onEnd: @Sendable () -> Void

  init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

  deinit { onEnd() }
}

extension QueryResult {
  /// Takes over the blocks of a list that were changed.
  ///
  /// - Parameters:
  ///   - list: the keys of the entities that are to be shown.
  ///   - touched: the blocks of the list that are other ones than the result has.
  ///   - value: the entity with a key, where the result has none: what it has is newer, as far as the entities inside are concerned.
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
