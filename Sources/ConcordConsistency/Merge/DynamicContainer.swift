/// A container whose elements are no ``ConsistentValue`` by their static type, such as `[any Model]` or `[Any]`.
///
/// Its elements are looked at one by one at run time.
protocol DynamicContainer {
  static func includeElements(in types: inout ConsistentTypes)
  func visitElements(_ visitor: ConsistentVisitor)
  func mergedElements(by merge: ConsistentMerge) -> Self?
}

extension Optional: DynamicContainer {
  static func includeElements(in types: inout ConsistentTypes) {
    types.include(unknown: Wrapped.self)
  }

  func visitElements(_ visitor: ConsistentVisitor) {
    if let self { visitor.visit(dynamic: self) }
  }

  func mergedElements(by merge: ConsistentMerge) -> Wrapped?? {
    guard let self, let newer = merge.updated(dynamic: self) as? Wrapped else { return nil }
    return .some(.some(newer))
  }
}

extension Array: DynamicContainer {
  static func includeElements(in types: inout ConsistentTypes) {
    types.include(unknown: Element.self)
  }

  func visitElements(_ visitor: ConsistentVisitor) {
    for element in self { visitor.visit(dynamic: element) }
  }

  func mergedElements(by merge: ConsistentMerge) -> [Element]? {
    var result: [Element]?
    for index in indices {
      guard let newer = merge.updated(dynamic: self[index]) as? Element else { continue }
      if result == nil { result = self }
      result?[index] = newer
    }
    return result
  }
}

extension Dictionary: DynamicContainer {
  static func includeElements(in types: inout ConsistentTypes) {
    types.include(unknown: Value.self)
  }

  func visitElements(_ visitor: ConsistentVisitor) {
    for value in values { visitor.visit(dynamic: value) }
  }

  func mergedElements(by merge: ConsistentMerge) -> [Key: Value]? {
    var result: [Key: Value]?
    for (key, value) in self {
      guard let newer = merge.updated(dynamic: value) as? Value else { continue }
      if result == nil { result = self }
      result?[key] = newer
    }
    return result
  }
}
