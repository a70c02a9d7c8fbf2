import Dispatch
import Synchronization

/// Another thread that works while something is measured.
final class Competition: Sendable {
  private let begun = Atomic(false)
  private let over = Atomic(false)

  private init() {}

  /// Measures while another thread does `work` over and over: until the measurement is over, but at most `limit` times.
  static func measure(
    besides work: @escaping @Sendable (Int) -> Void, limit: Int = .max, _ measurement: () throws -> Double
  ) rethrows -> Double {
    let competition = Competition()
    let group = DispatchGroup()
    DispatchQueue.global(qos: .userInitiated).async(group: group) {
      for index in 0..<limit where !competition.over.load(ordering: .relaxed) {
        work(index)
        competition.begun.store(true, ordering: .relaxed)
      }
    }
    defer {
      competition.over.store(true, ordering: .relaxed)
      group.wait()
    }
    while !competition.begun.load(ordering: .relaxed) {}
    return try measurement()
  }
}
