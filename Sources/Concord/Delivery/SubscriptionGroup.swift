/// Something that can be paused with others: a ``Subscription``, an ``ObservedValue``.
public protocol Pausable: Sendable {
  /// What is paused and resumed, in the end.
  var pausedSubscriptions: [Subscription] { get }
}

extension Subscription: Pausable {
  public var pausedSubscriptions: [Subscription] { [self] }

  /// Makes a group keep this subscription.
  ///
  /// ```swift
  /// observer.observe { print($0.title) }.store(in: screen)
  /// ```
  public func store(in group: SubscriptionGroup) { group.insert(self) }
}

extension ObservedValue: Pausable {
  public var pausedSubscriptions: [Subscription] { subscription.map { [$0] } ?? [] }
}

/// The subscriptions of a screen, paused and resumed all at once.
///
/// ```swift
/// let screen = SubscriptionGroup()
/// book.observe { print($0.title) }.store(in: screen)
/// screen.insert(author.observed)
///
/// screen.pause()   // the screen is not shown
/// screen.resume()  // what changed meanwhile is told, once
/// ```
///
/// While it is paused nobody is called. When it resumes, whoever would be shown another value than before the pause is called with
/// the newest; changes that cancel each other out tell nobody, where values can be compared. All are resumed at one moment, so that
/// all that are called in one turn are told the same committed state.
///
/// The group keeps what is inserted. When it is released, its subscriptions end, unless somebody else keeps them.
public final class SubscriptionGroup: Sendable {
  private let lock = Lock()
  // Unsafe to the compiler, which cannot see that both are used only while `lock` is held.
  nonisolated(unsafe) private var members: [any Pausable] = []
  nonisolated(unsafe) private var isPaused = false

  /// Creates an empty group.
  public init() {}

  /// Makes the group keep something. If the group is paused, so is that.
  public func insert(_ member: some Pausable) {
    let isPaused = lock.withLock {
      members.append(member)
      return self.isPaused
    }
    if isPaused { bring([member], to: true) }
  }

  /// Stops the callbacks of all until ``resume()``.
  public func pause() { bring(take(isPaused: true), to: true) }

  /// Lets the callbacks of all come again. Who missed something is called with the newest.
  public func resume() { bring(take(isPaused: false), to: false) }

  /// Pauses members or resumes them; again, if another thread wanted the contrary meanwhile, and may have been overtaken.
  private func bring(_ members: [any Pausable], to isPaused: Bool) {
    var isPaused = isPaused
    while true {
      let subscriptions = members.flatMap(\.pausedSubscriptions)
      if isPaused { Subscription.pause(subscriptions) } else { Subscription.resume(subscriptions) }
      let isPausedNow = lock.withLock { self.isPaused }
      if isPausedNow == isPaused { return }
      isPaused = isPausedNow
    }
  }

  /// Ends all subscriptions, and keeps nothing any longer.
  public func unsubscribe() {
    let ended = lock.withLock {
      defer { members = [] }
      return members
    }
    for subscription in ended.flatMap(\.pausedSubscriptions) { subscription.unsubscribe() }
  }

  private func take(isPaused: Bool) -> [any Pausable] {
    lock.withLock {
      self.isPaused = isPaused
      return members
    }
  }
}
