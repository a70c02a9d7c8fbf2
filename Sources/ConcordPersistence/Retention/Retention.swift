public import ConcordModel
import Foundation

/// A rule that says which entities of a type are kept, in stores or in a view. What must stay is kept whatever it says.
///
/// ```swift
/// try container.newBackgroundContext().purge(Article.self, keeping: .atMost(10_000))
/// try container.keep(Article.self, .used(within: .seconds(30 * 86_400)))
/// ```
///
/// See <doc:Lasting>.
public struct Retention<T: PersistentEntity>: Sendable {
  let rule: Rule

  enum Rule: Sendable {
    case atMost(Int)
    case usedWithin(TimeInterval)
    case matching(Predicate<T>)
  }

  /// Keeps the entities that were used last, at most so many: exactly in a purge, and in a view. ``PersistentContainer/keep(_:_:)`` applies a rule when a
  /// tenth more was written, at least 10 entities.
  ///
  /// An entity is used when it is stored, at its stamp, and, once ``PersistentContainer/keep(_:_:)`` has set a rule for its type, when the
  /// container's view finds, fetches or shows it.
  public static func atMost(_ count: Int) -> Retention { Retention(rule: .atMost(max(0, count))) }

  /// Keeps the entities that were used within a time; see ``atMost(_:)``.
  public static func used(within time: Duration) -> Retention {
    let (seconds, attoseconds) = time.components
    return Retention(rule: .usedWithin(max(0, Double(seconds) + Double(attoseconds) / 1e18)))
  }

  /// Keeps the entities that meet a condition.
  public static func matching(_ predicate: Predicate<T>) -> Retention { Retention(rule: .matching(predicate)) }
}
