/// The positions of the objects of one type, by id.
class IndexTable {
  /// Whether the objects are class instances.
  let holdsInstances: Bool
  /// Whether nothing can be inside of the objects.
  let isFlat: Bool

  init(type: any ConsistentObject.Type) {
    holdsInstances = type is any AnyObject.Type
    let parts = (type as? any StaticallyConsistent.Type).map { ConsistentTypes.ofParts($0) }
    isFlat = parts?.isEmpty ?? false
  }

  /// Inserts the object at `position` if its id is new; the position of its id in any case, unless it has another type.
  func insert(_ object: any ConsistentObject, at position: Int) -> (position: Int, isNew: Bool)? { nil }

  func position(of object: any ConsistentObject) -> Int? { nil }

  /// Visits what is in the object, without the object itself.
  func visitParts(of object: any ConsistentObject, _ visitor: ConsistentVisitor) {}

  static func make(for type: any ConsistentObject.Type) -> IndexTable {
    if let type = type as? any StaticallyConsistent.Type { return make(static: type) }
    return DynamicIndexTable(type: type)
  }

  private static func make<Object: StaticallyConsistent>(static type: Object.Type) -> IndexTable {
    StaticIndexTable<Object>(type: type)
  }
}

final class DynamicIndexTable: IndexTable {
  private var positions: [AnyHashable: Int] = [:]

  override func insert(_ object: any ConsistentObject, at position: Int) -> (position: Int, isNew: Bool)? {
    positions.insert(position, for: object.consistentID)
  }

  override func position(of object: any ConsistentObject) -> Int? {
    positions[object.consistentID]
  }

  override func visitParts(of object: any ConsistentObject, _ visitor: ConsistentVisitor) {
    for case (_, let value?) in object.properties { visitor.visit(dynamic: value) }
  }
}

/// A table whose ids are not boxed.
final class StaticIndexTable<Object: StaticallyConsistent>: IndexTable {
  private(set) var positions: [Object.ID: Int] = [:]

  override func insert(_ object: any ConsistentObject, at position: Int) -> (position: Int, isNew: Bool)? {
    (object as? Object).map { positions.insert(position, for: identity(of: $0)) }
  }

  override func position(of object: any ConsistentObject) -> Int? {
    (object as? Object).flatMap { positions[identity(of: $0)] }
  }

  override func visitParts(of object: any ConsistentObject, _ visitor: ConsistentVisitor) {
    (object as? Object)?.visitConsistentParts(visitor)
  }
}

extension Dictionary where Value == Int {
  fileprivate mutating func insert(_ position: Int, for key: Key) -> (position: Int, isNew: Bool) {
    if let known = self[key] { return (known, false) }
    self[key] = position
    return (position, true)
  }
}
