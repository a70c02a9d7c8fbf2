/// An observer's connection to the store. It keeps the entity alive, and ends when it is released.
///
/// ```swift
/// let subscription = store.find(Book.self, id: "ACK")?.observe { print($0.title) }
/// ```
public final class Subscription: Sendable {
  @usableFromInline let actions: any SubscriptionActions

  @usableFromInline init(_ actions: any SubscriptionActions) { self.actions = actions }

  deinit { actions.end() }

  /// Ends it: a callback that has begun may finish, none begins. Never waits; may be called from anywhere, also twice.
  public func unsubscribe() { actions.end() }

  /// Stops the callbacks until ``resume()``.
  public func pause() { actions.pause() }

  /// Lets callbacks come again. If there were new values meanwhile, the newest of them comes first.
  public func resume() { actions.resume() }
}

@usableFromInline protocol SubscriptionActions: Sendable {
  func end()
  func pause()
  func resume()
}

extension Subscriber: SubscriptionActions {}
