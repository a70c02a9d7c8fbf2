/// A collection whose elements a merge looks into. Where elements can be replaced and taken out, nothing needs to be written
/// for it:
///
/// ```swift
/// extension Deque: ConsistentCollection, ConsistentValue where Element: ConsistentValue {}
/// ```
///
/// An element that was removed is taken out.
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
