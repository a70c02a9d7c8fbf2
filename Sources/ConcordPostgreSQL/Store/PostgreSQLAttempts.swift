#if PostgreSQL
  import Foundation

  /// Decides whether a transaction that failed is run again, and waits before that: longer each time, and never two of them equally long.
  struct PostgreSQLAttempts {
    private var count = 0
    private let end: Date
    private static let most = 64

    init(timeout: TimeInterval) { end = Date(timeIntervalSinceNow: timeout) }

    /// Returns `true` after a pause if it may be run again.
    mutating func mayRepeat(_ failure: PostgreSQLFailure) -> Bool {
      // Whoever begins does not wait for a server that is not there.
      if failure.isUnreachable, count == 0 { return false }
      count += 1
      // A unique value that another transaction has written meanwhile is found before it is written, the next time.
      guard failure.isConflict || failure.isConnectionLost || failure.code == "23505", count < Self.most, Date() < end
      else {
        return false
      }
      if failure.code == "23505", count > 3 { return false }
      let longest = min(0.001 * pow(1.6, Double(min(count, 16))), 0.2) * (failure.isConnectionLost ? 10 : 1)
      Thread.sleep(forTimeInterval: .random(in: longest / 4...longest))
      return true
    }
  }
#endif
