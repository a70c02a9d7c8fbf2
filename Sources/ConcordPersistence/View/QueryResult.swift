import Concord
import ConcordModel
import Foundation
import Synchronization

/// The result of a live query, as an aggregate in the view's store: it keeps the entities, and shows their newest values.
///
/// It has the blocks of a ``BlockList``: a change of one entity is a change of its leaf, its branch and the result, and what one result has
/// in common with an earlier one it shares with it.
struct QueryResult<T: PersistentEntity>: Aggregate {
  let id: Int
  var branches: [QueryBranch<T>] = []
  /// Ends with the last copy of the result.
  let life: QueryLife
  /// The order of the entities.
  let order: EntryOrder<T>

  static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { [.init(\.branches)] }
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.branches)] }

  /// Returns the order of a query: entities that the descriptors do not tell apart are in the order of their keys.
  static func order(_ descriptor: FetchDescriptor<T>) -> EntryOrder<T> {
    EntryOrder(descriptor.sortBy) { a, b in
      let (a, b) = ((try? T.storedKey(of: a)) ?? .null, (try? T.storedKey(of: b)) ?? .null)
      return StoredValue.precedes(a, b)
        ? .orderedAscending : StoredValue.precedes(b, a) ? .orderedDescending : .orderedSame
    }
  }

  /// All entities, in order.
  ///
  /// - Complexity: their number.
  var items: [T] {
    life.makings.add(1, ordering: .relaxed)
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

  static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { [.init(\.leaves)] }
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.leaves)] }

  var count: Int { leaves.reduce(0) { $0 + $1.items.count } }
}

/// A run of entities.
struct QueryLeaf<T: PersistentEntity>: Aggregate {
  let id: QueryBlockID
  var items: [T]

  static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { [.init(\.items)] }
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
  /// The number of arrays that were made of the result, for tests.
  let makings = Atomic(0)
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
    var known: [StoredValue: T] = [:]
    for branch in branches where touched.contains(branch.id.block) {
      for leaf in branch.leaves where touched.contains(leaf.id.block) {
        for (key, item) in zip(leaf.keys, leaf.items) { known[key] = item }
      }
    }
    func made(_ block: BlockList<StoredValue>.Leaf) -> QueryLeaf<T> {
      QueryLeaf(
        id: QueryBlockID(query: id, block: block.id), items: block.elements.compactMap { known[$0] ?? value($0) })
    }
    func mustMake(_ block: BlockList<StoredValue>.Leaf, _ leaf: QueryLeaf<T>) -> Bool {
      touched.contains(block.id) && !leaf.keys.elementsEqual(block.elements)
    }
    if hasBlocks(of: list, touched) {
      // Fast path: usually few leaves have other entities, and nothing else is written.
      for (branch, block) in list.branches.enumerated() where touched.contains(block.id) {
        for (leaf, block) in block.leaves.enumerated() where mustMake(block, branches[branch].leaves[leaf]) {
          branches[branch].leaves[leaf] = made(block)
        }
      }
      return
    }
    let knownBranches = Dictionary(branches.map { ($0.id.block, $0) }) { $1 }
    // Leaves of a branch that was split or merged may stand in another one now.
    let leaves = branches.lazy.filter { touched.contains($0.id.block) }.flatMap(\.leaves)
    let knownLeaves = Dictionary(leaves.map { ($0.id.block, $0) }) { $1 }
    branches = list.branches.map { block in
      if let branch = knownBranches[block.id], !touched.contains(block.id) { return branch }
      return QueryBranch(
        id: QueryBlockID(query: id, block: block.id),
        leaves: block.leaves.map { block in
          if let leaf = knownLeaves[block.id], !mustMake(block, leaf) { leaf } else { made(block) }
        })
    }
  }

  /// Whether the branches, and the leaves in those that were changed, are those of a list.
  private func hasBlocks(of list: BlockList<StoredValue>, _ touched: Set<Int>) -> Bool {
    guard branches.map(\.id.block) == list.branches.map(\.id) else { return false }
    return zip(branches, list.branches).allSatisfy { branch, block in
      !touched.contains(block.id) || branch.leaves.map(\.id.block) == block.leaves.map(\.id)
    }
  }
}
