import Concord

/// Draws the dashboard whenever something on it has changed, at most 120 times a second, and measures how long each event
/// took to get there.
@MainActor
final class Projector {
  let progress: FeedProgress
  let dashboard: Dashboard
  private(set) var delays = Delays()
  private(set) var rate = RateMeter()
  private let shop: Shop
  private let canvas: any Canvas
  private let status: @MainActor (Projector, Int) -> [Line]
  private var position: Watch<FeedPosition?>?
  /// When the events arrived that the screens know of, but that are not drawn yet.
  private var undrawn: [ContinuousClock.Instant] = []
  private let requests: AsyncStream<Void>
  private let request: AsyncStream<Void>.Continuation

  init(
    shop: Shop, display: Display, hasLegacy: Bool, progress: FeedProgress, canvas: any Canvas,
    status: @escaping @MainActor (Projector, Int) -> [Line]
  ) {
    self.shop = shop
    self.progress = progress
    self.canvas = canvas
    self.status = status
    (requests, request) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    let request = request
    dashboard = Dashboard(shop: shop, display: display, hasLegacy: hasLegacy) { request.yield() }
    position = Watch(shop.store.find(named: .feed)) { [weak self] _, new in
      guard let self, let new else { return }
      undrawn.append(new.arrival)
      progress.change { $0.shown = new.events }
      needsDrawing()
    }
  }

  var entitiesAlive: Int { shop.entitiesAlive }
  /// Subscriptions to the store: the legacy screen has none.
  var observers: Int { dashboard.screens.count + (dashboard.legacy == nil ? 1 : 0) }

  func needsDrawing() { request.yield() }

  /// Draws until ``stop()``.
  func run() async {
    needsDrawing()
    for await _ in requests {
      draw()
      try? await Task.sleep(for: .milliseconds(8))
    }
  }

  func stop() { request.finish() }

  func draw() {
    let now = ContinuousClock.now
    rate.note(progress.state.shown, at: now)
    let size = canvas.size
    let below = status(self, size.columns).map { $0.fitted(to: size.columns) }
    let height = max(0, size.rows - below.count)
    canvas.show(dashboard.picture(width: size.columns, height: height, now: now) + below)
    let drawn = ContinuousClock.now
    for arrival in undrawn { delays.note(drawn - arrival) }
    undrawn = []
  }
}
