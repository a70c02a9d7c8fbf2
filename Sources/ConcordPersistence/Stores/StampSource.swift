import Concord
import Foundation

/// Gives stamps: the date, strictly increasing.
final class StampSource: Sendable {
  private let last = Locked<Stamp>(-.infinity)

  func next() -> Stamp {
    last.withLock { last in
      last = max(Date().timeIntervalSinceReferenceDate, last.nextUp)
      return last
    }
  }
}
