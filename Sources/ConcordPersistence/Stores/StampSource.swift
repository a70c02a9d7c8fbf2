import Concord
import Foundation

/// A clock that gives stamps: the date, strictly increasing, and later than what is already stored.
///
/// It is a hybrid logical clock (Kulkarni et al., 2014) whose logical part is kept with each row: the stamp of a
/// change is the later of the date and just after the stamp of the row that it changes. The stamp of one row has no
/// effect on other rows, so that one wrong clock does not make later writes newer than values from a server.
final class StampSource: Sendable {
  private struct State {
    var last: Stamp = -.infinity
    /// The last stamps that were given ahead of the date, each for rows whose stamps lie close together: one for each clock that
    /// was wrong.
    var ahead: [Stamp] = []

    /// Returns a stamp after another one that is ahead of the date, and after those given for stamps close to it.
    mutating func next(after stamp: Stamp) -> Stamp {
      let known = ahead.firstIndex { $0 >= stamp && $0 - stamp < 1 }
      let next = (known.map { ahead.remove(at: $0) } ?? stamp).nextUp
      ahead.append(next)
      if ahead.count > Self.most { ahead.removeFirst() }
      return next
    }

    private static let most = 64
  }

  private let state = Locked(State())
  private let date: @Sendable () -> Stamp

  init(_ date: @escaping @Sendable () -> Stamp = { Date().timeIntervalSinceReferenceDate }) { self.date = date }

  /// Returns the next stamp.
  func next() -> Stamp { state.withLock { next(&$0) } }

  /// Returns the stamp of a change to a row with a stamp. For rows that are as far ahead of the date, a later call returns a
  /// greater one.
  func next(after stamp: Stamp) -> Stamp {
    state.withLock { state in
      let next = next(&state)
      return next > stamp ? next : state.next(after: stamp)
    }
  }

  /// Whether a stamp is later than the date, and than all that were given.
  func isAhead(_ stamp: Stamp) -> Bool { state.withLock { max($0.last, date()) < stamp } }

  private func next(_ state: inout State) -> Stamp {
    state.last = max(date(), state.last.nextUp)
    return state.last
  }
}
