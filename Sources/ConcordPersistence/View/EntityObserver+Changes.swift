public import Concord

extension EntityObserver where Value: Collection, Value.Element: Equatable & Sendable {
  /// What each new value of a collection changes of the one before: an asynchronous sequence. The first inserts all that is there.
  ///
  /// ```swift
  /// var books: [Book] = []
  /// for await difference in recent.changes { books = books.applying(difference) ?? books }
  /// ```
  ///
  /// When the reader is slow, a difference covers several changes. It ends only when its task is cancelled.
  ///
  /// - Complexity: of each, the length of the collection times the number of differences.
  public var changes: CollectionChanges<Value> { CollectionChanges(values: values) }
}

/// What the values of an observer change; see `observer.changes`.
public struct CollectionChanges<Value: Collection & Sendable>: AsyncSequence, Sendable
where Value.Element: Equatable & Sendable {
  let values: EntityValues<Value>

  public typealias Failure = Never

  /// Begins to follow.
  public func makeAsyncIterator() -> Iterator { Iterator(base: values.makeAsyncIterator()) }

  /// An iterator over the changes of a collection.
  public struct Iterator: AsyncIteratorProtocol {
    var base: AsyncStream<Value>.Iterator
    private var last: [Value.Element] = []

    init(base: AsyncStream<Value>.Iterator) { self.base = base }

    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> CollectionDifference<Value.Element>? {
      guard let value = await base.next(isolation: actor) else { return nil }
      let present = Array(value)
      defer { last = present }
      return present.difference(from: last)
    }
  }
}
