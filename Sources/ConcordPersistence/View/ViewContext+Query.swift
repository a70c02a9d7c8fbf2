public import Concord
public import ConcordModel
import Synchronization

extension ViewContext {
  /// Fetches entities, and keeps the result up to date with changes, as ``find(_:id:)`` does.
  ///
  /// ```swift
  /// let recent = try container.viewContext.query(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.published)], fetchLimit: 50))
  /// let subscription = recent.observe { books in print(books.count) }
  /// ```
  ///
  /// A change is applied in proportion to what it changes in the result; the stores are not asked for all rows again. `value` and `observe`
  /// make an array of the whole result, each time; its `changes` and sections make none. The result is kept up to date as long as an observer of it is retained, and only the shown entities are in the view; of those before a
  /// `fetchOffset` the order is in memory too, and with layers the entities. Unsaved changes of the
  /// view count, and what waits in an outbox; other optimistic layers of ``store`` do after ``followLayers()``.
  ///
  /// An entity for which the predicate has no answer later on is left out, and the view's error handler is told, once until it has one. The observer does not keep the
  /// container.
  ///
  /// - Parameter descriptor: the condition, the order and the limit of the fetch.
  /// - Returns: an observer of the result, which retains the entities in it.
  /// - Throws: ``/ConcordModel/StoreError``; ``/ConcordModel/StoreError/predicateFailed(entity:reason:)`` if the predicate has no answer for
  ///   an entity.
  /// - Complexity: as ``fetch(_:)``, and afterwards, for each commit, the changed entities of the type times the
  ///   logarithm of the result's length.
  public func query<T: PersistentEntity>(_ descriptor: FetchDescriptor<T>) throws -> EntityObserver<[T]> {
    let isMerged = followsLayers.load(ordering: .sequentiallyConsistent)
    let stored = try change { core in
      let (number, life) = queries.begin()
      let query = try LiveQuery(number, descriptor, model: core.parent.model, isMerged: isMerged)
      if isMerged, query.isFlat { _ = query.setMargin(queries.margin(of: query.entity)) }
      try query.fetch(core)
      queries.add(query)
      if notesUses { home?.uses.note(query.shownKeys, of: query.entity) }
      return query.observer(in: store, life)
    }
    return isMerged ? merged(stored, descriptor).converted { Array($0) } : stored.converted(\.items)
  }

  /// Returns an observer of what a query finds in the view, where layers change what is stored.
  ///
  /// The stored result keeps in the view what the query may need: the first entities in the order of what is stored, as many more as layers
  /// may take out or move, and those of which layers change something inside. Layers keep what they change themselves. So each entity
  /// that is not in the view is unchanged, and comes after those that are shown.
  private func merged<T: PersistentEntity>(
    _ stored: EntityObserver<QueryResult<T>>, _ descriptor: FetchDescriptor<T>
  ) -> EntityObserver<EntityResults<T>> {
    entities.query(descriptor, in: QueryResult<T>.order(descriptor)).map(isSame: { _, _ in false }) { results in
      withExtendedLifetime(stored) { results }
    }
  }
}
