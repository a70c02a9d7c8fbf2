/// A comparison of two values of a property: by `==` if there is one, else by their bits, else by their parts.
enum SameProperty {
  /// The depth to which values without `==` are compared. What is deeper counts as different.
  private static var depth: Int { 16 }

  static func areSame<Value>(values a: Value, _ b: Value) -> Bool {
    areSame(a, b, equality(of: Value.self), depth: depth)
  }

  /// A comparison of the values of a type at two addresses. What it needs to know of the type is looked up once.
  static func inPlace<Value>(_: Value.Type) -> @Sendable (UnsafeRawPointer, UnsafeRawPointer) -> Bool {
    // A function without state.
    nonisolated(unsafe) let isEqual = equality(of: Value.self)
    let size = MemoryLayout<Value>.size
    return { a, b in
      haveSameBytes(a, b, size)
        || areSame(
          a.assumingMemoryBound(to: Value.self).pointee, b.assumingMemoryBound(to: Value.self).pointee, isEqual,
          depth: depth)
    }
  }

  /// Whether two values of any type are the same; those of different types are not.
  static func areSame(_ a: Any, _ b: Any) -> Bool { areSame(parts: a, b, depth: depth) }

  private static func areSame<Value>(
    _ a: Value, _ b: Value, _ isEqual: ((Value, Value) -> Bool)?, depth: Int
  ) -> Bool {
    // As the store compares entities: what is not equal to itself, as NaN is not, is compared by its bits.
    if haveSameBits(a, b) { return true }
    if let isEqual { return isEqual(a, b) }
    guard depth > 0 else { return false }
    let (a, b) = (Mirror(reflecting: a), Mirror(reflecting: b))
    guard a.displayStyle == b.displayStyle, a.children.count == b.children.count else { return false }
    switch a.displayStyle {
    // An object has no value, and cases without parts differ by their bits.
    case .class: return false
    case .enum where a.children.isEmpty: return false
    // Without an order, equal ones may differ in it.
    case .set, .dictionary: return a.children.isEmpty
    default: break
    }
    return zip(a.children, b.children).allSatisfy { a, b in
      a.label == b.label && areSame(parts: a.value, b.value, depth: depth - 1)
    }
  }

  private static func areSame(parts a: Any, _ b: Any, depth: Int) -> Bool {
    func compare<Value>(_ a: Value) -> Bool {
      func compare<Other>(_ b: Other) -> Bool {
        guard Value.self == Other.self, let b = b as? Value else { return false }
        return areSame(a, b, equality(of: Value.self), depth: depth)
      }
      return _openExistential(b, do: compare)
    }
    return _openExistential(a, do: compare)
  }
}
