import Concord
public import ConcordModel

/// A number or a value that is computed of many entities: their number, or the sum, the average, the least or the greatest value of a property.
///
/// ```swift
/// let (count, latest) = try context.aggregate(Book.self, .count, .max(\.year))
/// ```
///
/// What is `nil` does not count. Nothing overflows in between.
public struct Aggregation<T: PersistentEntity, Value: Sendable>: Sendable {
  /// The name of the computation, for people.
  let name: String
  /// The measure that a store computes for it; `nil` if the entities are read.
  let measure: @Sendable (EntityDescription) -> RowMeasure?
  /// The value that a store's measure tells.
  let result: @Sendable (MeasuredValue, EntityDescription) throws -> Value
  /// The value of entities that were read.
  let evaluate: @Sendable ([T], EntityDescription) throws -> Value
}

/// An error of an aggregate of entities.
public enum AggregationError: Error, Sendable, Hashable {
  /// A sum of whole numbers that their type cannot represent. Sum a property of a larger type, or take the average.
  case overflow(entity: String, aggregate: String, sum: String, type: String)
}

extension AggregationError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .overflow(let entity, let aggregate, let sum, let type):
      "\(aggregate) of \(entity) is \(sum), which \(type) cannot represent: sum a property of a larger type, or take the average"
    }
  }
}

// MARK: Numbers

extension Aggregation where Value == Int {
  /// The number of entities.
  public static var count: Self {
    Self(name: "count", measure: { _ in .count }) { value, _ in
      if case .count(let count) = value { count } else { 0 }
    } evaluate: { entities, _ in
      entities.count
    }
  }
}

extension Aggregation where Value: FixedWidthInteger {
  /// The sum of a property; 0 of no entities.
  ///
  /// A sum that the type of the property cannot represent is thrown as ``AggregationError/overflow(entity:aggregate:sum:type:)``.
  public static func sum(_ property: any KeyPath<T, Value> & Sendable) -> Self {
    sum(of: property) { $0[keyPath: property] }
  }

  /// The sum of a property, without the entities in which it is `nil`.
  public static func sum(_ property: any KeyPath<T, Value?> & Sendable) -> Self {
    sum(of: property) { $0[keyPath: property] }
  }

  private static func sum(
    of property: any PartialKeyPath<T> & Sendable, _ read: @escaping @Sendable (T) -> Value?
  ) -> Self {
    let name = "sum(\(property))"
    @Sendable func value(_ sum: Int128, _ entity: EntityDescription) throws -> Value {
      guard let value = Value(exactly: sum) else {
        throw AggregationError.overflow(entity: entity.name, aggregate: name, sum: "\(sum)", type: "\(Value.self)")
      }
      return value
    }
    return Self(name: name, measure: { $0.sum(of: property, Value.self) }) { measured, entity in
      try value(measured.integers.sum, entity)
    } evaluate: { entities, entity in
      try value(entities.lazy.compactMap(read).reduce(0) { $0 &+ Int128(truncatingIfNeeded: $1) }, entity)
    }
  }
}

extension Aggregation where Value: BinaryFloatingPoint {
  /// The sum of a property; 0 of no entities.
  ///
  /// It is the exact sum of the numbers as `Double`, rounded once, so it does not depend on their order. NaN makes it NaN.
  public static func sum(_ property: any KeyPath<T, Value> & Sendable) -> Self {
    sum(of: property) { $0[keyPath: property] }
  }

  /// The sum of a property, without the entities in which it is `nil`.
  public static func sum(_ property: any KeyPath<T, Value?> & Sendable) -> Self {
    sum(of: property) { $0[keyPath: property] }
  }

  private static func sum(
    of property: any PartialKeyPath<T> & Sendable, _ read: @escaping @Sendable (T) -> Value?
  ) -> Self {
    Self(name: "sum(\(property))", measure: { $0.sum(of: property, Value.self) }) { measured, _ in
      Value(measured.reals.sum.value)
    } evaluate: { entities, _ in
      var sum = ExactSum()
      for number in entities.lazy.compactMap(read) { sum.add(Double(number)) }
      return Value(sum.value)
    }
  }
}

extension Aggregation where Value == Double? {
  /// The average of a property: its sum as a `Double`, divided by the number of entities; `nil` of none.
  public static func average<Number: FixedWidthInteger & Sendable>(_ property: any KeyPath<T, Number> & Sendable)
    -> Self
  {
    average(of: property, Number.self) { Int128(truncatingIfNeeded: $0[keyPath: property]) }
  }

  /// The average of a property, without the entities in which it is `nil`.
  public static func average<Number: FixedWidthInteger & Sendable>(_ property: any KeyPath<T, Number?> & Sendable)
    -> Self
  {
    average(of: property, Number.self) { $0[keyPath: property].map { Int128(truncatingIfNeeded: $0) } }
  }

  private static func average<Number: FixedWidthInteger & Sendable>(
    of property: any PartialKeyPath<T> & Sendable, _ type: Number.Type, _ read: @escaping @Sendable (T) -> Int128?
  ) -> Self {
    Self(name: "average(\(property))", measure: { $0.sum(of: property, type) }) { measured, _ in
      let (sum, count) = measured.integers
      return count == 0 ? nil : Double(sum) / Double(count)
    } evaluate: { entities, _ in
      let numbers = entities.compactMap(read)
      return numbers.isEmpty ? nil : Double(numbers.reduce(0, &+)) / Double(numbers.count)
    }
  }

  /// The average of a property: its exact sum, rounded to `Double`, divided by the number of entities; `nil` of none.
  public static func average<Number: BinaryFloatingPoint & Sendable>(_ property: any KeyPath<T, Number> & Sendable)
    -> Self
  {
    average(of: property, Number.self) { Double($0[keyPath: property]) }
  }

  /// The average of a property, without the entities in which it is `nil`.
  public static func average<Number: BinaryFloatingPoint & Sendable>(_ property: any KeyPath<T, Number?> & Sendable)
    -> Self
  {
    average(of: property, Number.self) { $0[keyPath: property].map { Double($0) } }
  }

  private static func average<Number: BinaryFloatingPoint & Sendable>(
    of property: any PartialKeyPath<T> & Sendable, _ type: Number.Type, _ read: @escaping @Sendable (T) -> Double?
  ) -> Self {
    Self(name: "average(\(property))", measure: { $0.sum(of: property, type) }) { measured, _ in
      let (sum, count) = measured.reals
      return count == 0 ? nil : sum.value / Double(count)
    } evaluate: { entities, _ in
      var (sum, count) = (ExactSum(), 0)
      for number in entities.lazy.compactMap(read) {
        sum.add(number)
        count += 1
      }
      return count == 0 ? nil : sum.value / Double(count)
    }
  }
}

extension MeasuredValue {
  fileprivate var integers: (sum: Int128, count: Int) {
    if case .integers(let sum, let count) = self { (sum, count) } else { (0, 0) }
  }

  fileprivate var reals: (sum: ExactSum, count: Int) {
    if case .reals(let sum, let count) = self { (sum, count) } else { (ExactSum(), 0) }
  }
}
