import Concord
import Foundation

/// Gives the events that carry no time of their own the time of their arrival, each a later one than the last.
struct ArrivalClock: Sendable {
  private var last: Stamp = 0

  mutating func next() -> Stamp {
    last = max(Date().stamp, last.nextUp)
    return last
  }
}
