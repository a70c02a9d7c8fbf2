/// A handle with which a value in a store is read and observed, and which retains the value's entity.
///
/// ```swift
/// let observer = store.store(book)
/// print(observer.value.title)
/// let subscription = observer.observe { book in print(book.title) }
/// ```
///
/// An observer is a small value that may be copied and used from any thread. The entity exists as long as one copy or one
/// subscription does. When the last of them is released, and no retained parent or alias has the entity, it is released at
/// once.
///
/// A property of the value is an observer of that property: `observer.title.observe { print($0) }`.
@dynamicMemberLookup
public struct EntityObserver<Value: Sendable>: Sendable {
  @usableFromInline let source: ObserverSource<Value>

  @usableFromInline init(_ source: ObserverSource<Value>) { self.source = source }

  /// The current value; of a removed entity, the last one.
  ///
  /// Inside a transaction its own thread reads its own writes, other threads read the last committed state.
  ///
  /// - Complexity: constant, plus the changes inside the entity since it was last read.
  @inlinable public var value: Value { source.value }

  /// Whether the observed entity was removed, or the alias names nothing. Then ``value`` is the last one, or `nil` if the
  /// observer's value is optional.
  ///
  /// - Complexity: constant.
  public var isRemoved: Bool { source.isRemoved }
}
