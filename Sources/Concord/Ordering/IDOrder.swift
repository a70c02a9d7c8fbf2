import Foundation

/// The order of ids, in which entities stand that nothing else tells apart: of numbers, texts and UUIDs the order of files, of an enum or
/// another type with a raw value the order of these, of other types that are `Comparable` theirs, and none of the rest.
package enum IDOrder {
  /// Returns the order of ids of a type; `nil` if it has none.
  package static func comparison<ID>(of type: ID.Type) -> ((ID, ID) -> ComparisonResult)? {
    // Each closure is one of the type `ID`, which only its name hides.
    if let type = type as? any TotallyOrdered.Type {
      return totalOrder(type) as? (ID, ID) -> ComparisonResult
    }
    if let type = type as? any RawRepresentable.Type,
      let found = rawOrder(type) as? (ID, ID) -> ComparisonResult
    {
      return found
    }
    guard let type = type as? any Comparable.Type else { return nil }
    return order(type) as? (ID, ID) -> ComparisonResult
  }

  /// Returns a function that returns the rank of an id, see ``TotallyOrdered``; `nil` if there is none.
  package static func rank<ID>(of type: ID.Type) -> ((ID) -> UInt64?)? {
    func rank<Value: TotallyOrdered>(_ type: Value.Type) -> Any {
      let rank: (Value) -> UInt64? = { $0.rank }
      return rank
    }
    return (type as? any TotallyOrdered.Type).flatMap { rank($0) as? (ID) -> UInt64? }
  }

  private static func totalOrder<Value: TotallyOrdered>(_ type: Value.Type) -> Any {
    let compare: (Value, Value) -> ComparisonResult = { $0.totalOrder($1) }
    return compare
  }

  private static func rawOrder<Value: RawRepresentable>(_ type: Value.Type) -> Any? {
    guard let compareRaw = comparison(of: Value.RawValue.self) else { return nil }
    let compare: (Value, Value) -> ComparisonResult = { compareRaw($0.rawValue, $1.rawValue) }
    return compare
  }

  private static func order<Value: Comparable>(_ type: Value.Type) -> Any {
    let compare: (Value, Value) -> ComparisonResult = {
      $0 < $1 ? .orderedAscending : $1 < $0 ? .orderedDescending : .orderedSame
    }
    return compare
  }
}
