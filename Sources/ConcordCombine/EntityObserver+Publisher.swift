#if canImport(Combine) || OpenCombine
  public import Concord

  extension EntityObserver {
    /// A publisher of the current value and each new one, where the store calls its observers.
    ///
    /// ```swift
    /// observer.asPublisher
    ///   .sink { book in print(book.title) }
    ///   .store(in: &cancellables)
    /// ```
    ///
    /// The publisher retains the entity, and so does each of its subscriptions until it is cancelled. A subscriber that
    /// requests fewer values than there are receives the newest one when it requests again.
    ///
    /// A closure that is written in main-actor code belongs to the main actor, which a publisher does not know. With a store of
    /// `.immediate` delivery, mark it: `.sink { @Sendable book in … }`. It is then called on the writing thread.
    public var asPublisher: AnyPublisher<Value, Never> {
      publisher(firstCall: .atOnce)
    }

    func publisher(firstCall: FirstCall) -> AnyPublisher<Value, Never> {
      ObserverPublisher(observer: self, firstCall: firstCall).eraseToAnyPublisher()
    }
  }

  private struct ObserverPublisher<Output: Sendable>: Publisher {
    typealias Failure = Never

    let observer: EntityObserver<Output>
    let firstCall: FirstCall

    func receive<Downstream: Subscriber>(
      subscriber: Downstream
    ) where Downstream.Input == Output, Downstream.Failure == Never {
      let subscription = ObserverSubscription(subscriber)
      subscriber.receive(subscription: subscription)
      subscription.start(observer, firstCall)
    }
  }
#endif
