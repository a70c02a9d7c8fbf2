/// Whether two property values are the same as far as one can tell. Without `Equatable` to rely on, equal bits and
/// equal properties count.
func isSame(_ left: Any?, _ right: Any?) -> Bool {
  switch (left, right) {
  case (nil, nil): true
  case (let left?, let right?): isSamePresent(left, right)
  default: false
  }
}

private func isSamePresent(_ left: Any, _ right: Any) -> Bool {
  func compare<Value>(_ left: Value) -> Bool {
    guard let right = right as? Value, type(of: right as Any) == type(of: left as Any) else { return false }
    return haveEqualBits(left, right) || haveEqualContent(left, right)
  }
  return _openExistential(left, do: compare)
}

private func haveEqualBits<Value>(_ left: Value, _ right: Value) -> Bool {
  withUnsafeBytes(of: left) { left in withUnsafeBytes(of: right) { left.elementsEqual($0) } }
}

private func haveEqualContent<Value>(_ left: Value, _ right: Value) -> Bool {
  switch (left, right) {
  case (let left as any ConsistentObject, let right as any ConsistentObject):
    if Value.self is any AnyObject.Type { return false }
    return left.consistentID == right.consistentID && haveEqualProperties(left.properties, right.properties)
  case (let left as any ConsistentWrapper, let right as any ConsistentWrapper):
    return haveEqualProperties(left.properties, right.properties)
  case (let left as any Equatable, _):
    if !(left is any ConsistentValue) { return isEqual(left, right) }
  default: break
  }
  guard left is any ConsistentValue || left is any DynamicContainer else { return true }
  let visitor = ConsistentVisitor()
  visitor.visit(dynamic: left)
  let lefts = visitor.takeFound()
  visitor.visit(dynamic: right)
  let rights = visitor.takeFound()
  return lefts.count == rights.count && zip(lefts, rights).allSatisfy { isSamePresent($0, $1) }
}

private func haveEqualProperties(_ left: [Property], _ right: [Property]) -> Bool {
  left.count == right.count && zip(left, right).allSatisfy { $0.label == $1.label && isSame($0.value, $1.value) }
}

private func isEqual<Value: Equatable>(_ left: Value, _ right: Any) -> Bool {
  left == right as? Value
}
