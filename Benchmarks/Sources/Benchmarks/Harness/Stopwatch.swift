#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Measures nanoseconds on one of the machine's clocks.
struct Stopwatch: Sendable {
  /// What passes while it is measured.
  enum Kind: String, CaseIterable, Sendable {
    /// The time on the wall, which is what a user waits.
    case wall
    /// The time the measuring thread spent on a core: for a machine that is busy with other things.
    case thread
  }

  var kind = Kind.wall

  /// This watch where the work is spread over threads: the time on the wall, whatever was asked for.
  var acrossThreads: Stopwatch { Stopwatch(kind: .wall) }

  var now: Double {
    var time = timespec()
    clock_gettime(kind == .wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }

  /// The nanoseconds `work` took, divided by `count`, the number of times it did the thing that is measured.
  ///
  /// Never inlined, so that a profile tells the work from what was prepared for it.
  @inline(never)
  func nanoseconds(per count: Int = 1, _ work: () throws -> Void) rethrows -> Double {
    let start = now
    try work()
    return (now - start) / Double(count)
  }

  /// The same for work on a variable that outlives it: checking once that nobody else has it, not at each use.
  func nanoseconds<State>(
    per count: Int = 1, on state: inout State, _ work: (inout State) throws -> Void
  ) rethrows -> Double {
    try nanoseconds(per: count) { try work(&state) }
  }
}
