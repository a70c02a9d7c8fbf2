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
  #if Inspector
    /// The place that asked for the values, while an inspector is attached: the call that a loop makes for its iterator has no line.
    private let origin: CallOrigin?
  #endif

  init(source: ObserverSource<Value>) {
    self.source = source
    #if Inspector
      origin = source.shared.readCommitted { $0.feed.inspection?.origin(nil) }
    #endif
  }

  public typealias Failure = Never

  /// Returns an iterator that begins with the current value.
  public func makeAsyncIterator() -> AsyncStream<Value>.Iterator {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let subscription = source.subscribe(source.shared.lines.direct, .every) { continuation.yield($0) }
      #if Inspector
        if let origin { subscription.setOrigin(origin) }
      #endif
      continuation.onTermination = { _ in subscription.unsubscribe() }
    }.makeAsyncIterator()
  }
}
