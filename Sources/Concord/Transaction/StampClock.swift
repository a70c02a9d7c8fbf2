import Foundation

/// Gives stamps to writes that have none.
@usableFromInline final class StampClock {
  private(set) var last: Stamp = -.infinity
  /// Whose writes these are.
  var priority = Priority.ordinary { didSet { ticks = isClock && priority != .layer } }
  /// Writes without a stamp get one.
  private var ticks = false
  /// Writes without a stamp have the date; otherwise they have none.
  private let isClock: Bool
  /// What tells the date, if not the system.
  private let date: (@Sendable () -> Date)?

  init(isClock: Bool, date: (@Sendable () -> Date)? = nil) {
    self.isClock = isClock
    self.date = date
    ticks = isClock
  }

  /// What stamps count for.
  enum Priority {
    /// A write has to be newer than what is stored.
    case ordinary
    /// It is taken anyway, and the stored stamp stays if it is newer: a layer becomes a part of the base.
    case commits
    /// It is taken anyway, and the stored stamp stays: a layer is shown.
    case layer
  }

  /// The stamp to write with; `nil` if the write wins whatever the stored stamp, and leaves it alone.
  @usableFromInline func effective(_ stamp: Stamp?) -> Stamp? {
    // A stamp of -infinity means older than any other, in a layer, too.
    if let stamp { return priority == .layer && stamp > -.infinity ? nil : stamp }
    return ticks ? tick() : nil
  }

  /// Whether a write is taken although its stamp is not newer.
  @usableFromInline func isAlwaysTaken(_ stamp: Stamp) -> Bool { priority != .ordinary && stamp > -.infinity }

  /// The next stamp: the date, strictly increasing.
  private func tick() -> Stamp {
    last = max((date?() ?? Date()).timeIntervalSinceReferenceDate, last.nextUp)
    return last
  }

  /// Takes a stamp of another store's clock, which may be ahead by a little: what is written afterwards is newer.
  func advance(to stamp: Stamp) {
    guard isClock, stamp > last, stamp <= (date?() ?? Date()).timeIntervalSinceReferenceDate + 1 else { return }
    last = stamp
  }

  /// Whether a stamp that was just written with is the clock's own: the write had none.
  func isOwn(_ stamp: Stamp) -> Bool { isClock && stamp == last }

  /// The stamp of a write, if it is known already not to be newer than a stored one.
  func notNewer(_ stamp: Stamp?, than stored: Stamp) -> Stamp? {
    // The next tick is later than the last, so the clock is only asked if the stored stamp is ahead of that.
    guard let stamp = stamp ?? (ticks && stored > last ? tick() : nil), !(stamp > stored) else { return nil }
    return isAlwaysTaken(stamp) ? nil : stamp
  }
}
