import Concord
import Foundation

/// Runs the shop without a terminal: feeds all events, compares the screens after every hundred of them and at the end,
/// and prints what they end on.
@MainActor
public final class HeadlessRun {
  private let session: Session
  private var agreement = Agreement()
  private var checks = 0

  public init(_ session: Session) { self.session = session }

  /// How a run ends.
  public enum Ending: Sendable {
    /// All screens agreed, each time they were compared.
    case agreed
    case disagreed
    /// An event could not be saved.
    case failed
  }

  /// - Throws: `StoreError` if the file can be read or closed no longer.
  public func run() async throws -> Ending {
    let shop = session.shop
    let progress = FeedProgress()
    let complaints = Complaints(source: session.eventsName, keeps: false)
    let projector = Projector(
      shop: shop, display: shop.display, hasLegacy: session.hasLegacy, progress: progress,
      canvas: HiddenCanvas(), status: Report.figures)
    var feed = try session.feed(progress: progress, complaints: complaints)
    if session.acknowledges { feed.acknowledge = Self.acknowledge }
    feed.check = { ledger in
      Self.wait { progress.state.shown == progress.state.arrived }
      Self.wait { Self.hasLegacyCaughtUp(projector, with: ledger) }
      DispatchQueue.main.sync { MainActor.assumeIsolated { self.compare(projector, with: ledger) } }
    }

    let start = ContinuousClock.now
    let drawing = Task { await projector.run() }
    await withCheckedContinuation { done in
      feed.ended = { done.resume() }
      feed.start()
    }
    let elapsed = ContinuousClock.now - start
    projector.stop()
    await drawing.value
    projector.draw()

    for line in Report.screens(projector.dashboard) { print(line) }
    for line in Report.summary(projector, elapsed: elapsed) { print(line) }
    try shop.close()
    if progress.state.hasFailed { return .failed }
    let holds = agreement.disagreements.isEmpty && checks > 0
    print(holds ? "all screens agree" : "THE SCREENS DISAGREE", terminator: ": ")
    print("\(agreement.comparisons) comparisons in \(checks) \(checks == 1 ? "check" : "checks"),", terminator: " ")
    print("with each other and with a recomputation without the store")
    for disagreement in agreement.disagreements.prefix(20) {
      try? FileHandle.standardError.write(contentsOf: Data("\(disagreement)\n".utf8))
    }
    return holds ? .agreed : .disagreed
  }

  /// Written at once, so that whoever reads it may rely on it even if the process ends the next moment.
  nonisolated private static func acknowledge(_ line: Int) {
    FileHandle.standardOutput.write(Data("saved \(line)\n".utf8))
  }

  private func compare(_ projector: Projector, with ledger: Ledger) {
    let state = projector.progress.state
    agreement += Agreement(projector.dashboard.shown, with: ledger)
    agreement.expect(state.shown == state.arrived, "the screens know of \(state.shown) of \(state.arrived) events")
    agreement.expect(state.taken == ledger.taken, "\(state.taken) events were taken, not \(ledger.taken)")
    agreement.expect(state.stale == ledger.stale, "\(state.stale) events were stale, not \(ledger.stale)")
    // Besides these there are the user, the author's aggregate and the feed's position.
    let alive = ledger.entities + 3
    agreement.expect(
      projector.entitiesAlive == alive, "\(projector.entitiesAlive) entities are alive, not \(alive)")
    checks += 1
  }

  /// The screen that is not on the store is told a little later than those that are.
  nonisolated private static func hasLegacyCaughtUp(_ projector: Projector, with ledger: Ledger) -> Bool {
    DispatchQueue.main.sync {
      MainActor.assumeIsolated {
        guard let legacy = projector.dashboard.legacy else { return true }
        return Agreement([legacy.shown], with: ledger).disagreements.isEmpty
      }
    }
  }

  /// Waits until something is so; not for ever, because a screen that is never told is what the comparison is to find.
  nonisolated private static func wait(until isSo: () -> Bool) {
    let latest = ContinuousClock.now + .seconds(30)
    while !isSo(), ContinuousClock.now < latest { Thread.sleep(forTimeInterval: 0.0002) }
  }
}
