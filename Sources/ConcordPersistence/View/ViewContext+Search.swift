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
  /// is: a change finds the hits that it concerns, and the stores are not searched again. ``SearchQuery`` says which texts are found.
  ///
  /// - Parameters:
  ///   - query: the words.
  ///   - type: the type of the entities.
  ///   - predicate: a further condition on the hits.
  ///   - limit: the greatest number of hits; no limit if it is `nil`.
  /// - Throws: ``/ConcordModel/StoreError``; ``/ConcordModel/StoreError/misdescribed(entity:reason:)`` if no property of the type is
  ///   searchable.
  /// - Complexity: at first, the texts of the hits where the store has an index of their words, and of all entities where it has none.
  ///   Afterwards, of a commit, the changed entities, with their texts, times the logarithm of the number of hits. `value` and `observe` make an array
  ///   of all hits, each time, and compare it with the one before; `changes` makes none.
  public func search<T: PersistentEntity>(
    _ query: SearchQuery, in type: T.Type, where predicate: Predicate<T>? = nil, limit: Int? = nil
  ) throws -> EntityObserver<[SearchHit<T>]> {
    guard try !model.entity(type).searchablePositions.isEmpty else {
      throw StoreError.misdescribed(entity: T.entityName, reason: "no property is searchable")
    }
    let texts = SearchedTexts<T>.ofType
    let descriptor = FetchDescriptor<T>(search: query, where: predicate, fetchLimit: limit)
    let entities = try self.query(descriptor)
    func hits<Found: FoundEntities>(_ found: EntityObserver<Found>) -> EntityObserver<[SearchHit<T>]>
    where Found.Entity == T {
      found.map(isSame: { _, _ in false }) { FoundHits(found: $0, query: query, texts) }.converted(\.hits)
    }
    if let merged = entities.unconverted(EntityResults<T>.self) { return hits(merged) }
    if let stored = entities.unconverted(QueryResult<T>.self) { return hits(stored) }
    return entities.map { entities in entities.map { SearchHit(entity: $0, query: query, texts) } }
  }
}

/// The result of a search, before it is made an array of hits.
struct FoundHits<Found: FoundEntities>: Sendable {
  let found: Found
  private let query: SearchQuery
  private let texts: SearchedTexts<Found.Entity>

  init(found: Found, query: SearchQuery, _ texts: SearchedTexts<Found.Entity>) {
    (self.found, self.query, self.texts) = (found, query, texts)
  }

  var hits: [SearchHit<Found.Entity>] { found.entities.map(hit) }

  /// Returns the hit that an entity is.
  func hit(_ entity: Found.Entity) -> SearchHit<Found.Entity> { SearchHit(entity: entity, query: query, texts) }
}
