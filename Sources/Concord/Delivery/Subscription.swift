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
  public func pause() { actions.pause() }

  /// Lets callbacks come again. If there were new values meanwhile, the newest of them comes first.
  public func resume() { actions.resume() }
}

protocol SubscriptionActions: Sendable {
  func end()
  func pause()
  func resume()
}

extension Subscriber: SubscriptionActions {}
