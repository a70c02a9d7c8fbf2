public import Dispatch

// CohesionKit's names for what Concord calls differently or does not need. `Logger`, a name that other modules have, too, is in
// `ConcordCohesionKit`.

/// CohesionKit's name of ``EntityStore`` up to 0.12.
@available(*, deprecated, renamed: "EntityStore")
public typealias IdentityMap = EntityStore

/// CohesionKit's name of ``EntityWrapper`` up to 0.13.
@available(*, deprecated, renamed: "EntityWrapper")
public typealias EntityEnumWrapper = EntityWrapper

/// CohesionKit's observer of an alias: an observer of an optional value.
@available(*, deprecated, message: "an observer of an alias is an 'EntityObserver' of an optional value")
public typealias AliasObserver<T: Sendable> = EntityObserver<T?>

/// An observer of any kind, for code that accepts all of them.
///
/// ```swift
/// func title(of observer: some Observer<Book>) -> String { observer.value.title }
/// ```
public protocol Observer<T> {
  /// The type of the observed value.
  associatedtype T: Sendable

  /// The current value.
  var value: T { get }

  // Not `observe(onChange:)`: on an `EntityObserver` a requirement of that name would be preferred to the method that respects
  // actors.
  func _observe(_ onChange: @escaping @Sendable (T) -> Void) -> Subscription
}

extension Observer {
  /// Calls a closure with the current value, and then with each new one.
  ///
  /// - Parameter onChange: a closure that receives the values, on the store's queue or, with
  ///   ``EntityStore/Delivery/immediate``, on the committing thread.
  @_disfavoredOverload
  public func observe(onChange: @escaping @Sendable (T) -> Void) -> Subscription { _observe(onChange) }
}

extension EntityObserver: Observer {
  /// A closure that receives new values.
  public typealias OnChange = @Sendable (Value) -> Void

  public func _observe(_ onChange: @escaping OnChange) -> Subscription {
    source.subscribe(source.shared.lines.store, .newestOnly, onChange)
  }
}

extension EntityStore {
  /// A closure that changes a value.
  public typealias Update<T> = (inout T) -> Void

  /// CohesionKit's form of ``init(queue:stamping:logger:)``: `nil` is the main queue.
  @_disfavoredOverload
  public convenience init(queue: DispatchQueue?, stamping: Stamping = .clock, logger: (any EntityStoreLogger)? = nil) {
    self.init(queue: queue ?? .main, stamping: stamping, logger: logger)
  }

  /// CohesionKit's form of ``store(_:named:modifiedAt:ifPresent:)``.
  @discardableResult
  @inlinable public func store<T: Identifiable & Sendable>(
    entity: T, named alias: AliasKey<T>? = nil, modifiedAt stamp: Stamp? = nil, ifPresent: Update<T>? = nil
  ) -> EntityObserver<T> {
    store(entity, named: alias, modifiedAt: stamp, ifPresent: ifPresent)
  }

  /// CohesionKit's form of `store(_:named:modifiedAt:)`.
  @discardableResult
  @inlinable public func store<C: MutableCollection & Sendable>(
    entities: C, named alias: AliasKey<C>?, modifiedAt stamp: Stamp? = nil
  ) -> EntityObserver<[C.Element]> where C.Element: Identifiable & Sendable {
    store(entities, named: alias, modifiedAt: stamp)
  }

  /// CohesionKit's form of `store(_:named:modifiedAt:)`, for a set.
  @discardableResult
  @inlinable public func store<T: Identifiable & Hashable & Sendable>(
    entities: Set<T>, named alias: AliasKey<Set<T>>?, modifiedAt stamp: Stamp? = nil
  ) -> EntityObserver<[T]> {
    store(entities, named: alias, modifiedAt: stamp)
  }

  /// CohesionKit's form of ``store(_:modifiedAt:)``.
  @discardableResult
  @inlinable public func store<C: Collection>(
    entities: C, modifiedAt stamp: Stamp? = nil
  ) -> EntityObserver<[C.Element]> where C.Element: Identifiable & Sendable {
    store(entities, modifiedAt: stamp)
  }

  /// `store(_:named:modifiedAt:)` with a name that may be missing.
  @_disfavoredOverload
  @discardableResult
  @inlinable public func store<C: MutableCollection & Sendable>(
    _ entities: C, named alias: AliasKey<C>?, modifiedAt stamp: Stamp? = nil
  ) -> EntityObserver<[C.Element]> where C.Element: Identifiable & Sendable {
    if let alias { return store(entities, named: alias, modifiedAt: stamp) }
    return store(entities, modifiedAt: stamp)
  }

  /// `store(_:named:modifiedAt:)` for a set, with a name that may be missing.
  @_disfavoredOverload
  @discardableResult
  @inlinable public func store<T: Identifiable & Hashable & Sendable>(
    _ entities: Set<T>, named alias: AliasKey<Set<T>>?, modifiedAt stamp: Stamp? = nil
  ) -> EntityObserver<[T]> {
    if let alias { return store(entities, named: alias, modifiedAt: stamp) }
    return store(entities, modifiedAt: stamp)
  }

  /// CohesionKit's form of `update(_:id:modifiedAt:update:)`, without the label.
  @_disfavoredOverload
  @discardableResult
  @inlinable public func update<T: Identifiable & Sendable>(
    _ type: T.Type, id: T.ID, modifiedAt stamp: Stamp? = nil, _ update: Update<T>
  ) -> Bool {
    self.update(type, id: id, modifiedAt: stamp, update: update)
  }
}

extension AliasKey {
  /// CohesionKit's form of ``init(_:)``.
  public init(named name: String) { self.init(name) }
}
