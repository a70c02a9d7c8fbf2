public import Concord
public import ConcordModel

extension ViewContext {
  /// Searches the texts of the properties that are marked as searchable, and keeps the hits up to date with changes.
  ///
  /// ```swift
  /// let hits = try view.search("steinb* -pearl", in: Book.self, limit: 20)
  /// let subscription = hits.observe { hits in for hit in hits { print(hit.entity.title, hit.rank) } }
  /// ```
  ///
  /// The best hits come first; those of the same rank are in the order of their ids. Pending changes count, as in ``query(_:)``, which this
  /// is: a change costs in proportion to what it changes in the result. ``SearchQuery`` says which texts are found.
  ///
  /// - Parameters:
  ///   - query: the words.
  ///   - type: the type of the entities.
  ///   - predicate: a further condition on the hits.
  ///   - limit: the greatest number of hits; no limit if it is `nil`.
  /// - Throws: ``/ConcordModel/StoreError``; ``/ConcordModel/StoreError/misdescribed(entity:reason:)`` if no property of the type is
  ///   searchable.
  /// - Complexity: at first, the texts of the hits where the store has an index of their words, and of all entities where it has none.
  public func search<T: PersistentEntity>(
    _ query: SearchQuery, in type: T.Type, where predicate: Predicate<T>? = nil, limit: Int? = nil
  ) throws -> EntityObserver<[SearchHit<T>]> {
    guard try !model.entity(type).searchablePositions.isEmpty else {
      throw StoreError.misdescribed(entity: T.entityName, reason: "no property is searchable")
    }
    let texts = SearchedTexts<T>.ofType
    let descriptor = FetchDescriptor<T>(search: query, where: predicate, fetchLimit: limit)
    return try self.query(descriptor).map { entities in entities.map { SearchHit(entity: $0, query: query, texts) } }
  }
}
