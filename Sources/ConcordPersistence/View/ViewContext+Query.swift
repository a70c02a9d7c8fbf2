public import Concord
public import ConcordModel

extension ViewContext {
  /// Fetches entities, and keeps the result up to date with changes, as ``find(_:id:)`` does.
  ///
  /// ```swift
  /// let recent = try container.viewContext.query(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.published)], fetchLimit: 50))
  /// let subscription = recent.observe { books in print(books.count) }
  /// ```
  ///
  /// A change costs in proportion to what it changes in the result; the stores are not asked for all rows again. The
  /// result is kept up to date as long as an observer of it is retained, and only the shown entities are in memory.
  ///
  /// - Throws: ``/ConcordModel/StoreError``, or what the predicate throws.
  public func query<T: PersistentEntity>(_ descriptor: FetchDescriptor<T>) throws -> EntityObserver<[T]> {
    try change { core in
      let (number, life) = queries.begin()
      let query = try LiveQuery(number, descriptor, model: core.parent.model)
      try query.fetch(core)
      queries.add(query)
      return query.observer(in: store, life)
    }
  }
}
