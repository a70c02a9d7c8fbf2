// The places that a key path can lead to, by the type of the property.

// MARK: Entities and aggregates

extension PartialIdentifiableKeyPath {
  /// Creates a path to an entity.
  @inlinable public init<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, T>) {
    self.init(keyPath, EntityPlace<T>.self)
  }

  /// Creates a path to an optional entity.
  @inlinable public init<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, T?>) {
    self.init(keyPath, OptionalPlace<EntityPlace<T>>.self)
  }

  /// Creates a path to an optional of an optional entity, such as an optional property of an optional wrapper.
  @inlinable public init<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, T??>) {
    self.init(keyPath, OptionalPlace<OptionalPlace<EntityPlace<T>>>.self)
  }

  /// Creates a path to an array of entities.
  @inlinable public init<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, [T]>) {
    self.init(keyPath, ArrayPlace<T>.self)
  }

  /// Creates a path to an optional array of entities.
  @inlinable public init<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, [T]?>) {
    self.init(keyPath, OptionalPlace<ArrayPlace<T>>.self)
  }

  /// Creates a path to a mutable collection of entities.
  ///
  /// An entity that is removed from the store is removed from the collection if that can shrink (`RangeReplaceableCollection`);
  /// otherwise `Root` is removed with the entity.
  @inlinable public init<C: MutableCollection>(
    _ keyPath: WritableKeyPath<Root, C>
  ) where C.Element: Identifiable & Sendable {
    self.init(keyPath, CollectionPlace<C, EntityPlace<C.Element>>.self)
  }

  /// Creates a path to an optional mutable collection of entities.
  @inlinable public init<C: MutableCollection>(
    _ keyPath: WritableKeyPath<Root, C?>
  ) where C.Element: Identifiable & Sendable {
    self.init(keyPath, OptionalPlace<CollectionPlace<C, EntityPlace<C.Element>>>.self)
  }

  /// Creates a path to a set of entities.
  @inlinable public init<T: Identifiable & Hashable & Sendable>(_ keyPath: WritableKeyPath<Root, Set<T>>) {
    self.init(keyPath, SetPlace<T>.self)
  }

  /// Creates a path to an optional set of entities.
  @inlinable public init<T: Identifiable & Hashable & Sendable>(_ keyPath: WritableKeyPath<Root, Set<T>?>) {
    self.init(keyPath, OptionalPlace<SetPlace<T>>.self)
  }

  /// Creates a path to a dictionary whose values are entities.
  @inlinable public init<Key: Hashable, T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, [Key: T]>) {
    self.init(keyPath, DictionaryPlace<Key, T>.self)
  }

  /// Creates a path to an optional dictionary whose values are entities.
  @inlinable public init<Key: Hashable, T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, [Key: T]?>) {
    self.init(keyPath, OptionalPlace<DictionaryPlace<Key, T>>.self)
  }
}

// MARK: Wrappers

extension PartialIdentifiableKeyPath {
  /// Creates a path to a wrapper.
  @inlinable public init<W: EntityWrapper>(wrapper keyPath: WritableKeyPath<Root, W>) {
    self.init(keyPath, WrapperPlace<W>.self)
  }

  /// Creates a path to an optional wrapper.
  @inlinable public init<W: EntityWrapper>(wrapper keyPath: WritableKeyPath<Root, W?>) {
    self.init(keyPath, OptionalPlace<WrapperPlace<W>>.self)
  }

  /// Creates a path to a collection of wrappers.
  @inlinable public init<C: MutableCollection>(wrapper keyPath: WritableKeyPath<Root, C>)
  where C.Element: EntityWrapper {
    self.init(keyPath, CollectionPlace<C, WrapperPlace<C.Element>>.self)
  }

  /// Creates a path to an optional collection of wrappers.
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
