import Foundation

/// A clock that gives stamps to writes without one.
@usableFromInline final class StampClock {
  private(set) var last: Stamp = -.infinity
  /// The priority of the current writes.
  var priority = Priority.ordinary { didSet { ticks = isClock && priority != .layer } }
  /// Whether writes without a stamp get one.
  private var ticks = false
  /// Whether writes without a stamp get the date; otherwise they have none.
  private let isClock: Bool
  /// The closure that tells the date; `nil` for the system's date.
  private let date: (@Sendable () -> Date)?

  init(isClock: Bool, date: (@Sendable () -> Date)? = nil) {
    self.isClock = isClock
    self.date = date
    ticks = isClock
  }

  /// The priorities of writes, which decide about their stamps.
  enum Priority {
    /// A write that has to be newer than the stored value.
    case ordinary
    /// A write that is always taken, and keeps the stored stamp if that is newer: a layer becomes a part of the base.
    case commits
    /// A write that is always taken, and keeps the stored stamp: a layer is shown.
    case layer
  }

  /// Returns the stamp to write with; `nil` if the write is taken whatever the stored stamp, and keeps that.
  @usableFromInline func effective(_ stamp: Stamp?) -> Stamp? {
    // A stamp of -infinity is older than any other, also in a layer.
    if let stamp { return priority == .layer && stamp > -.infinity ? nil : stamp }
    return ticks ? tick() : nil
  }

  /// Whether a write is taken although its stamp is not newer.
  @usableFromInline func isAlwaysTaken(_ stamp: Stamp) -> Bool { priority != .ordinary && stamp > -.infinity }

  /// Returns the next stamp: the date, strictly increasing.
  private func tick() -> Stamp {
    last = max((date?() ?? Date()).timeIntervalSinceReferenceDate, last.nextUp)
    return last
  }

  /// Advances the clock to a stamp of another store's clock, which may be ahead by a little, so that later writes are newer.
  func advance(to stamp: Stamp) {
    guard isClock, stamp > last, stamp <= (date?() ?? Date()).timeIntervalSinceReferenceDate + 1 else { return }
    last = stamp
  }

  /// Whether the stamp of the last write is the clock's own, because the write had none.
  func isOwn(_ stamp: Stamp) -> Bool { isClock && stamp == last }

  /// Returns the stamp of a write if it is known not to be newer than a stored one; otherwise `nil`.
  func notNewer(_ stamp: Stamp?, than stored: Stamp) -> Stamp? {
    // The next tick is later than the last one, so the clock is read only if the stored stamp is ahead of that.
    guard let stamp = stamp ?? (ticks && stored > last ? tick() : nil), !(stamp > stored) else { return nil }
    return isAlwaysTaken(stamp) ? nil : stamp
  }
}
