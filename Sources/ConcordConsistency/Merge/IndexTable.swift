/// A table of the positions of the objects of one type, by id.
class IndexTable {
  /// Whether the objects are class instances.
  let holdsInstances: Bool
  /// Whether the objects contain nothing.
  let isFlat: Bool

  init(type: any ConsistentObject.Type) {
    holdsInstances = type is any AnyObject.Type
    let parts = (type as? any StaticallyConsistent.Type).map { ConsistentTypes.ofParts($0) }
    isFlat = parts?.isEmpty ?? false
  }

  /// Inserts the object at `position` if its id is new. Returns the position of its id; `nil` if it has another type.
  func insert(_ object: any ConsistentObject, at position: Int) -> (position: Int, isNew: Bool)? { nil }

  // Generic, since boxing an object costs more than finding it.
  func position<Object: ConsistentObject>(of object: Object) -> Int? { nil }

  /// Visits the objects inside an object.
  func visitParts(of object: any ConsistentObject, _ visitor: ConsistentVisitor) {}

  /// Whether two states of one object are certainly the same, if that is cheaper to find out than merging them.
  func areSame(_ left: any ConsistentObject, _ right: any ConsistentObject) -> Bool { false }

  /// Returns a table for up to `capacity` objects of a type.
  static func make(for type: any ConsistentObject.Type, capacity: Int) -> IndexTable {
    if let type = type as? any StaticallyConsistent.Type { return make(static: type, capacity: capacity) }
    return DynamicIndexTable(type: type, capacity: capacity)
  }

  private static func make<Object: StaticallyConsistent>(static type: Object.Type, capacity: Int) -> IndexTable {
    StaticIndexTable<Object>(type: type, capacity: capacity)
  }
}

final class DynamicIndexTable: IndexTable {
  private var positions: [AnyHashable: Int] = [:]
  private var knownToListAllFields: Bool?

  init(type: any ConsistentObject.Type, capacity: Int) {
    super.init(type: type)
    // Most lookups find nothing: in a sparse table few ids are compared, which is slow for boxed ones.
    positions.reserveCapacity(max(capacity, 64))
  }

  override func insert(_ object: any ConsistentObject, at position: Int) -> (position: Int, isNew: Bool)? {
    positions.insert(position, for: object.consistentID)
  }

  override func position<Object: ConsistentObject>(of object: Object) -> Int? {
    positions[object.consistentID]
  }

  override func visitParts(of object: any ConsistentObject, _ visitor: ConsistentVisitor) {
    visitor.visitProperties(of: object)
  }

  override func areSame(_ left: any ConsistentObject, _ right: any ConsistentObject) -> Bool {
    if SameState.haveEqualBits(boxed: left, right) { return true }
    if holdsInstances { return false }
    return listsAllFields(left) && SameState.areSame(left.properties, right.properties, budget: 64)
  }

  /// Whether the properties of an object are all of its fields. If not, comparing more than the bits costs more than merging.
  private func listsAllFields(_ object: any ConsistentObject) -> Bool {
    if let known = knownToListAllFields { return known }
    let listed = Set(object.properties.map(\.label))
    let listsAll = Mirror(reflecting: object).children.allSatisfy { $0.label.map(listed.contains) ?? false }
    knownToListAllFields = listsAll
    return listsAll
  }
}

/// A table whose ids are not boxed.
final class StaticIndexTable<Object: StaticallyConsistent>: IndexTable {
  private(set) var positions: [Object.ID: Int] = [:]

  init(type: Object.Type, capacity: Int) {
    super.init(type: type)
    positions.reserveCapacity(capacity)
  }

  override func insert(_ object: any ConsistentObject, at position: Int) -> (position: Int, isNew: Bool)? {
    (object as? Object).map { positions.insert(position, for: identity(of: $0)) }
  }

  override func position<Other: ConsistentObject>(of object: Other) -> Int? {
    (object as? Object).flatMap { positions[identity(of: $0)] }
  }

  override func visitParts(of object: any ConsistentObject, _ visitor: ConsistentVisitor) {
    (object as? Object)?.visitConsistentParts(visitor)
  }

  override func areSame(_ left: any ConsistentObject, _ right: any ConsistentObject) -> Bool {
    // Comparing more than the bits costs more than merging.
    SameState.haveEqualBits(boxed: left, right)
  }
}

extension Dictionary where Value == Int {
  fileprivate mutating func insert(_ position: Int, for key: Key) -> (position: Int, isNew: Bool) {
    let before = count
    // One look-up, with one hash, for both cases.
    let known = { (known: inout Int) in known }(&self[key, default: position])
    return (known, count > before)
  }
}
