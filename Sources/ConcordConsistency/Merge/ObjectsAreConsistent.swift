extension ConsistentObject {
  public static func declareConsistentTypes(in types: inout ConsistentTypes) {
    types.insert(object: Self.self)
    types.includeAnything()
  }

  public func visitConsistentObjects(_ visitor: ConsistentVisitor) {
    visitor.visit(object: self)
  }

  public func merged(by merge: ConsistentMerge) -> Self? {
    merge.merged(object: self)
  }
}

extension StaticallyConsistent {
  public static func declareConsistentTypes(in types: inout ConsistentTypes) {
    types.insert(object: Self.self)
    // A property of class type may hold an instance of a subclass, of which nothing is known.
    if Self.self is any AnyObject.Type { types.includeAnything() }
    declareConsistentParts(in: &types)
  }

  @inlinable
  public func visitConsistentObjects(_ visitor: ConsistentVisitor) {
    visitor.visit(object: self)
  }

  @inlinable
  public func merged(by merge: ConsistentMerge) -> Self? {
    if Self.self is any AnyObject.Type { return merge.merged(object: self) }
    let plan = merge.staticPlan(for: Self.self)
    guard plan.isConcerned else { return nil }
    if let position = plan.position(of: self) { return merge.newer(at: position, of: self) }
    return plan.partsAreConcerned ? mergingConsistentParts(merge) : nil
  }
}

extension ConsistentWrapper {
  public static func declareConsistentTypes(in types: inout ConsistentTypes) {
    types.includeAnything()
  }

  public func visitConsistentObjects(_ visitor: ConsistentVisitor) {
    for case (_, let value?) in properties { visitor.visit(dynamic: value) }
  }

  public func merged(by merge: ConsistentMerge) -> Self? {
    merge.setting(self, properties, { $0.properties }, { $0.setting(property: $1) })
  }
}
