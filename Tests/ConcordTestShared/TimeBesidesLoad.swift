/// Returns how long something takes, less the time by which the machine wakes a task that only sleeps too late.
///
/// A bound in seconds that is promised of a machine at rest holds of this time on one that is busy with other work, too.
public func timeBesidesLoad(
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
) async rethrows -> Duration {
  let (clock, step) = (ContinuousClock(), Duration.milliseconds(10))
  let sleeper = Task.detached {
    var late: Duration = .zero
    while !Task.isCancelled {
      let start = clock.now
      // Ends early when it is cancelled.
      try? await Task.sleep(for: step)
      late += max(.zero, clock.now - start - step)
    }
    return late
  }
  defer { sleeper.cancel() }
  let start = clock.now
  try await body()
  let time = clock.now - start
  sleeper.cancel()
  return await time - sleeper.value
}
