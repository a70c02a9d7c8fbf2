public import Foundation

/// How fresh a value is: the greater, the fresher. Any `Double` will do: a date, a server's version number.
///
/// ```swift
/// store.store(book, modifiedAt: Date().stamp)
/// store.store(book, modifiedAt: 9000)
/// ```
public typealias Stamp = Double

extension Date {
  /// The date as a stamp: seconds since the reference date (2001-01-01, UTC).
  public var stamp: Stamp { timeIntervalSinceReferenceDate }
}
