extension EntityObserver {
  /// The values as an asynchronous sequence: the current one first, then each new one. When the reader is slow, only the
  /// newest is kept for it.
  ///
  /// ```swift
  /// for await book in observer.values { print(book.title) }
  /// ```
  ///
  /// Each iteration follows on its own, keeps the entity alive, and ends only when its task is cancelled.
  public var values: some AsyncSequence<Value, Never> & Sendable {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let subscription = source.subscribe(lane: source.engine.lanes.direct) { continuation.yield($0) }
      continuation.onTermination = { _ in subscription.unsubscribe() }
    }
  }
}
