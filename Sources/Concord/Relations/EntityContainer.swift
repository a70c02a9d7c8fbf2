/// A container of entities that can stand inside another container: `[[Book]]`, `[String: [Book]?]`, `[Media?]`.
///
/// The containers of the standard library conform. Declare the conformance of a mutable collection of another module:
///
/// ```swift
/// extension Deque: EntityContainer {}
/// ```
///
/// Only relations written by hand need the conformance; `@Entity` looks into every mutable collection.
public protocol EntityContainer {
  /// The type of the elements: entities, wrappers, or containers.
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

// The frequent containers are specialised for their types, which makes them faster.
extension PartialIdentifiableKeyPath {
  /// Creates a path to an array of arrays of entities.
  @inlinable public init<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, [[T]]>) {
    self.init(keyPath, CollectionPlace<[[T]], ArrayPlace<T>>.self)
  }

  /// Creates a path to an array of optional entities. The element of a removed entity becomes `nil`.
  @inlinable public init<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, [T?]>) {
    self.init(keyPath, CollectionPlace<[T?], OptionalPlace<EntityPlace<T>>>.self)
  }

  /// Creates a path to a dictionary whose values are arrays of entities.
  @inlinable public init<Key: Hashable, T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, [Key: [T]]>) {
    self.init(keyPath, KeyedPlace<Key, ArrayPlace<T>>.self)
  }

  /// Creates a path to a dictionary whose values are wrappers.
  @inlinable public init<Key: Hashable, W: EntityWrapper>(wrapper keyPath: WritableKeyPath<Root, [Key: W]>) {
    self.init(keyPath, KeyedPlace<Key, WrapperPlace<W>>.self)
  }
}

extension PartialIdentifiableKeyPath {
  /// Creates a path to a container of containers of entities, such as `[[Book]]`, `[String: [Book]]` or `[Book?]`.
  ///
  /// The innermost container loses a removed entity: a collection is without it afterwards, an optional becomes `nil`.
  @_disfavoredOverload
  @inlinable public init<C: EntityContainer>(_ keyPath: WritableKeyPath<Root, C>)
  where C.Held: EntityContainer, C.Held.Held: Identifiable & Sendable {
    self.init(keyPath, UnknownPlace<C>.self)
  }

  /// Creates a path to containers of entities at three levels, such as `[String: [Book]]?`.
  @_disfavoredOverload
  @inlinable public init<C: EntityContainer>(_ keyPath: WritableKeyPath<Root, C>)
  where C.Held: EntityContainer, C.Held.Held: EntityContainer, C.Held.Held.Held: Identifiable & Sendable {
    self.init(keyPath, UnknownPlace<C>.self)
  }

  /// Creates a path to containers of entities at four levels, such as `[String: [Book]?]?`. Deeper ones need a wrapper in
  /// between.
  @_disfavoredOverload
  @inlinable public init<C: EntityContainer>(_ keyPath: WritableKeyPath<Root, C>)
  where
    C.Held: EntityContainer, C.Held.Held: EntityContainer, C.Held.Held.Held: EntityContainer,
    C.Held.Held.Held.Held: Identifiable & Sendable
  {
    self.init(keyPath, UnknownPlace<C>.self)
  }

  /// Creates a path to any container of wrappers: a set, a dictionary, an optional of an optional.
  @_disfavoredOverload
  @inlinable public init<C: EntityContainer>(wrapper keyPath: WritableKeyPath<Root, C>) where C.Held: EntityWrapper {
    self.init(keyPath, UnknownPlace<C>.self)
  }

  /// Creates a path to a container of containers of wrappers, such as `[Media?]` or `[String: [Media]]`.
  @_disfavoredOverload
  @inlinable public init<C: EntityContainer>(wrapper keyPath: WritableKeyPath<Root, C>)
  where C.Held: EntityContainer, C.Held.Held: EntityWrapper {
    self.init(keyPath, UnknownPlace<C>.self)
  }

  /// Creates a path to containers of wrappers at three levels, such as `[String: [Media]]?`.
  @_disfavoredOverload
  @inlinable public init<C: EntityContainer>(wrapper keyPath: WritableKeyPath<Root, C>)
  where C.Held: EntityContainer, C.Held.Held: EntityContainer, C.Held.Held.Held: EntityWrapper {
    self.init(keyPath, UnknownPlace<C>.self)
  }

  /// Creates a path to containers of wrappers at four levels.
  @_disfavoredOverload
  @inlinable public init<C: EntityContainer>(wrapper keyPath: WritableKeyPath<Root, C>)
  where
    C.Held: EntityContainer, C.Held.Held: EntityContainer, C.Held.Held.Held: EntityContainer,
    C.Held.Held.Held.Held: EntityWrapper
  {
    self.init(keyPath, UnknownPlace<C>.self)
  }
}
