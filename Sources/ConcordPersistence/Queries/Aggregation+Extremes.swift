import Concord
import ConcordModel
import Foundation

extension Aggregation {
  /// The least value of a property; `nil` of no entities.
  ///
  /// NaN does not count, and of equal values it is any one. Texts are in the order of `SortDescriptor`, that of their composed forms.
  public static func min<Property: Comparable & Sendable>(
    _ property: any KeyPath<T, Property> & Sendable
  ) -> Self where Value == Property? {
    extreme("min", property, isLeast: true) { $0[keyPath: property] }
  }

  /// The least value of a property, without the entities in which it is `nil`; `nil` if there is none.
  public static func min<Property: Comparable & Sendable>(
    _ property: any KeyPath<T, Property?> & Sendable
  ) -> Self where Value == Property? {
    extreme("min", property, isLeast: true) { $0[keyPath: property] }
  }

  /// The greatest value of a property; `nil` of no entities.
  ///
  /// NaN does not count, and of equal values it is any one. Texts are in the order of `SortDescriptor`, that of their composed forms.
  public static func max<Property: Comparable & Sendable>(
    _ property: any KeyPath<T, Property> & Sendable
  ) -> Self where Value == Property? {
    extreme("max", property, isLeast: false) { $0[keyPath: property] }
  }

  /// The greatest value of a property, without the entities in which it is `nil`; `nil` if there is none.
  public static func max<Property: Comparable & Sendable>(
    _ property: any KeyPath<T, Property?> & Sendable
  ) -> Self where Value == Property? {
    extreme("max", property, isLeast: false) { $0[keyPath: property] }
  }

  private static func extreme<Property: Comparable & Sendable>(
    _ function: String, _ property: any PartialKeyPath<T> & Sendable, isLeast: Bool,
    _ read: @escaping @Sendable (T) -> Property?
  ) -> Self where Value == Property? {
    Self(name: "\(function)(\(property))") { entity in
      entity.orderedPosition(of: property, Property.self).map { isLeast ? .least($0) : .greatest($0) }
    } result: { measured, _ in
      guard case .extreme(let stored) = measured, !stored.isNull else { return nil }
      return try readValue(stored, as: Property.self)
    } evaluate: { entities, _ in
      let order = ExtremeOrder<Property>()
      return entities.lazy.compactMap(read).filter(order.contains).reduce(nil) { best, next in
        guard let best else { return next }
        return (isLeast ? order.precedes(next, best) : order.precedes(best, next)) ? next : best
      }
    }
  }
}

/// Reads a value of a type that is stored in one way.
func readValue<Value>(_ stored: StoredValue, as type: Value.Type) throws -> Value {
  guard let value = try (type as? any PersistentValue.Type)?.init(storedValue: stored) as? Value else {
    throw StoreError.unreadable(stored, as: type)
  }
  return value
}

// MARK: Columns

extension EntityDescription {
  /// The position of a property's values, if they are all stored in one way, as their type says; `nil` otherwise.
  func position<Property>(of property: AnyKeyPath, asStoredBy type: Property.Type) -> Int? {
    guard let stored = type as? any PersistentValue.Type, let position = position(of: property),
      columns[position].role == .value, columns[position].storageClass == stored.storageClass,
      columns[position].comparison == stored.comparison
    else { return nil }
    // The key is another column than an id of which equal ones may be stored differently.
    return position == idPosition && !(isIDItsKey && stored.comparison == .order) ? nil : position
  }

  /// The position of a property of which a store can tell the least and the greatest value.
  fileprivate func orderedPosition<Property>(of property: AnyKeyPath, _ type: Property.Type) -> Int? {
    guard let position = position(of: property, asStoredBy: type) else { return nil }
    let column = columns[position]
    return column.comparison == .order || column.comparison == .text || column.isReal && isRealNumber(type)
      ? position : nil
  }

  /// The sum of whole numbers that a store can compute.
  func sum<Number: FixedWidthInteger>(of property: AnyKeyPath, _ type: Number.Type) -> RowMeasure? {
    guard let position = position(of: property, asStoredBy: type), columns[position].storageClass == .integer,
      columns[position].comparison == .order
    else { return nil }
    return .integers(position, within: Int64(clamping: Number.min)...Int64(clamping: Number.max))
  }

  /// The sum of numbers with a fraction that a store can compute.
  func sum<Number: BinaryFloatingPoint>(of property: AnyKeyPath, _ type: Number.Type) -> RowMeasure? {
    guard let position = position(of: property, asStoredBy: type), columns[position].isReal, isRealNumber(type) else {
      return nil
    }
    return .reals(position)
  }
}

/// Whether a type's values are stored as the numbers that they are.
func isRealNumber<T>(_ type: T.Type) -> Bool { type == Double.self || type == Float.self || type == Date.self }
