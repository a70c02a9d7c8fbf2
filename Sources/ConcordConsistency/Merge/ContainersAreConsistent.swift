extension Optional: ConsistentValue where Wrapped: ConsistentValue {
  public static func declareConsistentTypes(in types: inout ConsistentTypes) {
    types.include(Wrapped.self)
  }

  @inlinable
  public func visitConsistentObjects(_ visitor: ConsistentVisitor) {
    if let self { self.visitConsistentObjects(visitor) }
  }

  @inlinable
  public func merged(by merge: ConsistentMerge) -> Wrapped?? {
    guard let self else { return nil }
    switch merge.fate(of: self) {
    case .stays: return nil
    case .changes(let newer): return .some(.some(newer))
    case .goes: return .some(.none)
    }
  }
}

extension Array: ConsistentCollection, ConsistentValue where Element: ConsistentValue {
  @inlinable
  public func merged(by merge: ConsistentMerge) -> [Element]? {
    // A long array checks first, since small costs for each element add up.
    if count >= 16 {
      if let type = Element.self as? any StaticallyConsistent.Type { return merged(as: type, by: merge) }
      guard merge.concerns(Element.self) else { return nil }
    }
    if merge.removes { return merge.left(of: self) { $0.merged(by: merge) } }
    return merging { $0.pointee.merged(by: merge) }
  }

  @usableFromInline
  func merged<Object: StaticallyConsistent>(as type: Object.Type, by merge: ConsistentMerge) -> [Element]? {
    // `Object` is `Element`. Casting the array would visit its elements; casting an `Any` finds that the type is the same.
    guard let objects = self as Any as? [Object], let newer = Object.merged(all: objects, by: merge) else { return nil }
    return newer as Any as? [Element]
  }
}

extension ContiguousArray: ConsistentCollection, ConsistentValue where Element: ConsistentValue {}

extension ArraySlice: ConsistentCollection, ConsistentValue where Element: ConsistentValue {}

extension Dictionary: ConsistentValue where Value: ConsistentValue {
  public static func declareConsistentTypes(in types: inout ConsistentTypes) {
    types.include(Value.self)
  }

  @inlinable
  public func visitConsistentObjects(_ visitor: ConsistentVisitor) {
    for value in values { value.visitConsistentObjects(visitor) }
  }

  @inlinable
  public func merged(by merge: ConsistentMerge) -> [Key: Value]? {
    guard merge.concerns(Value.self) else { return nil }
    return merge.left(of: self) { $0.merged(by: merge) }
  }
}

extension Set: ConsistentCollection, ConsistentValue where Element: ConsistentValue {
  @inlinable
  public func merged(by merge: ConsistentMerge) -> Set? {
    guard merge.concerns(Element.self) else { return nil }
    return merge.left(of: Array(self)) { $0.merged(by: merge) }.map { Set($0) }
  }
}
