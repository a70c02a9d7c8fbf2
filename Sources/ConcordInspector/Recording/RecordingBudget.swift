#if Inspector
  /// The time that recording may take: a fiftieth of all, with something saved for bursts. A pure state machine.
  ///
  /// What recording costs cannot be measured apart from the writes that it slows down. So transactions that follow each other closely are
  /// charged with all of the time between them, and all other transactions with their own.
  struct RecordingBudget {
    private var balance: Double
    private var last: ContinuousClock.Instant

    private static let share = 0.02
    private static let capacity = 0.025
    /// The time between two transactions below which they count as a burst.
    private static let dense = 0.001

    init(now: ContinuousClock.Instant) { (balance, last) = (Self.capacity, now) }

    /// Charges a transaction. Returns the time for which nothing is to be recorded, if the budget is used up.
    mutating func charge(_ duration: Duration, changes: Int, now: ContinuousClock.Instant) -> Duration? {
      let elapsed = (now - last).seconds
      let own = duration.seconds + 1e-5 + 1e-6 * Double(changes)
      last = now
      // One large transaction after a rest is no reason to miss what follows.
      let cost = elapsed < Self.dense ? elapsed : min(own, Self.capacity)
      // The debt of those who were told to record everything is not to be worked off.
      balance = max(-Self.capacity, min(Self.capacity, balance + Self.share * elapsed) - cost)
      guard balance < 0 else { return nil }
      return .seconds((Self.capacity - balance) / Self.share)
    }

    /// Notes that recording goes on after a pause.
    mutating func resume(now: ContinuousClock.Instant) { (balance, last) = (Self.capacity, now) }
  }

  extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
  }
#endif
