#if canImport(Combine) || OpenCombine
  import Concord

  /// A receiver of values, for any subscriber.
  // Unchecked, because a class with subclasses cannot be checked; it has no state, and its one subclass says why it is safe.
  class ValueReceiver<Value: Sendable>: @unchecked Sendable {
    func receive(_ value: Value) {}
  }

  extension EntityObserver {
    /// Passes the values to `receiver`, as long as it exists.
    fileprivate func connect(_ receiver: ValueReceiver<Value>, _ firstCall: FirstCall) -> Concord.Subscription {
      observe(firstCall: firstCall) { [weak receiver] value in receiver?.receive(value) }
    }
  }

  /// A subscription that passes the values of an observer to a subscriber, as many as it demands.
  // Unchecked because of the subscriber, which publishers may not require to be `Sendable`; `isSending` sees to it that
  // it is called by one thread at a time.
  final class ObserverSubscription<Downstream: Subscriber>:
    ValueReceiver<Downstream.Input>, PublisherSubscription, CustomStringConvertible, @unchecked Sendable
  where Downstream.Input: Sendable, Downstream.Failure == Never {
    private struct State {
      /// The subscriber, until the subscription is cancelled.
      var downstream: Downstream?
      var demand = Subscribers.Demand.none
      /// The newest value; `nil` if it was sent.
      var unsent: Downstream.Input?
      var isSending = false
      /// The connection to the store, which retains the entity.
      var connection: Concord.Subscription?
    }

    private let lock = Locked(State())

    init(_ downstream: Downstream) {
      lock.withLock { $0.downstream = downstream }
    }

    var description: String { "EntityObserver" }

    func start(_ observer: EntityObserver<Downstream.Input>, _ firstCall: FirstCall) {
      // The subscriber may have cancelled the subscription when it received it.
      guard lock.withLock({ $0.downstream != nil }) else { return }
      let connection = observer.connect(self, firstCall)
      let isCancelled = lock.withLock { state in
        if state.downstream != nil { state.connection = connection }
        return state.downstream == nil
      }
      if isCancelled { connection.unsubscribe() }
    }

    override func receive(_ value: Downstream.Input) {
      lock.withLock { if $0.downstream != nil { $0.unsent = value } }
      send()
    }

    func request(_ demand: Subscribers.Demand) {
      lock.withLock { $0.demand += demand }
      send()
    }

    func cancel() {
      // Released without the lock, because that may run the user's code.
      let released = lock.withLock { state in
        let released = state
        state.downstream = nil
        state.unsent = nil
        state.connection = nil
        return released
      }
      released.connection?.unsubscribe()
    }

    private func send() {
      while let (downstream, value) = next() {
        let demand = downstream.receive(value)
        lock.withLock { state in
          state.demand += demand
          state.isSending = false
        }
      }
    }

    /// Returns the value to send, for the only thread that may send it.
    private func next() -> (Downstream, Downstream.Input)? {
      lock.withLock { state in
        guard !state.isSending, state.demand > .none, let downstream = state.downstream, let value = state.unsent
        else { return nil }
        state.unsent = nil
        state.demand -= 1
        state.isSending = true
        return (downstream, value)
      }
    }
  }
#endif
