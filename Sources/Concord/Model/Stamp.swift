public import Foundation

/// The freshness of a value: the greater, the newer. Any `Double` will do, such as a date or a server's version number.
///
/// ```swift
/// store.store(book, modifiedAt: Date().stamp)
/// store.store(book, modifiedAt: 9000)
/// ```
///
/// A date counts seconds since the reference date, 2001-01-01 (UTC), as `Date.stamp` does: `timeIntervalSince1970` is 31 years ahead of it.
/// No stamp is newer than `.infinity`: an entity that has it changes by writes without a stamp only. `-.infinity` and NaN are newer than nothing.
///
/// A `Double` distinguishes all integers up to 2^53 (9,007,199,254,740,992). Above that, neighbouring integers are the same
/// stamp, so the later of two such versions is discarded as not newer. The logger is told of each such stamp that is taken
/// (``EntityStoreLogger/didReceiveImpreciseStamp(_:id:stamp:)``). Use smaller numbers instead: seconds or microseconds in
/// place of nanoseconds, or versions relative to a base that never changes. Subtract before converting:
///
/// ```swift
/// store.store(book, modifiedAt: Stamp(version - baseVersion))  // both are Int64
/// ```
public typealias Stamp = Double

extension Date {
  /// The date as a stamp: seconds since the reference date (2001-01-01, UTC).
  public var stamp: Stamp { timeIntervalSinceReferenceDate }
}
