#if Server
  import Concord
  import Foundation
  import HTTPTypes
  import Metrics

  /// The metrics of a server's work, for whatever system of metrics the program has.
  final class SyncMetrics: Sendable {
    private let factory: any MetricsFactory
    private let devices: Gauge
    private let subscriptions: Gauge
    private let lag: CoreMetrics.Timer
    private let pageTime: CoreMetrics.Timer
    private let pageRows: Recorder
    private let pageBytes: Recorder
    private let buffers: Gauge
    private let requests: Gauge
    private let state = Locked(State())

    private struct State {
      var buffered = 0
      var requests = 0
    }

    init(_ factory: any MetricsFactory) {
      self.factory = factory
      devices = Gauge(label: "concord_sync_waiting_devices", factory: factory)
      subscriptions = Gauge(label: "concord_sync_waiting_subscriptions", factory: factory)
      lag = CoreMetrics.Timer(label: "concord_sync_lag", factory: factory)
      pageTime = CoreMetrics.Timer(label: "concord_sync_page_duration", factory: factory)
      pageRows = Recorder(label: "concord_sync_page_rows", factory: factory)
      pageBytes = Recorder(label: "concord_sync_page_bytes", factory: factory)
      buffers = Gauge(label: "concord_sync_buffered_bytes", factory: factory)
      requests = Gauge(label: "concord_sync_store_requests", factory: factory)
    }

    /// Reports the devices that wait, and their subscriptions.
    func waiting(_ devices: Int, subscriptions: Int) {
      self.devices.record(devices)
      self.subscriptions.record(subscriptions)
    }

    /// Reports the time between noticing a commit and waking those whom it concerns.
    func looked(after duration: Duration) { lag.record(duration: duration) }

    /// The kinds of pages, by what they cost.
    enum PageKind: String {
      /// Nothing is new.
      case empty
      /// The changes.
      case changes
      /// All keys of a subscription, and rows that have changed, or all.
      case whole
    }

    func page(_ kind: PageKind, rows: Int, bytes: Int) {
      Counter(label: "concord_sync_pages", dimensions: [("kind", kind.rawValue)], factory: factory).increment()
      pageRows.record(rows)
      pageBytes.record(bytes)
    }

    func pageRead(in duration: Duration) { pageTime.record(duration: duration) }

    func action(isAccepted: Bool) {
      Counter(
        label: "concord_sync_actions", dimensions: [("decision", isAccepted ? "accepted" : "refused")], factory: factory
      ).increment()
    }

    func rejection(_ status: HTTPResponse.Status) {
      Counter(label: "concord_sync_rejections", dimensions: [("status", "\(status.code)")], factory: factory)
        .increment()
    }

    /// Reports bytes of answers that are kept until they are sent.
    func buffer(_ bytes: Int) {
      buffers.record(
        state.withLock { state in
          state.buffered += bytes
          return state.buffered
        })
    }

    /// Reports requests that use the store, or wait for their turn.
    func request(_ change: Int) {
      requests.record(
        state.withLock { state in
          state.requests += change
          return state.requests
        })
    }
  }
#endif
