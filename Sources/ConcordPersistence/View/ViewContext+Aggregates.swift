public import ConcordModel
import Foundation

extension ViewContext {
  /// Computes numbers of the entities that a predicate finds. See the method of ``BackgroundContext``.
  public func aggregate<T: PersistentEntity, each Value: Sendable>(
    _ type: T.Type, where predicate: Predicate<T>? = nil, _ aggregations: repeat Aggregation<T, each Value>
  ) throws -> (repeat each Value) {
    let request = try AggregationRequest<T>(predicate, model, repeat each aggregations)
    // Without the lock: what is evaluated in memory may use the view, whose turn is taken before its lock.
    return try request.result(locked { try request.plan.load(core) }, repeat each aggregations)
  }

  /// Computes numbers of each group of the entities that a predicate finds. See the method of ``BackgroundContext``.
  public func aggregate<T: PersistentEntity, Key: Hashable & Sendable, each Value: Sendable>(
    _ type: T.Type, where predicate: Predicate<T>? = nil, by property: any KeyPath<T, Key> & Sendable,
    _ aggregations: repeat Aggregation<T, each Value>
  ) throws -> [Key: (repeat each Value)] {
    let group = AggregationGroup(property, try model.entity(T.self))
    let request = try AggregationRequest<T>(predicate, by: group, model, repeat each aggregations)
    return try request.results(locked { try request.plan.load(core) }, by: group, repeat each aggregations)
  }

  /// Computes a number of the entities that a predicate finds. See the method of ``BackgroundContext``.
  ///
  /// ```swift
  /// let latest = try context.aggregate(Book.self, .max(\.year))
  /// ```
  public func aggregate<T: PersistentEntity, Value: Sendable>(
    _ type: T.Type, where predicate: Predicate<T>? = nil, _ aggregation: Aggregation<T, Value>
  ) throws -> Value {
    let request = try AggregationRequest<T>(predicate, model, aggregation)
    return try request.result(locked { try request.plan.load(core) }, aggregation)
  }

  /// Computes a number of each group of the entities that a predicate finds. See the method of ``BackgroundContext``.
  public func aggregate<T: PersistentEntity, Key: Hashable & Sendable, Value: Sendable>(
    _ type: T.Type, where predicate: Predicate<T>? = nil, by property: any KeyPath<T, Key> & Sendable,
    _ aggregation: Aggregation<T, Value>
  ) throws -> [Key: Value] {
    let group = AggregationGroup(property, try model.entity(T.self))
    let request = try AggregationRequest<T>(predicate, by: group, model, aggregation)
    return try request.results(locked { try request.plan.load(core) }, by: group, aggregation)
  }

  /// Explains which part of an aggregation the stores evaluate, and how, and which is evaluated in memory.
  ///
  /// - Throws: ``/ConcordModel/StoreError``.
  public func explain<T: PersistentEntity, each Value: Sendable>(
    _ type: T.Type, where predicate: Predicate<T>? = nil, _ aggregations: repeat Aggregation<T, each Value>
  ) throws -> FetchExplanation {
    let request = try AggregationRequest<T>(predicate, model, repeat each aggregations)
    return try locked { try request.plan.explain(core) }
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
    return try locked { try request.plan.explain(core) }
  }
}
