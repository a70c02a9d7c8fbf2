/// A place in `Root` where entities stand: a writable key path to an entity, or to something that holds entities.
///
/// ```swift
/// var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.author), .init(\.books)] }
/// ```
///
/// The path may lead through any depth of plain structs. A stored property is reached by its offset in memory, a computed
/// one through its getter and setter.
public struct PartialIdentifiableKeyPath<Root> {
  @usableFromInline let keyPath: PartialKeyPath<Root>
  @usableFromInline let place: any Place.Type
  @usableFromInline let make: (PartialKeyPath<Root>) -> Relation<Root>?

  @inlinable init<P: Place>(_ keyPath: WritableKeyPath<Root, P.Value>, _ place: P.Type) {
    self.keyPath = keyPath
    self.place = place
    make = { ($0 as? WritableKeyPath<Root, P.Value>).map { Concord.makeRelation(P.self, at: $0) } }
  }

  /// The path leads nowhere: an entity cannot stand inside itself.
  var isSelf: Bool { keyPath == \Root.self }

  /// The function got the key path it was made with, so there is a relation.
  func makeRelation() -> Relation<Root> {
    (place.isFoundLater ? place.find(at: keyPath) : make(keyPath)) ?? Relation()
  }

  /// The same literal gives the same key path, most often.
  @inlinable @inline(__always) func isSame(as other: Self) -> Bool {
    ObjectIdentifier(place) == ObjectIdentifier(other.place)
      && (keyPath === other.keyPath || areEqual(keyPath, other.keyPath))
  }

}

// Not specialised for each type of values, since that is rarely needed.
@inline(never)
@usableFromInline func areEqual(_ one: AnyKeyPath, _ other: AnyKeyPath) -> Bool { one == other }

// MARK: Entities and aggregates

extension PartialIdentifiableKeyPath {
  /// An entity.
  @inlinable public init<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, T>) {
    self.init(keyPath, EntityPlace<T>.self)
  }

  /// An optional entity.
  @inlinable public init<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, T?>) {
    self.init(keyPath, OptionalPlace<EntityPlace<T>>.self)
  }

  /// An optional optional entity, as an optional property of an optional wrapper gives.
  @inlinable public init<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, T??>) {
    self.init(keyPath, OptionalPlace<OptionalPlace<EntityPlace<T>>>.self)
  }

  /// An array of entities.
  @inlinable public init<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, [T]>) {
    self.init(keyPath, ArrayPlace<T>.self)
  }

  /// An optional array of entities.
  @inlinable public init<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, [T]?>) {
    self.init(keyPath, OptionalPlace<ArrayPlace<T>>.self)
  }

  /// Any other mutable collection of entities. An entity removed from the store is taken out if the collection can
  /// shrink (`RangeReplaceableCollection`); otherwise `Root` is removed with it.
  @inlinable public init<C: MutableCollection>(
    _ keyPath: WritableKeyPath<Root, C>
  ) where C.Element: Identifiable & Sendable {
    self.init(keyPath, CollectionPlace<C, EntityPlace<C.Element>>.self)
  }

  /// An optional mutable collection of entities.
  @inlinable public init<C: MutableCollection>(
    _ keyPath: WritableKeyPath<Root, C?>
  ) where C.Element: Identifiable & Sendable {
    self.init(keyPath, OptionalPlace<CollectionPlace<C, EntityPlace<C.Element>>>.self)
  }

  /// A set of entities.
  @inlinable public init<T: Identifiable & Hashable & Sendable>(_ keyPath: WritableKeyPath<Root, Set<T>>) {
    self.init(keyPath, SetPlace<T>.self)
  }

  /// An optional set of entities.
  @inlinable public init<T: Identifiable & Hashable & Sendable>(_ keyPath: WritableKeyPath<Root, Set<T>?>) {
    self.init(keyPath, OptionalPlace<SetPlace<T>>.self)
  }

  /// A dictionary whose values are entities.
  @inlinable public init<Key: Hashable, T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, [Key: T]>) {
    self.init(keyPath, DictionaryPlace<Key, T>.self)
  }

  /// An optional dictionary whose values are entities.
  @inlinable public init<Key: Hashable, T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, [Key: T]?>) {
    self.init(keyPath, OptionalPlace<DictionaryPlace<Key, T>>.self)
  }
}

// MARK: Wrappers

extension PartialIdentifiableKeyPath {
  /// A wrapper.
  @inlinable public init<W: EntityWrapper>(wrapper keyPath: WritableKeyPath<Root, W>) {
    self.init(keyPath, WrapperPlace<W>.self)
  }

  /// An optional wrapper.
  @inlinable public init<W: EntityWrapper>(wrapper keyPath: WritableKeyPath<Root, W?>) {
    self.init(keyPath, OptionalPlace<WrapperPlace<W>>.self)
  }

  /// A collection of wrappers.
  @inlinable public init<C: MutableCollection>(wrapper keyPath: WritableKeyPath<Root, C>)
  where C.Element: EntityWrapper {
    self.init(keyPath, CollectionPlace<C, WrapperPlace<C.Element>>.self)
  }

  /// An optional collection of wrappers.
  @inlinable public init<C: MutableCollection>(wrapper keyPath: WritableKeyPath<Root, C?>)
  where C.Element: EntityWrapper {
    self.init(keyPath, OptionalPlace<CollectionPlace<C, WrapperPlace<C.Element>>>.self)
  }
}

// MARK: Read-only places

extension PartialIdentifiableKeyPath {
  // Never runs: a call does not compile, and gives the message instead. The body only has to exist.
  @available(
    *, unavailable,
    message:
      "the store writes newer values here: declare it with var, and what stands in an optional or an enum as an EntityWrapper"
  )
  public init<Value>(_ keyPath: KeyPath<Root, Value>) { fatalError("unavailable") }

  // Never runs, as above.
  @available(
    *, unavailable,
    message:
      "the store writes newer values here: declare it with var, and what stands in an optional or an enum as an EntityWrapper"
  )
  public init<Value>(wrapper keyPath: KeyPath<Root, Value>) { fatalError("unavailable") }
}
