extension ConsistentObject {
  public static func declareConsistentTypes(in types: inout ConsistentTypes) {
    types.insert(object: Self.self)
    types.includeAnything()
  }

  public func visitConsistentObjects(_ visitor: ConsistentVisitor) {
    visitor.visit(object: self)
  }

  @inlinable
  public func merged(by merge: ConsistentMerge) -> Self? {
    if merge.isOver { return nil }
    if merge.brings(type(of: self)), let position = merge.position(of: self) {
      return merge.newer(at: position, of: self)
    }
    return merge.once(self) { merge.deeper { mergingProperties(merge) } }
  }

  @inlinable
  func mergingProperties(_ merge: ConsistentMerge) -> Self? {
    guard let changes = merge.changes(in: properties) else { return nil }
    return merge.setting(changes, in: self, { $0.properties }, { $0.setting(property: $1) })
  }
}

extension StaticallyConsistent {
  public static func declareConsistentTypes(in types: inout ConsistentTypes) {
    types.insert(object: Self.self)
    // A property of class type may contain an instance of an unknown subclass.
    if isClass(Self.self) { types.includeAnything() }
    declareConsistentParts(in: &types)
  }

  @inlinable
  public func visitConsistentObjects(_ visitor: ConsistentVisitor) {
    visitor.visit(object: self)
  }

  @inlinable
  public func merged(by merge: ConsistentMerge) -> Self? {
    if merge.isOver { return nil }
    if isClass(Self.self) { return mergedInstance(by: merge) }
    return merge.withPlan(for: Self.self) { merged(by: merge, $0) }
  }

  @inlinable
  func merged(by merge: ConsistentMerge, _ plan: StaticMergePlan<Self>) -> Self? {
    if let position = plan.position(of: self) { return merge.newer(at: position, of: self) }
    if !plan.partsAreConcerned { return nil }
    guard plan.isRecursive else { return mergingConsistentParts(merge) }
    return merge.once(self) { merge.deeper { mergingConsistentParts(merge) } }
  }

  @inlinable
  public static func merged(all elements: [Self], by merge: ConsistentMerge) -> [Self]? {
    if isClass(Self.self) {
      if merge.removes { return merge.left(of: elements) { $0.mergedInstance(by: merge) } }
      return elements.merging { $0.pointee.mergedInstance(by: merge) }
    }
    return merge.withPlan(for: Self.self) { plan in
      guard plan.partsAreConcerned || !plan.positions.isEmpty else { return nil }
      if merge.removes { return merge.left(of: elements) { merge.isOver ? nil : $0.merged(by: merge, plan) } }
      return elements.merging(until: { merge.isOver }) { $0.pointee.merged(by: merge, plan) }
    }
  }

  /// Merges a class instance, which may be one of a subclass.
  @usableFromInline
  func mergedInstance(by merge: ConsistentMerge) -> Self? {
    if let position = merge.position(of: self) { return merge.newer(at: position, of: self) }
    return merge.once(self) { merge.deeper { mergingConsistentParts(merge) } }
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
    guard let changes = merge.changes(in: properties) else { return nil }
    return merge.setting(changes, in: self, { $0.properties }, { $0.setting(property: $1) })
  }
}
