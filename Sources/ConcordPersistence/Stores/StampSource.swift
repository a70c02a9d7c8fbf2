import Concord
import Foundation

/// A source of stamps: the date, strictly increasing.
final class StampSource: Sendable {
  private let last = Locked<Stamp>(-.infinity)

  func next() -> Stamp {
    last.withLock { last in
      last = max(Date().timeIntervalSinceReferenceDate, last.nextUp)
      return last
    }
  }
}
