public import Concord
public import ConcordModel
import Foundation

/// The part of a predicate that a search is: whether the searchable texts of an entity are a hit.
struct SearchExpression<T: PersistentEntity>: StandardPredicateExpression {
  typealias Output = Bool

  let entity: PredicateExpressions.Variable<T>
  let query: SearchQuery

  func evaluate(_ bindings: PredicateBindings) throws -> Bool {
    query.matches(SearchedTexts<T>.ofType.texts(of: try entity.evaluate(bindings)))
  }
}

extension SearchExpression: TranslatableExpression {
  func condition(_ translation: PredicateTranslation) -> StoredCondition? {
    guard translation.isEntity(entity) else { return nil }
    return .matches(query, in: translation.entity.searchablePositions)
  }
}

/// Another predicate on the same entity, as a part of a predicate.
struct WholePredicateExpression<T: PersistentEntity>: StandardPredicateExpression {
  typealias Output = Bool

  let entity: PredicateExpressions.Variable<T>
  let predicate: Predicate<T>

  func evaluate(_ bindings: PredicateBindings) throws -> Bool {
    try predicate.evaluate(entity.evaluate(bindings))
  }
}

extension WholePredicateExpression {
  // Predicates have no coded form here.
  init(from decoder: any Decoder) throws {
    throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "a predicate"))
  }

  func encode(to encoder: any Encoder) throws {
    throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: "a predicate"))
  }
}

extension WholePredicateExpression: CheckedExpression {
  package var checked: CheckedValue<Bool>? {
    let (entity, predicate) = (entity, CheckedPredicate(predicate))
    return CheckedValue { try predicate.evaluate(entity.evaluate($0)) }
  }
}

extension WholePredicateExpression: TranslatableExpression {
  func condition(_ translation: PredicateTranslation) -> StoredCondition? {
    guard translation.isEntity(entity) else { return nil }
    return translation.inside(predicate.variable).condition(of: predicate.expression)
  }
}

extension PersistentEntity {
  /// Returns the predicate that holds for the hits of a search in the properties that are marked as searchable.
  ///
  /// ```swift
  /// let count = try context.count(FetchDescriptor(predicate: Book.matching("steinb* -pearl")))
  /// let recent = try context.fetch(
  ///   FetchDescriptor(predicate: Book.matching("steinb*", and: #Predicate { $0.year > 1950 }), sortBy: [SortDescriptor(\.title)]))
  /// ```
  ///
  /// It holds for nothing if the type has no such property.
  ///
  /// - Parameters:
  ///   - query: the words, as ``SearchQuery`` says.
  ///   - predicate: a further condition.
  /// - Complexity: for an entity the length of its texts. A store that has an index of words looks at those rows only that have them.
  public static func matching(_ query: SearchQuery, and predicate: Predicate<Self>? = nil) -> Predicate<Self> {
    guard let predicate else { return Predicate<Self> { SearchExpression(entity: $0, query: query) } }
    return Predicate<Self> {
      PredicateExpressions.build_Conjunction(
        lhs: SearchExpression(entity: $0, query: query),
        rhs: WholePredicateExpression(entity: $0, predicate: predicate))
    }
  }

  /// The rank of an entity among the hits of a search: a greater one is a better hit.
  ///
  /// ```swift
  /// let order = SortDescriptor(\Book.[searchRank: "steinb*"], order: .reverse)
  /// ```
  ///
  /// It depends on the entity and the search only, and is the same whatever store has the entity; 0 for an entity that has none of the words.
  ///
  /// - Complexity: the length of the searchable texts.
  public subscript(searchRank query: SearchQuery) -> Double {
    let texts = SearchedTexts<Self>.ofType
    return texts.rank(of: texts.texts(of: self), query)
  }
}

extension FetchDescriptor where T: PersistentEntity {
  /// Creates a description of the hits of a search, the best ones first.
  ///
  /// ```swift
  /// let best = try context.fetch(FetchDescriptor<Book>(search: "steinb* -pearl", fetchLimit: 10))
  /// ```
  ///
  /// Hits of the same rank are in the order of their ids.
  ///
  /// - Parameters:
  ///   - query: the words, as ``SearchQuery`` says.
  ///   - predicate: a further condition.
  ///   - fetchLimit: the greatest number of entities to fetch; no limit if it is `nil`.
  ///   - fetchOffset: the number of entities to leave out at the beginning of the result.
  public init(
    search query: SearchQuery, where predicate: Predicate<T>? = nil, fetchLimit: Int? = nil, fetchOffset: Int? = nil
  ) {
    self.init(
      predicate: T.matching(query, and: predicate), sortBy: [SortDescriptor(\T.[searchRank: query], order: .reverse)],
      fetchLimit: fetchLimit, fetchOffset: fetchOffset)
  }
}
