extension EntityObserver {
  /// The values as an asynchronous sequence: the current one first, then each new one. When the reader is slow, only the
  /// newest is kept for it.
  ///
  /// ```swift
  /// for await book in observer.values { print(book.title) }
  /// ```
  ///
  /// Each iteration follows on its own, keeps the entity alive, and ends only when its task is cancelled.
  public var values: EntityValues<Value> { EntityValues(source: source) }
}

/// The values of an observer; see ``EntityObserver/values``.
public struct EntityValues<Value: Sendable>: AsyncSequence, Sendable {
  let source: ObserverSource<Value>

  public typealias Failure = Never

  /// Begins to follow: with the value of this moment.
  public func makeAsyncIterator() -> AsyncStream<Value>.Iterator {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let subscription = source.subscribe(source.shared.lines.direct, .every) { continuation.yield($0) }
      continuation.onTermination = { _ in subscription.unsubscribe() }
    }.makeAsyncIterator()
  }
}
