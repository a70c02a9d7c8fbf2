/// Lets one read and follow a value in a store, and keeps it alive.
///
/// ```swift
/// let observer = store.store(book)
/// print(observer.value.title)
/// let subscription = observer.observe { book in print(book.title) }
/// ```
///
/// An observer is a small value that may be copied and used from any thread. As long as one copy or one subscription
/// exists, so does the entity; when the last of them goes, and no living parent or alias has it, the entity goes at once.
///
/// A property of the value is an observer of that property: `observer.title.observe { print($0) }`.
@dynamicMemberLookup
public struct EntityObserver<Value: Sendable>: Sendable {
  @usableFromInline let source: ObserverSource<Value>

  @usableFromInline init(_ source: ObserverSource<Value>) { self.source = source }

  /// The current value; of a removed entity, the last one.
  ///
  /// Inside a transaction its own thread reads its own writes, others read what was last committed.
  ///
  /// - Complexity: constant, plus what changed below since it was last read.
  @inlinable public var value: Value { source.value }

  /// Whether what is observed is gone: the entity was removed, or the alias names nothing. ``value`` is the last one then, and
  /// `nil` where the observer's value is optional.
  ///
  /// - Complexity: constant.
  public var isRemoved: Bool { source.isRemoved }
}
