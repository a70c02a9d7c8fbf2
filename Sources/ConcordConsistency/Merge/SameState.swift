import Concord
import Foundation

/// A comparison of two states of one object in every field, whether or not the object lists it.
///
/// The objects' own `==` does not count, since it often compares the ids only. In doubt the states differ: an unneeded push
/// is better than a lost one.
struct SameState {
  /// The number of values that may still be compared.
  private var budget: Int
  /// The result for values that cannot be distinguished by their fields.
  private let whenUnknown: Bool
  /// The objects that were found to be the same, by identity, so that a diamond is compared by its objects, not its paths.
  private var same: [AnyHashable: (left: any ConsistentObject, right: any ConsistentObject)] = [:]

  /// Whether two states are certainly the same.
  ///
  /// - Parameter budget: the number of values to compare before giving up.
  static func isCertain<Object: ConsistentObject>(
    of object: Object, _ other: any ConsistentObject, budget: Int = 200_000
  ) -> Bool {
    guard let other = other as? Object else { return false }
    if isClass(Object.self) { return object as AnyObject === other as AnyObject }
    if haveEqualBits(object, other) { return true }
    var comparison = SameState(budget: budget)
    return comparison.haveEqualFields(object, other)
  }

  /// Whether two states may be the same.
  static func isPossible(of object: any ConsistentObject, _ other: any ConsistentObject) -> Bool {
    var comparison = SameState(budget: 200_000, whenUnknown: true)
    return comparison.areSame(object, other)
  }

  /// Whether two lists of properties are the same.
  static func areSame(_ left: [Property], _ right: [Property], budget: Int) -> Bool {
    guard left.count == right.count else { return false }
    var comparison = SameState(budget: budget)
    return zip(left, right).allSatisfy { left, right in
      guard left.label == right.label else { return false }
      switch (left.value, right.value) {
      case (nil, nil): return true
      case (let left?, let right?): return comparison.areSame(left, right)
      default: return false
      }
    }
  }

  /// Whether two values have equal bits, and so are the same value, or of a class the same instance. Padding can make equal
  /// values differ, and never the other way round.
  static func haveEqualBits<Value>(_ left: Value, _ right: Value) -> Bool {
    withUnsafePointer(to: left) { left in
      withUnsafePointer(to: right) { memcmp(left, $0, MemoryLayout<Value>.size) == 0 }
    }
  }

  private init(budget: Int, whenUnknown: Bool = false) {
    self.budget = budget
    self.whenUnknown = whenUnknown
  }

  mutating func areSame(_ left: Any, _ right: Any) -> Bool {
    if let left = left as? String { return left == right as? String }
    return areSame(opened: left, right)
  }

  private mutating func areSame<Value>(opened left: Value, _ right: Any) -> Bool {
    guard type(of: left as Any) == type(of: right), let right = right as? Value else { return false }
    if Self.haveEqualBits(left, right) { return true }
    if isClass(Value.self) { return false }
    if let left = left as? any ConsistentObject, let right = right as? any ConsistentObject {
      return areSame(object: left, right)
    }
    if let left = left as? any KeyedStates { return left.haveSameStates(as: right, &self) }
    if let left = left as? any Equatable, isKnownToCompareAll(Value.self) { return left.isEqual(to: right) }
    return haveEqualFields(left, right)
  }

  private mutating func areSame(object left: any ConsistentObject, _ right: any ConsistentObject) -> Bool {
    let key = AnyHashable(ObjectKey(left))
    if let known = same[key], Self.haveEqualBits(boxed: known.left, left),
      Self.haveEqualBits(boxed: known.right, right)
    {
      return true
    }
    guard haveEqualFields(left, right) else { return false }
    same[key] = (left, right)
    return true
  }

  static func haveEqualBits(boxed left: any ConsistentObject, _ right: any ConsistentObject) -> Bool {
    func compare<Object: ConsistentObject>(_ left: Object) -> Bool {
      (right as? Object).map { haveEqualBits(left, $0) } ?? false
    }
    return compare(left)
  }

  private mutating func haveEqualFields(_ left: Any, _ right: Any) -> Bool {
    budget -= 1
    guard budget > 0 else { return whenUnknown }
    let (left, right) = (Mirror(reflecting: left), Mirror(reflecting: right))
    guard left.displayStyle == right.displayStyle, left.children.count == right.children.count else { return false }
    // Values without fields cannot be distinguished by them.
    if left.children.isEmpty {
      return whenUnknown || left.displayStyle == .optional || left.displayStyle == .collection
    }
    for (left, right) in zip(left.children, right.children) {
      guard left.label == right.label, areSame(left.value, right.value) else { return false }
    }
    return true
  }
}

/// A collection without an order, which is compared by its keys.
private protocol KeyedStates {
  func haveSameStates(as other: Any, _ comparison: inout SameState) -> Bool
}

extension Dictionary: KeyedStates {
  func haveSameStates(as other: Any, _ comparison: inout SameState) -> Bool {
    guard let other = other as? Self, count == other.count else { return false }
    for (key, value) in self {
      guard let value = other[key].map({ (value, $0) }), comparison.areSame(value.0, value.1) else { return false }
    }
    return true
  }
}

extension Set: KeyedStates {
  func haveSameStates(as other: Any, _ comparison: inout SameState) -> Bool {
    guard let other = other as? Self, count == other.count else { return false }
    for element in self {
      guard let index = other.firstIndex(of: element), comparison.areSame(element, other[index]) else { return false }
    }
    return true
  }
}

extension Equatable {
  func isEqual(to other: Any) -> Bool {
    self == other as? Self
  }
}

/// Whether the `==` of a type compares all of its contents. True for types of the standard library and of Foundation, except
/// for generic ones, which may contain anything. Decided once for each type.
private func isKnownToCompareAll(_ type: any Any.Type) -> Bool {
  if type == String.self { return true }
  let key = ObjectIdentifier(type)
  if let isKnown = knownToCompareAll.withLock({ $0[key] }) { return isKnown }
  let name = String(reflecting: type)
  let modules = ["Swift.", "Foundation.", "FoundationEssentials."]
  let isKnown = !name.contains("<") && modules.contains { name.hasPrefix($0) }
  knownToCompareAll.withLock { $0[key] = isKnown }
  return isKnown
}

private let knownToCompareAll = Locked<[ObjectIdentifier: Bool]>([:])
