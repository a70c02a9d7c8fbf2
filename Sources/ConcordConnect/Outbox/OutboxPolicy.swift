/// The rules by which an outbox sends.
public struct OutboxPolicy: Sendable, Hashable {
  /// The treatment of later actions of an entity after a refused one.
  public enum Dependents: Sendable, Hashable {
    /// A hold: later actions wait until the dead letter is retried or dropped.
    case hold
    /// No hold: later actions are sent.
    case goOn
  }

  /// The treatment of actions that depend on a refused one.
  public var dependents: Dependents
  /// The maximum number of actions that are sent at a time, each of another entity; at least one.
  public var maximumConcurrentSends: Int { didSet { maximumConcurrentSends = max(1, maximumConcurrentSends) } }
  /// The waits after failures.
  public var backoff: Backoff
  /// The number of attempts between a start and a stop before an action becomes a dead letter; `nil` for no limit.
  public var maximumAttempts: Int?

  /// The number of successive responses that the change was made but its result is unavailable (303), before the action
  /// becomes a dead letter.
  static let maximumLostResults = 10

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - dependents: the treatment of actions that depend on a refused one.
  ///   - maximumConcurrentSends: the maximum number of actions that are sent at a time; at least one.
  ///   - backoff: the waits after failures.
  ///   - maximumAttempts: the number of attempts between a start and a stop before an action becomes a dead letter; `nil` for no limit.
  public init(
    dependents: Dependents = .hold, maximumConcurrentSends: Int = 6, backoff: Backoff = Backoff(),
    maximumAttempts: Int? = nil
  ) {
    self.dependents = dependents
    self.maximumConcurrentSends = max(1, maximumConcurrentSends)
    self.backoff = backoff
    self.maximumAttempts = maximumAttempts
  }
}

/// Exponential backoff with full jitter: any time between nothing and `base` × 2ⁿ after the n-th failure (from 0 on), and `cap` at most.
///
/// After *Exponential Backoff And Jitter* (AWS Architecture Blog, 2015).
public struct Backoff: Sendable, Hashable {
  /// The longest delay after the first failure.
  public var base: Duration
  /// The longest delay.
  public var cap: Duration

  /// Creates a backoff.
  ///
  /// - Parameters:
  ///   - base: the longest delay after the first failure.
  ///   - cap: the longest delay after any number of failures.
  public init(base: Duration = .milliseconds(500), cap: Duration = .seconds(60)) {
    (self.base, self.cap) = (base, cap)
  }

  /// Returns the longest wait after a number of failures.
  ///
  /// - Parameter failures: the number of failures before the last one, from 0.
  /// - Returns: `base` × 2ⁿ for *n* failures, and `cap` at most.
  public func limit(after failures: Int) -> Duration {
    guard base > .zero, cap > .zero else { return .zero }
    var limit = min(base, cap)
    // The shortest duration but zero is the longest one after 128 of them.
    for _ in 0..<max(0, min(failures, 128)) {
      guard limit < cap / 2 else { return cap }
      limit *= 2
    }
    return limit
  }

  /// Returns a random wait after a number of failures.
  ///
  /// - Parameters:
  ///   - failures: the number of failures before the last one, from 0.
  ///   - generator: the source of randomness.
  /// - Returns: a duration between zero and ``limit(after:)``.
  public func delay(after failures: Int, using generator: inout some RandomNumberGenerator) -> Duration {
    limit(after: failures) * Double.random(in: 0...1, using: &generator)
  }
}
