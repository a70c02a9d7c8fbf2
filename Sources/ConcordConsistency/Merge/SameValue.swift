/// A comparison of property values of any type. Without `Equatable`, equal bits and equal properties count. An object's own
/// `==` does not count, since it often compares the ids only.
struct SameValue {
  /// The result for values that cannot be compared.
  let whenUnknown: Bool

  /// Whether two values are the same.
  func callAsFunction(_ left: Any?, _ right: Any?) -> Bool {
    switch (left, right) {
    case (nil, nil): true
    case (let left?, let right?): compare(left, right)
    default: false
    }
  }

  /// Whether two states of one object are the same.
  func callAsFunction(states left: any ConsistentObject, _ right: any ConsistentObject) -> Bool {
    if type(of: left) is any AnyObject.Type { return left as AnyObject === right as AnyObject }
    return haveEqualProperties(left.properties, right.properties)
  }

  private func compare(_ left: Any, _ right: Any) -> Bool {
    if let left = left as? String { return left == right as? String }
    func compare<Value>(_ left: Value) -> Bool {
      guard type(of: left as Any) == type(of: right), let right = right as? Value else { return false }
      return SameState.haveEqualBits(left, right) || haveEqualContent(left, right)
    }
    return _openExistential(left, do: compare)
  }

  private func haveEqualContent<Value>(_ left: Value, _ right: Value) -> Bool {
    if isClass(Value.self) { return false }
    if let left = left as? any ConsistentObject, let right = right as? any ConsistentObject {
      return left.consistentID == right.consistentID && self(states: left, right)
    }
    if let left = left as? any ConsistentWrapper, let right = right as? any ConsistentWrapper {
      return haveEqualProperties(left.properties, right.properties)
    }
    if valueWalker(for: Value.self) != nil { return whenUnknown && holdEqualObjects(left, right) }
    if let left = left as? any Equatable { return left.isEqual(to: right) }
    return whenUnknown
  }

  private func haveEqualProperties(_ left: [Property], _ right: [Property]) -> Bool {
    guard left.count == right.count else { return false }
    return left.indices.allSatisfy { left[$0].label == right[$0].label && self(left[$0].value, right[$0].value) }
  }

  /// Whether two containers contain equal objects, whatever else they contain.
  private func holdEqualObjects(_ left: Any, _ right: Any) -> Bool {
    let visitor = ConsistentVisitor()
    visitor.visit(dynamic: left)
    let lefts = visitor.takeFound()
    visitor.visit(dynamic: right)
    let rights = visitor.takeFound()
    return lefts.count == rights.count && zip(lefts, rights).allSatisfy { self($0, $1) }
  }

}
