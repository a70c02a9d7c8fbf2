extension EntityObserver {
  /// The values as an asynchronous sequence: the current one first, then each new one. Only the newest waits for a slow reader.
  ///
  /// ```swift
  /// for await book in observer.values { print(book.title) }
  /// ```
  ///
  /// Each iteration is independent, retains the entity, and ends only when its task is cancelled.
  public var values: EntityValues<Value> { EntityValues(source: source) }
}

/// An asynchronous sequence of an observer's values; see ``EntityObserver/values``.
public struct EntityValues<Value: Sendable>: AsyncSequence, Sendable {
  let source: ObserverSource<Value>

  public typealias Failure = Never

  /// Returns an iterator that begins with the current value.
  public func makeAsyncIterator() -> AsyncStream<Value>.Iterator {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let subscription = source.subscribe(source.shared.lines.direct, .every) { continuation.yield($0) }
      continuation.onTermination = { _ in subscription.unsubscribe() }
    }.makeAsyncIterator()
  }
}
