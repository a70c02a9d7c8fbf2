import Foundation

/// Decides which stamps writes have.
@usableFromInline final class StampClock {
  @exclusivity(unchecked) private var clock: IncreasingClock
  /// The origin of writes.
  @exclusivity(unchecked) var priority = Priority.ordinary { didSet { ticks = isClock && priority != .layer } }
  /// Writes without a stamp get one.
  @exclusivity(unchecked) private var ticks: Bool
  /// Writes without a stamp have the date; otherwise they have none.
  let isClock: Bool

  init(isClock: Bool, date: (@Sendable () -> Date)? = nil) {
    clock = IncreasingClock(date: date)
    self.isClock = isClock
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

  /// The stamp to write with.
  @usableFromInline func effective(_ stamp: Stamp?) -> WriteStamp {
    // A stamp of -infinity means older than any other, in a layer, too.
    if let stamp { return priority == .layer && stamp > -.infinity ? .none : .given(stamp) }
    return ticks ? .clock(clock.next()) : .none
  }

  /// Whether a write is taken although its stamp is not newer.
  @usableFromInline func isAlwaysTaken(_ stamp: Stamp) -> Bool { priority != .ordinary && stamp > -.infinity }

  /// Whether a write with a stamp is known already not to be newer than a stored one.
  func isStale(_ stamp: Stamp, than stored: Stamp) -> Bool { !(stamp > stored) && !isAlwaysTaken(stamp) }
}

/// The stamp of one write.
@usableFromInline enum WriteStamp: Equatable {
  /// The write has no stamp: it wins whatever the stored stamp is, which stays.
  case none
  /// A stamp that the writer gave: the write has to be newer than what is stored.
  case given(Stamp)
  /// A stamp that the clock gave, since the writer gave none: it is raised above the stored one.
  case clock(Stamp)

  /// The stamp of an entity that is new to the store: below all other stamps if the write has none, or none to compare with.
  @usableFromInline var first: Stamp {
    switch self {
    case .given(let stamp) where !stamp.isNaN: stamp
    case .clock(let stamp): stamp
    case .none, .given: -.infinity
    }
  }
}
