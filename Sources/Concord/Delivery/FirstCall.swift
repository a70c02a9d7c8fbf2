/// The place where an observer is called for the first time.
///
/// ```swift
/// let subscription = observer.observe(firstCall: .inTurn) { book in print(book.title) }
/// ```
@frozen public enum FirstCall: Sendable, Hashable {
  /// The thread that calls `observe`, before that returns.
  case atOnce
  /// The place of the later calls: the store's queue or the observer's actor, when it is the observer's turn, with the newest
  /// value at that time. With ``EntityStore/Delivery/immediate`` that is at once.
  case inTurn
}

extension AnySource {
  /// Subscribes a callback in a line. `run` makes its calls from the node's value, which is of the type `type`. The
  /// source is retained for `run`.
  @usableFromInline final func subscribe(
    _ line: DeliveryLine, as type: Any.Type, _ buffering: Buffering, isHere: Bool, at site: CallSite?,
    _ run: @escaping CallMaker.Run
  ) -> Subscription {
    let calls = CallMaker(line, source: self, run)
    let handle = handle
    let subscriber = Subscriber(calls, to: handle, isWhole: node.isNode(of: type), shared: shared, buffering: buffering)
    let first = shared.readCommitted { core in
      let first = calls.call(core, .beginning)
      let node = handle.node(in: core)
      node.addSubscriber(subscriber)
      if core.turns.isOpen { core.compareAtCommit(node) }
      core.feed.didSubscribe(subscriber, site, isInTransaction: core.turns.isOpen)
      return first
    }
    subscriber.start(with: first, isHere: isHere)
    return Subscription(subscriber)
  }
}
