/// What one merge has to do for the values of one type, found out once a walk.
@usableFromInline
class MergePlan {
  @usableFromInline let type: ObjectIdentifier
  /// Whether anything can change in a value of this type.
  @usableFromInline let isConcerned: Bool

  init(type: ObjectIdentifier, isConcerned: Bool) {
    self.type = type
    self.isConcerned = isConcerned
  }

  static func make<Value: ConsistentValue>(for type: Value.Type, _ index: ConsistentIndex) -> MergePlan {
    if let type = type as? any StaticallyConsistent.Type { return make(static: type, index) }
    let isConcerned = ConsistentTypes.of(type).mayContain(anyOf: index.types)
    return MergePlan(type: ObjectIdentifier(type), isConcerned: isConcerned)
  }

  private static func make<Object: StaticallyConsistent>(static type: Object.Type, _ index: ConsistentIndex) -> MergePlan {
    StaticMergePlan<Object>(index)
  }
}

@usableFromInline
final class StaticMergePlan<Object: StaticallyConsistent>: MergePlan {
  /// Whether anything can change in the parts of an object, the object itself being none of those that are brought.
  @usableFromInline let partsAreConcerned: Bool
  /// The positions of those objects of this very type which the merge brings.
  @usableFromInline let positions: [Object.ID: Int]
  /// The only one of them, if there is only one: compared instead of hashed.
  @usableFromInline let single: Object.ID?

  init(_ index: ConsistentIndex) {
    let key = ObjectIdentifier(Object.self)
    positions = (index.tables[key] as? StaticIndexTable<Object>)?.positions ?? [:]
    single = positions.count == 1 ? positions.first?.key : nil
    partsAreConcerned = ConsistentTypes.ofParts(Object.self).mayContain(anyOf: index.types)
    let isConcerned = partsAreConcerned || !positions.isEmpty
    super.init(type: key, isConcerned: isConcerned)
  }

  @inlinable
  func position(of object: Object) -> Int? {
    if let single, single != identity(of: object) { return nil }
    return positions.isEmpty ? nil : positions[identity(of: object)]
  }
}
