// The places that a key path can lead to, by the type of the property.

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
