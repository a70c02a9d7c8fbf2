public import Concord
public import ConcordModel

extension EntityObserver {
  /// Returns an observer of the result of a live query over stores in sections: entities that have the same value of a property.
  ///
  /// ```swift
  /// let books = try container.viewContext.query(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.shelf), SortDescriptor(\.title)]))
  /// for section in books.sections(by: \.shelf).value { print(section.id, section.elements.count) }
  /// ```
  ///
  /// As those of a query over an entity store: sections are in the order of their first entities, so sort by the property first to have them
  /// in its order. Values that do not equal themselves, like NaN, share a section. The property must not use the view.
  ///
  /// - Complexity: of a notice or reading, the number of entities that changed in the result, with up to 64 that stand beside each, times
  ///   the logarithm of their number. Of an array that no live query has found, its length.
  public func sections<T: PersistentEntity, Key: Hashable & Sendable>(
    by property: any KeyPath<T, Key> & Sendable
  ) -> EntityObserver<EntitySections<Key, T>> where Value == [T] {
    results().sections(by: property)
  }

  /// Returns an observer of the result of a live query over stores in groups: another name of `sections(by:)`.
  public func group<T: PersistentEntity, Key: Hashable & Sendable>(
    by property: any KeyPath<T, Key> & Sendable
  ) -> EntityObserver<EntitySections<Key, T>> where Value == [T] { sections(by: property) }

  /// An observer of the result in the form of a query over an entity store.
  private func results<T: PersistentEntity>() -> EntityObserver<EntityResults<T>> where Value == [T] {
    if let merged = unconverted(EntityResults<T>.self) { return merged }
    guard let stored = unconverted(QueryResult<T>.self) else {
      return map(isSame: { _, _ in false }) { ListedResults<Int, T>.results(of: $0) }
    }
    let followed = FollowedQuery<T>()
    return stored.map(isSame: ListedResults<StoredValue, T>.areSame) { followed.results(of: $0) }
  }
}

/// The result of a live query in the form of a query over an entity store, moved from one state to any other by what differs.
private final class FollowedQuery<T: PersistentEntity>: Sendable {
  private let last = Locked<(result: QueryResult<T>?, listed: ListedResults<StoredValue, T>)?>(nil)

  func results(of result: QueryResult<T>) -> EntityResults<T> {
    let (results, former) = last.withLock { last in
      let former = last?.result
      var listed = last?.listed ?? ListedResults(result.order)
      last = nil
      listed.apply(
        removed: former?.elements(besides: result) ?? [], inserted: result.elements(besides: former))
      last = (result, listed)
      return (listed.results, former)
    }
    return withExtendedLifetime(former) { results }
  }
}

extension QueryResult {
  /// Returns the entities of the blocks that another result does not share.
  ///
  /// - Complexity: the number of branches, and of these entities.
  fileprivate func elements(besides other: QueryResult?) -> [(StoredValue, T)] {
    let others = Dictionary((other?.branches ?? []).map { ($0.id, $0.leaves) }) { first, _ in first }
    let unshared = branches.filter { branch in
      others[branch.id].map { !branch.leaves.isStored(as: $0) } ?? true
    }
    let known = Set(unshared.map(\.id))
    let isShared = Set(branches.lazy.map(\.id).filter { !known.contains($0) })
    let otherLeaves = Dictionary(
      (other?.branches ?? []).lazy.filter { !isShared.contains($0.id) }.flatMap(\.leaves).map { ($0.id, $0.items) }
    ) { first, _ in first }
    return unshared.flatMap(\.leaves).flatMap { leaf -> [(StoredValue, T)] in
      if let items = otherLeaves[leaf.id], leaf.items.isStored(as: items) { return [] }
      return Array(zip(leaf.keys, leaf.items))
    }
  }
}
