/// A collection whose elements a merge visits. If elements can be replaced and removed, the conformance needs no code:
///
/// ```swift
/// extension Deque: ConsistentCollection, ConsistentValue where Element: ConsistentValue {}
/// ```
///
/// A merge removes an element that was removed.
public protocol ConsistentCollection: ConsistentValue, Collection where Element: ConsistentValue {}

extension ConsistentCollection {
  public static func declareConsistentTypes(in types: inout ConsistentTypes) {
    types.include(Element.self)
  }

  @inlinable
  public func visitConsistentObjects(_ visitor: ConsistentVisitor) {
    for element in self { element.visitConsistentObjects(visitor) }
  }
}

extension ConsistentCollection where Self: MutableCollection & RangeReplaceableCollection {
  @inlinable
  public func merged(by merge: ConsistentMerge) -> Self? {
    guard merge.concerns(Element.self) else { return nil }
    return merge.left(of: self) { $0.merged(by: merge) }
  }
}
