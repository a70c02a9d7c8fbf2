/// Where an observer is called for the first time.
///
/// ```swift
/// let subscription = observer.observe(firstCall: .inTurn) { book in print(book.title) }
/// ```
@frozen public enum FirstCall: Sendable, Hashable {
  /// On the thread that calls `observe`, before that returns.
  case atOnce
  /// Where the later calls come: on the store's queue or the observer's actor, in its turn, with the newest value of that
  /// moment. With ``EntityStore/Delivery/immediate`` that is at once.
  case inTurn
}

extension SharedCore {
  @usableFromInline func subscribe(
    _ calls: CallMaker, to handle: NodeHandle, isWhole: Bool, _ buffering: Buffering, isHere: Bool
  ) -> Subscription {
    let subscriber = Subscriber(calls, to: handle, isWhole: isWhole, shared: self, buffering: buffering)
    let first = readCommitted { core in
      let first = calls.call(core, .beginning)
      let node = handle.node(in: core)
      node.addSubscriber(subscriber)
      if core.turns.isOpen { core.compareAtCommit(node) }
      core.feed.update()
      return first
    }
    subscriber.start(with: first, isHere: isHere)
    return Subscription(subscriber)
  }
}
