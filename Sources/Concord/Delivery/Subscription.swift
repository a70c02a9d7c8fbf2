/// An observer's connection to the store. It keeps the entity alive, and ends when it is released.
///
/// ```swift
/// let subscription = store.find(Book.self, id: "ACK")?.observe { print($0.title) }
/// ```
public final class Subscription: Sendable {
  private let actions: any SubscriptionActions

  init(_ actions: any SubscriptionActions) { self.actions = actions }

  deinit { actions.end() }

  /// Ends it. Never waits; may be called from anywhere, also twice.
  ///
  /// On the queue or the actor that calls the observer, no callback begins any more. Elsewhere one that is being started at
  /// this moment may still run, and one that has begun may finish.
  public func unsubscribe() { actions.end() }

  /// Stops the callbacks until ``resume()``.
  public func pause() { Self.pause([self]) }

  /// Lets callbacks come again. If there is another value than before the pause, it comes first; changes that cancel each other
  /// out tell nobody, where values can be compared.
  public func resume() { Self.resume([self]) }

  /// Pauses several at one moment; those of different stores one store after the other.
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
  /// The store's lock is held.
  func pause(_ core: StoreCore)
  /// The store's lock is held; what waits is to be delivered afterwards.
  func resume(_ core: StoreCore)
}

extension Subscriber: SubscriptionActions {}
