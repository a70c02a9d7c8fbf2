/// An equality by which two queries are joined, made of properties of both sides.
///
/// ```swift
/// store.query(Order.self).joined(with: Customer.self) { $0.customer == $1.id }
/// ```
public struct JoinCondition<Left, Right>: Sendable {
  let left: @Sendable (Left) -> [AnyHashable]?
  let right: @Sendable (Right) -> [AnyHashable]?

  /// Returns a condition that holds where two conditions hold.
  public static func && (a: Self, b: Self) -> Self {
    JoinCondition(left: joinKeys(a.left, b.left), right: joinKeys(a.right, b.right))
  }
}

/// One side of a join, whose members are properties to be compared.
@dynamicMemberLookup
public struct JoinSide<Root>: Sendable {
  /// A property of the side's entities.
  public subscript<Value: Hashable & Sendable>(
    dynamicMember property: any KeyPath<Root, Value> & Sendable
  ) -> JoinProperty<Root, Value> { JoinProperty(property: property) }
}

/// A property of one side of a join. Compared with one of the other side by `==` it makes a ``JoinCondition``; `nil` equals nothing.
public struct JoinProperty<Root, Value: Hashable & Sendable>: Sendable {
  let property: any KeyPath<Root, Value> & Sendable

  /// Returns a condition that holds where two properties are equal.
  public static func == <Other>(a: Self, b: JoinProperty<Other, Value>) -> JoinCondition<Root, Other> {
    JoinCondition(left: joinKey(a.property), right: joinKey(b.property))
  }

  /// Returns a condition that holds where two properties are equal.
  public static func == <Other>(a: Self, b: JoinProperty<Other, Value?>) -> JoinCondition<Root, Other> {
    JoinCondition(left: joinKey(a.property), right: joinKey(b.property))
  }

  /// Returns a condition that holds where two properties are equal.
  public static func == <Other>(a: JoinProperty<Other, Value?>, b: Self) -> JoinCondition<Other, Root> {
    JoinCondition(left: joinKey(a.property), right: joinKey(b.property))
  }
}

private func joinKeys<Root>(
  _ a: @escaping @Sendable (Root) -> [AnyHashable]?, _ b: @escaping @Sendable (Root) -> [AnyHashable]?
) -> @Sendable (Root) -> [AnyHashable]? {
  { value in
    guard let first = a(value), let second = b(value) else { return nil }
    return first + second
  }
}

private func joinKey<Root, Value: Hashable & Sendable>(
  _ property: any KeyPath<Root, Value> & Sendable
) -> @Sendable (Root) -> [AnyHashable]? {
  let none = none(of: Value.self)
  return { joinKey($0[keyPath: property], unless: none) }
}

private func joinKey<Root, Value: Hashable & Sendable>(
  _ property: any KeyPath<Root, Value?> & Sendable
) -> @Sendable (Root) -> [AnyHashable]? {
  let none = none(of: Value.self)
  return { $0[keyPath: property].flatMap { joinKey($0, unless: none) } }
}

/// Returns the key of a value; `nil` if the value is `nil`, or does not equal itself, like NaN, and so equals nothing.
///
/// - Parameter none: the value of the type that is `nil`; `nil` if the type is no optional.
private func joinKey<Value: Hashable>(_ value: Value, unless none: Value?) -> [AnyHashable]? {
  if let none, value == none { return nil }
  return value == value ? [AnyHashable(canonical(value))] : nil
}

/// Returns the value of a type that is `nil`; `nil` if the type is no optional. The compiler does not tell: a property of an optional type is
/// one of any `Hashable` type, too.
private func none<Value>(of type: Value.Type) -> Value? {
  func none<Wrapped: WithNone>(_ type: Wrapped.Type) -> Value? { Wrapped.missing as? Value }
  return (Value.self as? any WithNone.Type).flatMap { none($0) }
}

private protocol WithNone { static var missing: Self { get } }

extension Optional: WithNone { fileprivate static var missing: Self { nil } }
