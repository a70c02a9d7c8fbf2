public import ConcordModel
import Foundation

extension BackgroundContext {
  /// Computes numbers of the entities that a predicate finds, in the store where that can do it.
  ///
  /// ```swift
  /// let (count, latest) = try context.aggregate(Book.self, where: #Predicate { $0.year > 1816 }, .count, .max(\.year))
  /// ```
  ///
  /// Changes of the context that are not saved count. ``explain(_:where:_:)`` says what is computed where.
  ///
  /// - Parameters:
  ///   - type: the type of the entities.
  ///   - predicate: the entities that count; `nil` for all.
  ///   - aggregations: what is computed, such as ``Aggregation/count`` and `.sum(\.price)`.
  /// - Returns: the values, in the order of the aggregations.
  /// - Throws: ``/ConcordModel/StoreError``, such as ``/ConcordModel/StoreError/predicateFailed(entity:reason:)``, and ``AggregationError``.
  /// - Complexity: the number of entities that the predicate finds; of a single least or greatest value of an indexed property, its logarithm.
  public func aggregate<T: PersistentEntity, each Value: Sendable>(
    _ type: T.Type, where predicate: Predicate<T>? = nil, _ aggregations: repeat Aggregation<T, each Value>
  ) throws -> (repeat each Value) {
    let request = try AggregationRequest<T>(predicate, model, repeat each aggregations)
    return try request.result(locked { try request.plan.load($0) }, repeat each aggregations)
  }

  /// Computes numbers of each group of the entities that a predicate finds.
  ///
  /// ```swift
  /// let byAuthor = try context.aggregate(Book.self, by: \.author, .count)
  /// ```
  ///
  /// Entities are in one group if the values of the property are equal; `nil` has a group, and so has NaN. What holds for all entities, holds for each group.
  ///
  /// - Parameters:
  ///   - type: the type of the entities.
  ///   - predicate: the entities that count; `nil` for all.
  ///   - property: the property whose values form the groups.
  ///   - aggregations: what is computed of each group.
  /// - Returns: the values of each group that has an entity.
  /// - Throws: ``/ConcordModel/StoreError``, such as ``/ConcordModel/StoreError/predicateFailed(entity:reason:)``, and ``AggregationError``.
  /// - Complexity: the number of entities that the predicate finds.
  public func aggregate<T: PersistentEntity, Key: Hashable & Sendable, each Value: Sendable>(
    _ type: T.Type, where predicate: Predicate<T>? = nil, by property: any KeyPath<T, Key> & Sendable,
    _ aggregations: repeat Aggregation<T, each Value>
  ) throws -> [Key: (repeat each Value)] {
    let group = AggregationGroup(property, try model.entity(T.self))
    let request = try AggregationRequest<T>(predicate, by: group, model, repeat each aggregations)
    return try request.results(locked { try request.plan.load($0) }, by: group, repeat each aggregations)
  }

  /// Computes a number of the entities that a predicate finds.
  ///
  /// ```swift
  /// let latest = try context.aggregate(Book.self, .max(\.year))
  /// ```
  ///
  /// - Throws: ``/ConcordModel/StoreError``, such as ``/ConcordModel/StoreError/predicateFailed(entity:reason:)``, and
  ///   ``AggregationError``.
  public func aggregate<T: PersistentEntity, Value: Sendable>(
    _ type: T.Type, where predicate: Predicate<T>? = nil, _ aggregation: Aggregation<T, Value>
  ) throws -> Value {
    let request = try AggregationRequest<T>(predicate, model, aggregation)
    return try request.result(locked { try request.plan.load($0) }, aggregation)
  }

  /// Computes a number of each group of the entities that a predicate finds.
  ///
  /// - Throws: ``/ConcordModel/StoreError``, such as ``/ConcordModel/StoreError/predicateFailed(entity:reason:)``, and
  ///   ``AggregationError``.
  public func aggregate<T: PersistentEntity, Key: Hashable & Sendable, Value: Sendable>(
    _ type: T.Type, where predicate: Predicate<T>? = nil, by property: any KeyPath<T, Key> & Sendable,
    _ aggregation: Aggregation<T, Value>
  ) throws -> [Key: Value] {
    let group = AggregationGroup(property, try model.entity(T.self))
    let request = try AggregationRequest<T>(predicate, by: group, model, aggregation)
    return try request.results(locked { try request.plan.load($0) }, by: group, aggregation)
  }

  /// Explains which part of an aggregation the stores evaluate, and how, and which is evaluated in memory.
  ///
  /// - Throws: ``/ConcordModel/StoreError``.
  public func explain<T: PersistentEntity, each Value: Sendable>(
    _ type: T.Type, where predicate: Predicate<T>? = nil, _ aggregations: repeat Aggregation<T, each Value>
  ) throws -> FetchExplanation {
    let request = try AggregationRequest<T>(predicate, model, repeat each aggregations)
    return try locked { try request.plan.explain($0) }
  }

  /// Explains which part of an aggregation of groups the stores evaluate, and how, and which is evaluated in memory.
  ///
  /// - Throws: ``/ConcordModel/StoreError``.
  public func explain<T: PersistentEntity, Key: Hashable & Sendable, each Value: Sendable>(
    _ type: T.Type, where predicate: Predicate<T>? = nil, by property: any KeyPath<T, Key> & Sendable,
    _ aggregations: repeat Aggregation<T, each Value>
  ) throws -> FetchExplanation {
    let group = AggregationGroup(property, try model.entity(T.self))
    let request = try AggregationRequest<T>(predicate, by: group, model, repeat each aggregations)
    return try locked { try request.plan.explain($0) }
  }
}
