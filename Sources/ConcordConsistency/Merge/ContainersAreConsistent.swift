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
    guard let self, let newer = self.merged(by: merge) else { return nil }
    return .some(.some(newer))
  }
}

extension Array: ConsistentValue where Element: ConsistentValue {
  public static func declareConsistentTypes(in types: inout ConsistentTypes) {
    types.include(Element.self)
  }

  @inlinable
  public func visitConsistentObjects(_ visitor: ConsistentVisitor) {
    for element in self { element.visitConsistentObjects(visitor) }
  }

  @inlinable
  public func merged(by merge: ConsistentMerge) -> [Element]? {
    // A long array asks first: what is cheap for one element adds up.
    if count >= 16 {
      if let type = Element.self as? any StaticallyConsistent.Type { return merged(as: type, by: merge) }
      guard merge.concerns(Element.self) else { return nil }
    }
    return merging { $0.pointee.merged(by: merge) }
  }

  @usableFromInline
  func merged<Object: StaticallyConsistent>(as type: Object.Type, by merge: ConsistentMerge) -> [Element]? {
    // `Object` is `Element`; a cast would go through all elements to see that.
    assert(Object.self == Element.self)
    return unsafeBitCast(Object.merged(all: unsafeBitCast(self, to: [Object].self), by: merge), to: [Element]?.self)
  }
}

extension ContiguousArray: ConsistentValue where Element: ConsistentValue {
  public static func declareConsistentTypes(in types: inout ConsistentTypes) {
    types.include(Element.self)
  }

  public func visitConsistentObjects(_ visitor: ConsistentVisitor) {
    for element in self { element.visitConsistentObjects(visitor) }
  }

  public func merged(by merge: ConsistentMerge) -> ContiguousArray? {
    Array(self).merged(by: merge).map { ContiguousArray($0) }
  }
}

extension ArraySlice: ConsistentValue where Element: ConsistentValue {
  public static func declareConsistentTypes(in types: inout ConsistentTypes) {
    types.include(Element.self)
  }

  public func visitConsistentObjects(_ visitor: ConsistentVisitor) {
    for element in self { element.visitConsistentObjects(visitor) }
  }

  public func merged(by merge: ConsistentMerge) -> ArraySlice? {
    // Element by element, because a slice keeps its indices.
    var result: ArraySlice?
    for index in indices {
      guard let newer = self[index].merged(by: merge) else { continue }
      if result == nil { result = self }
      result?[index] = newer
    }
    return result
  }
}

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
    var result: [Key: Value]?
    for (key, value) in self {
      guard let newer = value.merged(by: merge) else { continue }
      if result == nil { result = self }
      result?[key] = newer
    }
    return result
  }
}

extension Set: ConsistentValue where Element: ConsistentValue {
  public static func declareConsistentTypes(in types: inout ConsistentTypes) {
    types.include(Element.self)
  }

  @inlinable
  public func visitConsistentObjects(_ visitor: ConsistentVisitor) {
    for element in self { element.visitConsistentObjects(visitor) }
  }

  @inlinable
  public func merged(by merge: ConsistentMerge) -> Set? {
    guard merge.concerns(Element.self) else { return nil }
    var changed = false
    let elements = map { element in
      guard let newer = element.merged(by: merge) else { return element }
      changed = true
      return newer
    }
    return changed ? Set(elements) : nil
  }
}
