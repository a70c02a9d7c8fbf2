/// An observer's connection to the store, which retains the entity, and ends when it is released.
///
/// ```swift
/// let subscription = store.find(Book.self, id: "ACK")?.observe { print($0.title) }
/// ```
public final class Subscription: Sendable {
  private let actions: any SubscriptionActions

  init(_ actions: any SubscriptionActions) { self.actions = actions }

  deinit { actions.end() }

  #if Inspector
    /// Tells an inspector that somebody else has made the subscription than who called for it.
    func setOrigin(_ origin: CallOrigin) {
      guard let subscriber = actions as? Subscriber else { return }
      subscriber.shared.readCommitted { $0.feed.inspection?.didSubscribe(subscriber, from: origin) }
    }
  #endif

  /// Ends the subscription. Never waits; may be called from anywhere, also twice.
  ///
  /// If called on the observer's queue or actor, no callback begins afterwards. If called elsewhere, a callback that is just
  /// being started may still run, and one that has begun may finish.
  public func unsubscribe() { actions.end() }

  /// Stops the callbacks until ``resume()``.
  public func pause() { Self.pause([self]) }

  /// Allows callbacks again. If the value differs from the one before the pause, it is delivered first; changes that
  /// cancelled each other out are not, if values are `Equatable`.
  public func resume() { Self.resume([self]) }

  /// Pauses several subscriptions, those of one store under one lock.
  static func pause(_ subscriptions: [Subscription]) {
    forEachStore(subscriptions) { core, actions in for action in actions { action.pause(core) } }
  }

  static func resume(_ subscriptions: [Subscription]) {
    forEachStore(subscriptions) { core, actions in for action in actions { action.resume(core) } }
  }

  private static func forEachStore(
    _ subscriptions: [Subscription], _ body: (StoreCore, [any SubscriptionActions]) -> Void
  ) {
    var rest = subscriptions.map(\.actions)
    while let shared = rest.first?.shared {
      let actions = rest.filter { $0.shared === shared }
      rest.removeAll { $0.shared === shared }
      shared.readCommitted { core in body(core, actions) }
      shared.lines.deliver()
    }
  }
}

protocol SubscriptionActions: Sendable {
  var shared: SharedCore { get }
  func end()
  /// Pauses the callbacks. The store's lock is held.
  func pause(_ core: StoreCore)
  /// Resumes the callbacks. The store's lock is held; waiting notices are to be delivered afterwards.
  func resume(_ core: StoreCore)
}

extension Subscriber: SubscriptionActions {}
