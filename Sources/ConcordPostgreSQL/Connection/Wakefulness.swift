#if PostgreSQL
  import Dispatch
  import Foundation

  /// The short time for which a thread stays awake until an answer comes.
  ///
  /// To fall asleep and to wake up takes as long as a near server needs for a small question. Other threads go first all the while, the server's
  /// among them; and an answer that was not there in time lets the thread sleep until answers come soon again.
  struct Wakefulness {
    private var isWorthIt = true

    /// The longest time, in nanoseconds.
    static let longest: UInt64 = 100_000

    /// Waits for a short time until something can be read.
    ///
    /// - Returns: whether it can.
    func wait(for socket: Int32) -> Bool {
      guard isWorthIt else { return false }
      let start = DispatchTime.now().uptimeNanoseconds
      var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
      repeat {
        if poll(&waiting, 1, 0) != 0 { return true }
        sched_yield()
      } while DispatchTime.now().uptimeNanoseconds - start < Self.longest
      return false
    }

    /// Notes how long it took until an answer came, in nanoseconds.
    mutating func didWait(_ duration: UInt64) { isWorthIt = duration < Self.longest }
  }
#endif
