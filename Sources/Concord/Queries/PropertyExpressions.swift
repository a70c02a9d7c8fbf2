import Foundation

/// A stored property of a type, or one of a value inside it.
struct PredicateProperty<T, Value> {
  let path: PropertyPath
  let read: (T) -> Value
}

/// A part of a predicate that may be a stored property of what it is evaluated for.
protocol PropertyExpression: PredicateExpression {
  /// Returns the property; `nil` if it is none, or is computed: that is the user's code, which must not run with the lock held.
  func property<T>(of variable: PredicateExpressions.VariableID, in type: T.Type) -> PredicateProperty<T, Output>?
}

/// A part of a predicate that may be a stored property without an optional on the way.
private protocol KeyPathExpression: PredicateExpression {
  func storedKeyPath<T>(of variable: PredicateExpressions.VariableID, in type: T.Type) -> AnyKeyPath?
}

extension PredicateExpressions.KeyPath: KeyPathExpression, PropertyExpression {
  fileprivate func storedKeyPath<T>(of variable: PredicateExpressions.VariableID, in type: T.Type) -> AnyKeyPath? {
    var path: AnyKeyPath?
    if let root = root as? PredicateExpressions.Variable<Root.Output> {
      path = root.key == variable ? keyPath : nil
    } else if let root = root as? any KeyPathExpression {
      path = root.storedKeyPath(of: variable, in: type)?.appending(path: keyPath)
    }
    return (path as? PartialKeyPath<T>).flatMap { MemoryLayout<T>.offset(of: $0) == nil ? nil : $0 }
  }

  func property<T>(of variable: PredicateExpressions.VariableID, in type: T.Type) -> PredicateProperty<T, Output>? {
    guard let path = storedKeyPath(of: variable, in: type) as? Swift.KeyPath<T, Output> else { return nil }
    return PredicateProperty(path: PropertyPath(path)) { $0[keyPath: path] }
  }
}

extension PredicateExpressions.OptionalFlatMap: PropertyExpression {
  func property<T>(of variable: PredicateExpressions.VariableID, in type: T.Type) -> PredicateProperty<T, Output>? {
    let inner = (transform as? any KeyPathExpression)?.storedKeyPath(of: self.variable.key, in: Wrapped.self)
    guard let inner, let outer = (wrapped as? any KeyPathExpression)?.storedKeyPath(of: variable, in: type),
      let optional = outer as? Swift.KeyPath<T, Wrapped?>
    else { return nil }
    let path = PropertyPath(outer, inner)
    switch inner {
    case let inner as Swift.KeyPath<Wrapped, Result>:
      return PredicateProperty(path: path) { $0[keyPath: optional].map { $0[keyPath: inner] } }
    case let inner as Swift.KeyPath<Wrapped, Result?>:
      return PredicateProperty(path: path) { $0[keyPath: optional].flatMap { $0[keyPath: inner] } }
    default: return nil
    }
  }
}
