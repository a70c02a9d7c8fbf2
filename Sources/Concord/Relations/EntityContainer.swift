/// A container that can stand in another one and hold entities: `[[Book]]`, `[String: [Book]?]`, `[Media?]`.
///
/// The containers of the standard library are ones. A mutable collection of another module becomes one by saying so:
///
/// ```swift
/// extension Deque: EntityContainer {}
/// ```
///
/// Only relations written by hand ask for it; `@Entity` looks into every mutable collection.
public protocol EntityContainer {
  /// What it holds: entities, wrappers, or again containers.
  associatedtype Held
}

extension EntityContainer where Self: MutableCollection {
  public typealias Held = Element
}

extension Optional: EntityContainer {
  public typealias Held = Wrapped
}

extension Dictionary: EntityContainer {
  public typealias Held = Value
}

extension Set: EntityContainer {
  public typealias Held = Element
}

extension Array: EntityContainer {}
extension ArraySlice: EntityContainer {}
extension ContiguousArray: EntityContainer {}

// MARK: Containers in containers

// The frequent ones are specialised for their types, which makes them faster.
extension PartialIdentifiableKeyPath {
  /// An array of arrays of entities.
  @inlinable public init<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, [[T]]>) {
    self.init(keyPath, CollectionPlace<[[T]], ArrayPlace<T>>.self)
  }

  /// An array of optional entities. The place of one that is removed becomes `nil`.
  @inlinable public init<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, [T?]>) {
    self.init(keyPath, CollectionPlace<[T?], OptionalPlace<EntityPlace<T>>>.self)
  }

  /// A dictionary whose values are arrays of entities.
  @inlinable public init<Key: Hashable, T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, [Key: [T]]>) {
    self.init(keyPath, KeyedPlace<Key, ArrayPlace<T>>.self)
  }

  /// A dictionary whose values are wrappers.
  @inlinable public init<Key: Hashable, W: EntityWrapper>(wrapper keyPath: WritableKeyPath<Root, [Key: W]>) {
    self.init(keyPath, KeyedPlace<Key, WrapperPlace<W>>.self)
  }
}

extension PartialIdentifiableKeyPath {
  /// A container of containers of entities, such as `[[Book]]`, `[String: [Book]]` or `[Book?]`.
  ///
  /// Each container gives way to a removed entity by itself: an inner collection loses it, an inner optional becomes `nil`.
  @_disfavoredOverload
  @inlinable public init<C: EntityContainer>(_ keyPath: WritableKeyPath<Root, C>)
  where C.Held: EntityContainer, C.Held.Held: Identifiable & Sendable {
    self.init(keyPath, UnknownPlace<C>.self)
  }

  /// The same one level deeper, such as `[String: [Book]]?`.
  @_disfavoredOverload
  @inlinable public init<C: EntityContainer>(_ keyPath: WritableKeyPath<Root, C>)
  where C.Held: EntityContainer, C.Held.Held: EntityContainer, C.Held.Held.Held: Identifiable & Sendable {
    self.init(keyPath, UnknownPlace<C>.self)
  }

  /// The same at four levels, such as `[String: [Book]?]?`. What is deeper has a wrapper between.
  @_disfavoredOverload
  @inlinable public init<C: EntityContainer>(_ keyPath: WritableKeyPath<Root, C>)
  where
    C.Held: EntityContainer, C.Held.Held: EntityContainer, C.Held.Held.Held: EntityContainer,
    C.Held.Held.Held.Held: Identifiable & Sendable
  {
    self.init(keyPath, UnknownPlace<C>.self)
  }

  /// Any container of wrappers: a set, a dictionary, an optional of an optional.
  @_disfavoredOverload
  @inlinable public init<C: EntityContainer>(wrapper keyPath: WritableKeyPath<Root, C>) where C.Held: EntityWrapper {
    self.init(keyPath, UnknownPlace<C>.self)
  }

  /// A container of containers of wrappers, such as `[Media?]` or `[String: [Media]]`.
  @_disfavoredOverload
  @inlinable public init<C: EntityContainer>(wrapper keyPath: WritableKeyPath<Root, C>)
  where C.Held: EntityContainer, C.Held.Held: EntityWrapper {
    self.init(keyPath, UnknownPlace<C>.self)
  }

  /// The same one level deeper, such as `[String: [Media]]?`.
  @_disfavoredOverload
  @inlinable public init<C: EntityContainer>(wrapper keyPath: WritableKeyPath<Root, C>)
  where C.Held: EntityContainer, C.Held.Held: EntityContainer, C.Held.Held.Held: EntityWrapper {
    self.init(keyPath, UnknownPlace<C>.self)
  }

  /// The same at four levels.
  @_disfavoredOverload
  @inlinable public init<C: EntityContainer>(wrapper keyPath: WritableKeyPath<Root, C>)
  where
    C.Held: EntityContainer, C.Held.Held: EntityContainer, C.Held.Held.Held: EntityContainer,
    C.Held.Held.Held.Held: EntityWrapper
  {
    self.init(keyPath, UnknownPlace<C>.self)
  }
}
