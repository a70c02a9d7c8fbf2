public import Foundation

/// A stored property that a query compares with a value.
struct QueryEquality<T> {
  let property: AnyKeyPath
  let value: AnyHashable
  /// A function that returns the property of an entity.
  let key: (T) -> AnyHashable
}

/// An index of queries by the value that they compare a property with, so that a change costs only the queries that it concerns.
final class EqualityIndex<T: Identifiable & Sendable> {
  private let key: (T) -> AnyHashable
  private var queries: [AnyHashable: [ObjectIdentifier: QueryHub<T>]] = [:]
  /// The property of each entity, by the number of the entity.
  private var keys: [UInt64: AnyHashable] = [:]

  init(_ equality: QueryEquality<T>) { key = equality.key }

  var isEmpty: Bool { queries.isEmpty }

  func add(_ query: QueryHub<T>, _ value: AnyHashable) { queries[value, default: [:]][ObjectIdentifier(query)] = query }

  func remove(_ query: QueryHub<T>, _ value: AnyHashable) {
    queries[value]?[ObjectIdentifier(query)] = nil
    if queries[value]?.isEmpty ?? false { queries[value] = nil }
  }

  /// Notes what became of an entity, and returns the queries that may have found it before, or find it now.
  func keys(of number: UInt64, became value: T?) -> [QueryHub<T>] {
    let new = value.map(key)
    let old = keys[number]
    if old != new { keys[number] = new }
    var found = old.flatMap { queries[$0] }.map { Array($0.values) } ?? []
    if let new, new != old, let others = queries[new] { found += others.values }
    return found
  }
}

// MARK: Finding equalities in predicates

extension QueryEquality {
  /// Finds a stored property that has a certain value in all entities that a predicate selects; `nil` if there is none.
  init?(_ predicate: Predicate<T>) {
    guard let found = Self.find(predicate.expression, predicate.variable.key) else { return nil }
    self = found
  }

  private static func find(_ expression: any PredicateExpression, _ variable: PredicateExpressions.VariableID) -> Self?
  {
    if let both = expression as? any Conjoined {
      return both.conjuncts.lazy.compactMap { find($0, variable) }.first
    }
    guard let equality = expression as? any Equated else { return nil }
    let (a, b) = equality.equated
    return property(a, equals: b, variable) ?? property(b, equals: a, variable)
  }

  private static func property(
    _ side: any PredicateExpression, equals other: any PredicateExpression, _ variable: PredicateExpressions.VariableID
  ) -> Self? {
    guard let property = side as? any PropertyOfVariable, property.variable == variable,
      let constant = (other as? any Constant)?.constant
    else { return nil }
    return make(property.property, constant)
  }

  private static func make(_ property: AnyKeyPath, _ constant: Any) -> Self? {
    func make<Value: Hashable>(_ type: Value.Type) -> Self? {
      // A computed property is the user's code, which must not run with the lock held.
      guard let property = property as? KeyPath<T, Value>, MemoryLayout<T>.offset(of: property) != nil,
        let value = constant as? Value, value == value
      else { return nil }
      return QueryEquality(property: property, value: AnyHashable(value)) { AnyHashable($0[keyPath: property]) }
    }
    return (type(of: property).valueType as? any Hashable.Type).flatMap { make($0) }
  }
}

private protocol Conjoined { var conjuncts: [any PredicateExpression] { get } }
private protocol Equated { var equated: (any PredicateExpression, any PredicateExpression) { get } }
private protocol Constant { var constant: Any { get } }
private protocol PropertyOfVariable {
  var property: AnyKeyPath { get }
  var variable: PredicateExpressions.VariableID? { get }
}

extension PredicateExpressions.Conjunction: Conjoined {
  fileprivate var conjuncts: [any PredicateExpression] { [lhs, rhs] }
}

extension PredicateExpressions.Equal: Equated {
  fileprivate var equated: (any PredicateExpression, any PredicateExpression) { (lhs, rhs) }
}

extension PredicateExpressions.Value: Constant {
  fileprivate var constant: Any { value }
}

extension PredicateExpressions.KeyPath: PropertyOfVariable {
  fileprivate var property: AnyKeyPath { keyPath }
  fileprivate var variable: PredicateExpressions.VariableID? {
    (root as? PredicateExpressions.Variable<Root.Output>)?.key
  }
}
