/// How an outbox sends.
public struct OutboxPolicy: Sendable, Hashable {
  /// What becomes of later actions of an entity when one was refused.
  public enum Dependents: Sendable, Hashable {
    /// They wait until the dead letter is tried again, or dropped.
    case hold
    /// They are sent.
    case goOn
  }

  /// The treatment of actions that depend on a refused one.
  public var dependents: Dependents
  /// How many actions are sent at a time, each of another entity; at least one.
  public var maximumConcurrentSends: Int { didSet { maximumConcurrentSends = max(1, maximumConcurrentSends) } }
  /// How long one waits after a failure.
  public var backoff: Backoff
  /// How often an action is tried between a start and a stop before it becomes a dead letter; without end, if `nil`.
  public var maximumAttempts: Int?

  /// Creates a policy.
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
  /// The delay after the first failure.
  public var base: Duration
  /// The longest delay.
  public var cap: Duration

  /// Creates a backoff.
  public init(base: Duration = .milliseconds(500), cap: Duration = .seconds(60)) {
    (self.base, self.cap) = (base, cap)
  }

  /// How long one waits at most after so many failures before.
  public func limit(after failures: Int) -> Duration {
    var limit = base
    for _ in 0..<max(0, failures) where limit < cap { limit *= 2 }
    return min(limit, cap)
  }

  /// How long one waits.
  public func delay(after failures: Int, using generator: inout some RandomNumberGenerator) -> Duration {
    limit(after: failures) * Double.random(in: 0...1, using: &generator)
  }
}
