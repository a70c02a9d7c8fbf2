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

extension AnySource {
  /// Calls back by `line` with what `run` makes of the node's value, which is of the type `type`, or made of it. The source is kept
  /// for `run`.
  @usableFromInline final func subscribe(
    _ line: DeliveryLine, as type: Any.Type, _ buffering: Buffering, isHere: Bool,
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
      core.feed.update()
      return first
    }
    subscriber.start(with: first, isHere: isHere)
    return Subscription(subscriber)
  }
}
