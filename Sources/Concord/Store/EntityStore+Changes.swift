extension EntityStore {
  /// The changes of each transaction as an asynchronous sequence: one element a transaction, in commit order.
  ///
  /// ```swift
  /// for await changeSet in store.changes where changeSet.context != .server {
  ///   for change in changeSet.changes { upload(change) }
  /// }
  /// ```
  ///
  /// Each iteration begins with the next transaction, and ends only when its task is cancelled.
  ///
  /// None is left out for a slow reader: the elements that it has not read yet are buffered, with the values in them, without a limit. So
  /// read in a task of its own, hand slow work over to another one, and cancel the task when nobody needs the changes any longer. An iterator that is
  /// retained and not read holds the changes of all later transactions; one that is released holds nothing. Whoever needs the newest state only
  /// observes entities or queries, for which no states are buffered.
  ///
  /// - Complexity: during an iteration each transaction costs its writes once more, and the memory of its changes until they are read; otherwise nothing.
  public var changes: StoreChanges { StoreChanges(store: self) }

  /// Calls a closure with the changes of each transaction, in commit order, never overlapping, before the writing call
  /// returns (or on another thread, if one is already calling).
  package func observeChanges(_ body: @escaping @Sendable (ChangeSet) -> Void) -> Subscription {
    let source = shared.inspect(token) { ChangeSource($0.feed.node, shared) }
    return source.subscribe(shared.lines.direct, .every, body)
  }

  /// Returns when all notices enqueued so far have been delivered.
  ///
  /// ```swift
  /// store.update(Book.self, id: "emma") { $0.title = "Emma" }
  /// await store.settled()  // observers have been told
  /// ```
  public func settled() async { await shared.lines.settle() }
}

/// An asynchronous sequence of the changes to a store; see ``EntityStore/changes``.
public struct StoreChanges: AsyncSequence, Sendable {
  let store: EntityStore

  public typealias Failure = Never

  /// Returns an iterator that begins with the next transaction.
  public func makeAsyncIterator() -> AsyncStream<ChangeSet>.Iterator {
    AsyncStream(bufferingPolicy: .unbounded) { continuation in
      let subscription = store.observeChanges { continuation.yield($0) }
      continuation.onTermination = { _ in subscription.unsubscribe() }
    }.makeAsyncIterator()
  }
}
