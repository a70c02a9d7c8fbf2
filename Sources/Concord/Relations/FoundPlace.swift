// Overloads distinguish the types that the compiler knows: an entity, a collection of entities, a wrapper. Deeper types
// (`[String: [Book]?]`), and those behind a generic parameter, are examined at run time, once per type and store.

/// A place found at run time, for values of a known type.
class FoundPlace<Value> {
  func relation<Root>(at keyPath: WritableKeyPath<Root, Value>) -> Relation<Root> {
    Relation()
  }

  func described<Root>(at keyPath: WritableKeyPath<Root, Value>) -> PartialIdentifiableKeyPath<Root> {
    PartialIdentifiableKeyPath(keyPath, UnknownPlace<Value>.self)
  }

  // Each method returns the place of a container of such places.
  func inOptional() -> FoundPlace<Value?> { FoundPlace<Value?>() }
  func inDictionary<Key>(_ key: Key.Type) -> FoundPlace<[Key: Value]> { FoundPlace<[Key: Value]>() }
  func inSet() -> FoundPlace<Set<Value>> where Value: Hashable { FoundPlace<Set<Value>>() }
  func inCollection<C: MutableCollection>(_ type: C.Type) -> FoundPlace<C> where C.Element == Value { FoundPlace<C>() }
}

private final class FoundPlaceOf<P: Place>: FoundPlace<P.Value> {
  override func relation<Root>(at keyPath: WritableKeyPath<Root, P.Value>) -> Relation<Root> {
    Concord.makeRelation(P.self, at: keyPath)
  }

  override func described<Root>(at keyPath: WritableKeyPath<Root, P.Value>) -> PartialIdentifiableKeyPath<Root> {
    PartialIdentifiableKeyPath(keyPath, P.self)
  }

  override func inOptional() -> FoundPlace<P.Value?> { FoundPlaceOf<OptionalPlace<P>>() }
  override func inDictionary<Key>(_ key: Key.Type) -> FoundPlace<[Key: P.Value]> { FoundPlaceOf<KeyedPlace<Key, P>>() }
  override func inSet() -> FoundPlace<Set<P.Value>> where P.Value: Hashable { FoundPlaceOf<HashedPlace<P>>() }
  override func inCollection<C: MutableCollection>(_ type: C.Type) -> FoundPlace<C> where C.Element == P.Value {
    FoundPlaceOf<CollectionPlace<C, P>>()
  }
}

/// Returns the place for values of a type; `nil` if the type tells that they contain no entities.
func findPlace<Value>(_ type: Value.Type) -> FoundPlace<Value>? {
  // The user's code may have made plain types Identifiable, to list them on a screen.
  if type is any _PlainValue.Type { return nil }
  func wrapper<W: EntityWrapper>(_: W.Type) -> AnyObject { FoundPlaceOf<WrapperPlace<W>>() }
  func entity<T: Identifiable & Sendable>(_: T.Type) -> AnyObject { FoundPlaceOf<EntityPlace<T>>() }
  func collection<C: MutableCollection>(_: C.Type) -> AnyObject? { findPlace(C.Element.self)?.inCollection(C.self) }
  let found: AnyObject? =
    if let type = type as? any EntityWrapper.Type {
      wrapper(type)
    } else if let type = type as? any (Identifiable & Sendable).Type {
      entity(type)
    } else if let type = type as? any KnownContainer.Type {
      type.place
    } else if let type = type as? any MutableCollection.Type {
      collection(type)
    } else {
      nil
    }
  return found as? FoundPlace<Value>
}

/// A container with a place of its own, other than that of any mutable collection.
private protocol KnownContainer {
  /// The place, a `FoundPlace<Self>`; `nil` if the container holds no entities.
  static var place: AnyObject? { get }
}

extension Optional: KnownContainer {
  fileprivate static var place: AnyObject? { findPlace(Wrapped.self)?.inOptional() }
}

extension Dictionary: KnownContainer {
  fileprivate static var place: AnyObject? {
    func ofEntities<T: Identifiable & Sendable>(_: T.Type) -> AnyObject { FoundPlaceOf<DictionaryPlace<Key, T>>() }
    if let type = entityType(Value.self) { return ofEntities(type) }
    return findPlace(Value.self)?.inDictionary(Key.self)
  }
}

extension Array: KnownContainer {
  fileprivate static var place: AnyObject? {
    func ofEntities<T: Identifiable & Sendable>(_: T.Type) -> AnyObject { FoundPlaceOf<ArrayPlace<T>>() }
    if let type = entityType(Element.self) { return ofEntities(type) }
    return findPlace(Element.self)?.inCollection(Self.self)
  }
}

extension Set: KnownContainer {
  fileprivate static var place: AnyObject? {
    func ofEntities<T: Identifiable & Sendable>(_: T.Type) -> AnyObject? {
      func hashed<H: Identifiable & Hashable & Sendable>(_: H.Type) -> AnyObject { FoundPlaceOf<SetPlace<H>>() }
      return (T.self as? any (Identifiable & Hashable & Sendable).Type).map { hashed($0) }
    }
    if let type = entityType(Element.self) { return ofEntities(type) }
    return findPlace(Element.self)?.inSet()
  }
}

/// Returns the type if its values are entities.
private func entityType(_ type: Any.Type) -> (any (Identifiable & Sendable).Type)? {
  type is any EntityWrapper.Type || type is any _PlainValue.Type ? nil : type as? any (Identifiable & Sendable).Type
}

/// Whether a type for which the compiler selected an entity's overload is a wrapper, as a generic parameter may be.
@usableFromInline func isWrapper<T>(_ type: T.Type) -> Bool { type is any EntityWrapper.Type }

extension Place {
  /// Returns the relation at a key path to a `Value`, by examining that type.
  static func find<Root>(at keyPath: PartialKeyPath<Root>) -> Relation<Root>? {
    guard let keyPath = keyPath as? WritableKeyPath<Root, Value> else { return nil }
    return findPlace(Value.self)?.relation(at: keyPath)
  }
}

/// A placeholder for a place that is found at run time, when the relation is made. It is never visited.
@usableFromInline enum UnknownPlace<Value>: Place {
  @usableFromInline static var isFoundLater: Bool { true }
  @usableFromInline static func visit(_ value: Value, _ visitor: Visitor) {}
  @usableFromInline static func patch(_ value: inout Value, _ cursor: inout PatchCursor) {}
  @usableFromInline static func remove(from value: inout Value, _ cursor: RemovalCursor) -> Bool { true }
  @usableFromInline static func transplant(_ source: Value, into value: inout Value, _ graph: Graph) -> Bool { false }
}
