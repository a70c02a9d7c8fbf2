/// A container whose elements are no ``ConsistentValue`` by their static type, such as `[any Model]` or `[Any]`, and are
/// examined one by one at run time.
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
    guard let self else { return nil }
    switch merge.withFate({ merge.updated(dynamic: self) as? Wrapped }) {
    case .stays: return nil
    case .changes(let newer): return .some(.some(newer))
    case .goes: return .some(.none)
    }
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
    merge.left(of: self) { merge.updated(dynamic: $0) as? Element }
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
    merge.left(of: self) { merge.updated(dynamic: $0) as? Value }
  }
}
