import Concord

/// The types of the objects that a value can contain at any depth, collected once per type.
///
/// A merge skips a value whose types have none in common with what was pushed.
public struct ConsistentTypes: Sendable {
  /// The types that were included, so that types which contain each other are included once.
  private var included: Set<ObjectIdentifier> = []
  /// The included types of objects.
  private(set) var objects: Set<ObjectIdentifier> = []
  /// Whether objects of any type may occur, because a type is known only at run time.
  private(set) var isOpen = false

  init() {}

  /// Includes the types that values of a type can contain.
  public mutating func include<Value: ConsistentValue>(_ type: Value.Type) {
    guard included.insert(ObjectIdentifier(type)).inserted else { return }
    Value.declareConsistentTypes(in: &self)
  }

  /// Includes the types that a property can contain.
  public mutating func include<Root, Value: ConsistentValue>(_ property: KeyPath<Root, Value>) {
    include(Value.self)
  }

  /// Includes the types that a property of any type can contain: none, unless its contents are known only at run time.
  public mutating func include<Root, Value>(_ property: KeyPath<Root, Value>) {
    include(unknown: Value.self)
  }

  /// Declares that objects of any type may occur.
  public mutating func includeAnything() {
    isOpen = true
  }

  mutating func insert(object type: any ConsistentObject.Type) {
    objects.insert(ObjectIdentifier(type))
  }

  mutating func include<Value>(unknown type: Value.Type) {
    if let type = type as? any ConsistentValue.Type {
      include(type)
    } else if let type = type as? any DynamicContainer.Type {
      type.includeElements(in: &self)
    } else if !isConcreteValueType(type) {
      includeAnything()
    }
  }

  /// Whether no objects can occur.
  var isEmpty: Bool {
    !isOpen && objects.isEmpty
  }

  func mayContain(anyOf types: Set<ObjectIdentifier>) -> Bool {
    isOpen || !objects.isDisjoint(with: types)
  }
}

/// Whether values of a static type always have this type: it is a struct or an enum, neither a class nor an existential. In
/// doubt, `false`.
func isConcreteValueType(_ type: any Any.Type) -> Bool {
  // The first word of a type's metadata is its kind; the standard library offers no other way to tell an
  // existential type from a concrete one.
  let kind = unsafeBitCast(type, to: UnsafePointer<UInt>.self).pointee
  return kind == 0x200 || kind == 0x201 || kind == 0x202  // struct, enum, optional
}

extension ConsistentTypes {
  private static let known = Locked<[ObjectIdentifier: ConsistentTypes]>([:])
  private static let knownParts = Locked<[ObjectIdentifier: ConsistentTypes]>([:])

  /// Returns the types that values of a type can contain, including their own.
  static func of<Value: ConsistentValue>(_ type: Value.Type) -> ConsistentTypes {
    cached(type, in: known) { $0.include(type) }
  }

  /// Returns the types that can occur inside objects of a type.
  static func ofParts<Object: StaticallyConsistent>(_ type: Object.Type) -> ConsistentTypes {
    cached(type, in: knownParts) { type.declareConsistentParts(in: &$0) }
  }

  private static func cached(
    _ type: any Any.Type, in cache: Locked<[ObjectIdentifier: ConsistentTypes]>,
    gather: (inout ConsistentTypes) -> Void
  ) -> ConsistentTypes {
    let key = ObjectIdentifier(type)
    if let types = cache.withLock({ $0[key] }) { return types }
    // Without the lock, because this runs the user's code.
    var types = ConsistentTypes()
    gather(&types)
    cache.withLock { $0[key] = types }
    return types
  }
}
