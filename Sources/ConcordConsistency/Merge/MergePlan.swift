/// The work of one merge for values of one type, found out once a walk.
@usableFromInline
class MergePlan {
  @usableFromInline
  init() {}
}

@usableFromInline
final class StaticMergePlan<Object: StaticallyConsistent>: MergePlan {
  /// Whether the merge can change the parts of an object that it does not bring itself.
  @usableFromInline let partsAreConcerned: Bool
  /// Whether objects of this type can contain each other, at any depth.
  @usableFromInline let isRecursive: Bool
  /// The positions of the objects of this type that the merge brings.
  @usableFromInline let positions: [Object.ID: Int]
  /// The id of the only such object, if there is one: compared instead of hashed.
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
