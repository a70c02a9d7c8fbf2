#if PostgreSQL
  import Foundation

  /// The pace at which other processes' commits are asked for, and at which they are notified of what this store commits.
  ///
  /// One commit by itself is told at once. Where commits come faster than one can be told after the other, each of them would wake all processes
  /// and let each ask, which costs more than the saves. Then it is asked after pauses, so that one look finds many of them; and what this
  /// store commits during a pause is notified once, at its end.
  struct FeedPace {
    /// The pause before it is asked next; 0 as long as commits come one by one.
    private(set) var pause = 0.0
    private(set) var isPausing = false
    /// Whether other processes are to be notified of a commit.
    private(set) var owesNotice = false

    /// The longest pause, in seconds.
    static let longest = 0.032
    /// The pause is so many times as long as it took to ask.
    private static let factor = 8.0
    /// The number of commits from which on the pause is the longest one: the more processes save, the more of them ask, too.
    private static let many = 8

    /// - Parameters:
    ///   - commits: the number of commits of other writers that were found.
    ///   - duration: the time that it took to ask, in seconds.
    mutating func didFind(_ commits: Int, in duration: Double) {
      pause = commits > Self.many ? Self.longest : commits > 1 ? min(Self.factor * duration, Self.longest) : 0
    }

    /// Notes that it could not be asked.
    mutating func didFail() { pause = 0 }

    /// - Returns: `nil` if there is no pause.
    mutating func beginPause() -> Double? {
      isPausing = pause > 0
      return isPausing ? pause : nil
    }

    /// - Returns: whether other processes are to be notified.
    mutating func endPause() -> Bool {
      isPausing = false
      defer { owesNotice = false }
      return owesNotice
    }

    /// Leaves the notification of other processes of a commit to the end of the pause.
    ///
    /// - Returns: `false` if there is no pause.
    mutating func mayNotifyLater() -> Bool {
      if isPausing { owesNotice = true }
      return isPausing
    }
  }
#endif
