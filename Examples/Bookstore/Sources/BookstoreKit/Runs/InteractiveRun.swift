import Concord

/// Runs the shop on a terminal, until its user quits.
@MainActor
public final class InteractiveRun {
  private let session: Session

  public init(_ session: Session) { self.session = session }

  /// - Throws: `StoreError` if the file can be read or closed no longer.
  public func run() async throws {
    let terminal = Terminal()
    let canvas = TerminalCanvas(terminal)
    let shop = session.shop
    let progress = FeedProgress()
    let complaints = Complaints(source: session.eventsName, keeps: Terminal.isTerminal(2))
    let projector = Projector(
      shop: shop, display: shop.display, hasLegacy: session.hasLegacy, progress: progress, canvas: canvas
    ) { projector, width in
      let hasLegacy = projector.dashboard.legacy != nil
      return Report.figures(projector, width: width)
        + [Self.help(progress.state, complaints.newest, hasLegacy: hasLegacy)]
    }

    let feed = try session.feed(progress: progress, complaints: complaints)
    Signals.install(for: terminal) {
      Task { @MainActor in
        canvas.forget()
        projector.needsDrawing()
      }
    }
    terminal.enter()
    let start = ContinuousClock.now
    feed.start()
    let drawing = Task { await projector.run() }
    let ticking = Task { await Self.tick(projector) }
    for await key in terminal.keys() {
      if key == .quit { break }
      Self.press(key, projector.dashboard)
      projector.needsDrawing()
    }
    progress.change { $0.isStopped = true }
    ticking.cancel()
    projector.stop()
    await drawing.value
    terminal.leave()

    complaints.tellKept()
    for line in Report.summary(projector, elapsed: .now - start) { print(line) }
    try shop.close()
  }

  /// Draws now and then also when nothing happens, so that highlights fade and the rate sinks.
  private static func tick(_ projector: Projector) async {
    while !Task.isCancelled {
      projector.needsDrawing()
      try? await Task.sleep(for: .milliseconds(200))
    }
  }

  private static func press(_ key: Key, _ dashboard: Dashboard) {
    switch key {
    case .next: dashboard.moveFocus(by: 1)
    case .previous: dashboard.moveFocus(by: -1)
    case .up: dashboard.select(steps: -1)
    case .down: dashboard.select(steps: 1)
    case .pause: dashboard.togglePause()
    case .zoom: dashboard.isZoomed.toggle()
    case .sell: dashboard.legacy?.sell()
    case .quit: break
    }
  }

  private static func help(_ state: FeedProgress.State, _ complaint: String?, hasLegacy: Bool) -> Line {
    let keys = Line(" tab next  p pause  z zoom  ↑↓ book  \(hasLegacy ? "s sell  " : "")q quit", .dim)
    let end = state.isFinished ? Line("  the feed has ended", .warning) : Line()
    return keys + end + (complaint.map { Line("  \($0)", .warning) } ?? Line())
  }
}
