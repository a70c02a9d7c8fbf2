extension EntityStore {
  /// What each transaction changes, as an asynchronous sequence: one element a transaction, in commit order, from now on. All
  /// that wait for a slow reader are kept.
  ///
  /// ```swift
  /// for await changeSet in store.changes where changeSet.context != .server {
  ///   for change in changeSet.changes { upload(change) }
  /// }
  /// ```
  ///
  /// Each iteration follows on its own, and ends only when its task is cancelled.
  ///
  /// - Complexity: while somebody follows, each transaction costs what it wrote once more; nothing while nobody does.
  public var changes: StoreChanges { StoreChanges(store: self) }

  /// Calls back with what each transaction changed, in commit order, never overlapping, before the writing call returns (or on
  /// another thread, if one is calling back already).
  package func observeChanges(_ body: @escaping @Sendable (ChangeSet) -> Void) -> Subscription {
    let source = shared.inspect(token) { ChangeSource($0.feed.node, shared) }
    return source.subscribe(shared.lines.direct, .every, body)
  }

  /// Settles when all notices enqueued so far have been told.
  ///
  /// ```swift
  /// store.update(Book.self, id: "emma") { $0.title = "Emma" }
  /// await store.settled()  // observers have been told
  /// ```
  public func settled() async { await shared.lines.settle() }
}

/// What the transactions of a store change; see ``EntityStore/changes``.
public struct StoreChanges: AsyncSequence, Sendable {
  let store: EntityStore

  public typealias Failure = Never

  /// Begins to follow: with the next transaction.
  public func makeAsyncIterator() -> AsyncStream<ChangeSet>.Iterator {
    AsyncStream(bufferingPolicy: .unbounded) { continuation in
      let subscription = store.observeChanges { continuation.yield($0) }
      continuation.onTermination = { _ in subscription.unsubscribe() }
    }.makeAsyncIterator()
  }
}
