import Concord
import Foundation

/// A clock that gives stamps: the date, strictly increasing, and later than what is already stored.
///
/// It is a hybrid logical clock (Kulkarni and others, 2014) whose logical part is kept with each row: the stamp of a
/// change is the later of the date and just after the stamp of the row that it changes. The stamp of one row has no
/// effect on other rows, so that one wrong clock does not make later writes newer than values from a server.
final class StampSource: Sendable {
  private struct State {
    var last: Stamp = -.infinity
    /// The latest stamp of those that were ahead of the date.
    var lastAhead: Stamp = -.infinity
  }

  private let state = Locked(State())
  private let date: @Sendable () -> Stamp

  init(_ date: @escaping @Sendable () -> Stamp = { Date().timeIntervalSinceReferenceDate }) { self.date = date }

  /// Returns the next stamp.
  func next() -> Stamp { state.withLock { next(&$0) } }

  /// Returns the stamp of a change to a row with a stamp. Of several stamps ahead of the date, a later call returns a
  /// greater one.
  func next(after stamp: Stamp) -> Stamp {
    state.withLock { state in
      let next = next(&state)
      if next > stamp { return next }
      state.lastAhead = max(state.lastAhead, stamp).nextUp
      return state.lastAhead
    }
  }

  /// Whether a stamp is later than the date, and than all that were given.
  func isAhead(_ stamp: Stamp) -> Bool { state.withLock { max($0.last, date()) < stamp } }

  private func next(_ state: inout State) -> Stamp {
    state.last = max(date(), state.last.nextUp)
    return state.last
  }
}
