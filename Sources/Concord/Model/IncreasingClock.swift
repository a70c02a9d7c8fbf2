import Foundation

extension Stamp {
  /// Returns the stamp of a local write without one: this stamp of the clock, or, if what is stored is not older, the next one after
  /// that.
  ///
  /// It is the rule of a hybrid logical clock (Kulkarni et al., "Logical Physical Clocks", 2014), for each entity by itself: a stamp
  /// that is ahead of the clock moves the stamps of its own entity, and no others.
  package func raised(above stored: Stamp) -> Stamp { self > stored ? self : stored.nextUp }
}

/// A clock that tells the date as stamps, each later than the one before, also where the date goes back.
package struct IncreasingClock {
  /// The stamp told last.
  package private(set) var last: Stamp = -.infinity
  /// The source of dates, if it is not the system.
  private let date: (@Sendable () -> Date)?

  package init(date: (@Sendable () -> Date)? = nil) { self.date = date }

  /// Returns the next stamp.
  package mutating func next() -> Stamp {
    last = (date?() ?? Date()).timeIntervalSinceReferenceDate.raised(above: last)
    return last
  }
}
