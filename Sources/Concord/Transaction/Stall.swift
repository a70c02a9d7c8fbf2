#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A thread's wait for its turn, which is reported if it lasts too long. Time in which the machine sleeps does not count.
struct Stall {
  private let start = SuspendingClock.now
  private let patience: Duration

  init(after patience: Duration) { self.patience = patience }

  /// The time left until the wait is to be reported.
  var rest: Duration { max(patience - (.now - start), .zero) }

  /// The duration of the wait if it is to be reported; otherwise `nil`.
  var duration: Duration? {
    let duration = SuspendingClock.now - start
    return duration < patience ? nil : duration
  }

  /// Reports a wait of a store without a logger.
  static func writeToStandardError(_ duration: Duration) {
    let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    let tenths = (seconds * 10).rounded() / 10
    let line = """
      Concord: a write has waited \(tenths) s for another thread's transaction or update closure. If that closure waits for \
      this thread, both wait for ever: hand the transaction's store on to the thread. (Said once a store.)

      """
    // Unbuffered, because the process may never reach a flush.
    _ = line.utf8.withContiguousStorageIfAvailable { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
