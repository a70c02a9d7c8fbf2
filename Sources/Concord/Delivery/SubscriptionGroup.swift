/// A member of a group that is paused as a whole: a ``Subscription``, an ``ObservedValue``.
public protocol Pausable: Sendable {
  /// The subscriptions that are paused and resumed.
  var pausedSubscriptions: [Subscription] { get }
}

extension Subscription: Pausable {
  public var pausedSubscriptions: [Subscription] { [self] }

  /// Inserts the subscription in a group, which retains it.
  ///
  /// ```swift
  /// observer.observe { print($0.title) }.store(in: screen)
  /// ```
  public func store(in group: SubscriptionGroup) { group.insert(self) }
}

extension ObservedValue: Pausable {
  public var pausedSubscriptions: [Subscription] { subscription.map { [$0] } ?? [] }
}

/// A group of subscriptions, such as those of a screen, which are paused and resumed at once.
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
/// While the group is paused no member is called. When it resumes, the members whose value differs from the one before the
/// pause are called with the newest value; changes that cancelled each other out are not delivered, if values are
/// `Equatable`. All are resumed at once, so that all that are called in one turn receive the same committed state.
///
/// The group retains its members. When it is released, its subscriptions end, unless they are retained elsewhere.
public final class SubscriptionGroup: Sendable {
  private let lock = Lock()
  // Unsafe to the compiler, which cannot see that both are used only while `lock` is held.
  nonisolated(unsafe) private var members: [any Pausable] = []
  nonisolated(unsafe) private var isPaused = false

  /// Creates an empty group.
  public init() {}

  /// Inserts a member, which the group retains. If the group is paused, so is the member.
  public func insert(_ member: some Pausable) {
    let isPaused = lock.withLock {
      members.append(member)
      return self.isPaused
    }
    if isPaused { bring([member], to: true) }
  }

  /// Stops the callbacks of all members until ``resume()``.
  public func pause() { bring(take(isPaused: true), to: true) }

  /// Allows the callbacks of all members again. Those whose value changed meanwhile are called with the newest.
  public func resume() { bring(take(isPaused: false), to: false) }

  /// Pauses or resumes members, and repeats it if another thread asked for the contrary meanwhile, and may have been overtaken.
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

  /// Ends all subscriptions, and removes all members.
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
