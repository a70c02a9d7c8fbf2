import Foundation

/// Takes events from a source into the shop, one after the other, on a thread of its own.
struct Feed: Sendable {
  var source: any EventSource
  let shop: Shop
  let progress: FeedProgress
  /// How many lines to read, or all there are.
  var limit: Int?
  var pace: Pace?
  /// Hears of each line that could not be taken in.
  var complain: @Sendable (_ line: Int, _ problem: EventProblem) -> Void
  /// The same events without a store, to compare with.
  var ledger: Ledger
  /// Called on the feed's thread when the event of a line is in the file.
  var acknowledge: (@Sendable (_ line: Int) -> Void)?
  /// Called on the feed's thread after each ``checkInterval`` lines and at the end.
  var check: (@Sendable (Ledger) -> Void)?
  /// Called on the feed's thread when it is over.
  var ended: (@Sendable () -> Void)?
  let checkInterval = 100

  /// How many events the screens may be behind. A file is read faster than screens are drawn.
  private let mostAhead = 64

  private var clock = ArrivalClock()

  init(
    source: any EventSource, shop: Shop, progress: FeedProgress, ledger: Ledger, limit: Int?, rate: Double?,
    complain: @escaping @Sendable (Int, EventProblem) -> Void
  ) {
    self.source = source
    self.shop = shop
    self.progress = progress
    self.ledger = ledger
    self.limit = limit
    self.pace = rate.map { Pace(rate: $0) }
    self.complain = complain
  }

  /// Starts the feed. It ends with its source, at its limit, or when ``FeedProgress`` says so.
  func start() {
    let thread = Thread { [self] in
      var feed = self
      feed.run()
    }
    thread.name = "feed"
    thread.start()
  }

  private mutating func run() {
    var lines = 0
    while !progress.state.isStopped, !progress.state.hasFailed, lines < limit ?? .max, let next = source.next() {
      lines += 1
      pace?.wait()
      take(next)
      waitForScreens()
      if lines.isMultiple(of: checkInterval) { checkIfWhole() }
    }
    if !lines.isMultiple(of: checkInterval) || lines == 0 { checkIfWhole() }
    progress.change { $0.isFinished = true }
    ended?()
  }

  private mutating func take(_ next: SourcedEvent) {
    do {
      let event = try next.event.get()
      let stamp = event.at ?? clock.next()
      ledger.receive(event, stamp: stamp)
      let wasTaken = try shop.receive(event, stamp: stamp, arrival: .now)
      progress.change { if wasTaken { $0.taken += 1 } else { $0.stale += 1 } }
      if wasTaken { acknowledge?(next.line) }
    } catch EventProblem.notSaved(let reason) {
      progress.change { $0.hasFailed = true }
      complain(next.line, .notSaved(reason))
    } catch {
      progress.change { $0.malformed += 1 }
      complain(next.line, error as? EventProblem ?? .malformed("\(error)"))
    }
  }

  /// The ledger knows of an event that could not be saved.
  private func checkIfWhole() {
    if !progress.state.hasFailed { check?(ledger) }
  }

  private func waitForScreens() {
    while true {
      let state = progress.state
      if state.isStopped || state.arrived - state.shown <= mostAhead { return }
      Thread.sleep(forTimeInterval: 0.0002)
    }
  }
}
