/// What one merge has to do for the values of one type, found out once a walk.
@usableFromInline
class MergePlan {
  @usableFromInline
  init() {}
}

@usableFromInline
final class StaticMergePlan<Object: StaticallyConsistent>: MergePlan {
  /// Whether anything can change in the parts of an object, the object itself being none of those that are brought.
  @usableFromInline let partsAreConcerned: Bool
  /// Whether objects of this type can be inside of each other, and so at any depth.
  @usableFromInline let isRecursive: Bool
  /// The positions of those objects of this very type which the merge brings.
  @usableFromInline let positions: [Object.ID: Int]
  /// The only one of them, if there is only one: compared instead of hashed.
  @usableFromInline let single: Object.ID?

  @usableFromInline
  init(_ index: ConsistentIndex) {
    positions = (index.table(for: Object.self) as? StaticIndexTable<Object>)?.positions ?? [:]
    single = positions.count == 1 ? positions.first?.key : nil
    let parts = ConsistentTypes.ofParts(Object.self)
    partsAreConcerned = parts.mayContain(anyOf: index.types)
    isRecursive = parts.mayContain(anyOf: [ObjectIdentifier(Object.self)])
  }

  @inlinable
  func position(of object: Object) -> Int? {
    if positions.isEmpty { return nil }
    if let single, single != identity(of: object) { return nil }
    return positions[identity(of: object)]
  }
}
