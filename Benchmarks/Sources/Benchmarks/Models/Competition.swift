import Dispatch
import Synchronization

/// Another thread that works while something is measured.
final class Competition: Sendable {
  private let gate = DispatchSemaphore(value: 0)
  private let begun = Atomic(false)
  private let over = Atomic(false)

  /// Measures while another thread does `work` over and over: until the measurement is over, but at most `limit` times.
  /// The measurement, or what it calls, says when that thread begins.
  static func measure(
    besides work: @escaping @Sendable (Int) -> Void, limit: Int = .max, _ measurement: (Competition) throws -> Double
  ) rethrows -> Double {
    let competition = Competition()
    let group = DispatchGroup()
    DispatchQueue.global(qos: .userInitiated).async(group: group) {
      competition.gate.wait()
      competition.begun.store(true, ordering: .relaxed)
      for index in 0..<limit {
        if competition.over.load(ordering: .relaxed) { break }
        work(index)
      }
    }
    defer {
      competition.over.store(true, ordering: .relaxed)
      competition.gate.signal()
      group.wait()
    }
    return try measurement(competition)
  }

  /// Lets the other thread begin, and waits until it runs.
  func begin() {
    gate.signal()
    while !begun.load(ordering: .relaxed) {}
  }
}
