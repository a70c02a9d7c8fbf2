// Overloads tell apart what the compiler sees: an entity, a collection of them, a wrapper. What it does not see, because it
// stands deeper (`[String: [Book]?]`) or behind a generic parameter, is found by the type itself, once per type and store.

/// A place that is known only when the program runs, for values of a type that is known.
class FoundPlace<Value> {
  func relation<Root>(at keyPath: WritableKeyPath<Root, Value>) -> Relation<Root> {
    Relation()
  }

  func described<Root>(at keyPath: WritableKeyPath<Root, Value>) -> PartialIdentifiableKeyPath<Root> {
    PartialIdentifiableKeyPath(keyPath, UnknownPlace<Value>.self)
  }

  // Each gives the place of a container of such places.
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

/// The place that values of a type are; `nil` if no entity can stand in them, as far as the type tells.
func findPlace<Value>(_ type: Value.Type) -> FoundPlace<Value>? {
  // Somebody may have made them Identifiable, to list them on a screen.
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

/// A container whose place is another one than that of any mutable collection.
private protocol KnownContainer {
  /// A `FoundPlace<Self>`.
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

/// The type, if its values are entities.
private func entityType(_ type: Any.Type) -> (any (Identifiable & Sendable).Type)? {
  type is any EntityWrapper.Type || type is any _PlainValue.Type ? nil : type as? any (Identifiable & Sendable).Type
}

/// Whether a type that the compiler took for an entity's is a wrapper's, as a generic parameter may be.
@usableFromInline func isWrapper<T>(_ type: T.Type) -> Bool { type is any EntityWrapper.Type }

extension Place {
  /// The relation at a key path to a `Value`, by what that type is.
  static func find<Root>(at keyPath: PartialKeyPath<Root>) -> Relation<Root>? {
    guard let keyPath = keyPath as? WritableKeyPath<Root, Value> else { return nil }
    return findPlace(Value.self)?.relation(at: keyPath)
  }
}

/// Stands for the place that is found by the type when the relation is made. It is described by it only, and never visited.
@usableFromInline enum UnknownPlace<Value>: Place {
  @usableFromInline static var isFoundLater: Bool { true }
  @usableFromInline static func visit(_ value: Value, _ visitor: Visitor) {}
  @usableFromInline static func patch(_ value: inout Value, _ cursor: inout PatchCursor) {}
  @usableFromInline static func remove(from value: inout Value, _ cursor: RemovalCursor) -> Bool { true }
  @usableFromInline static func transplant(_ source: Value, into value: inout Value, _ graph: Graph) -> Bool { false }
}
