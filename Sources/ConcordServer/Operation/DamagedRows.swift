#if Server
  import Concord
  import Logging

  /// The rows that could not be read, of which whoever operates the server is told.
  final class DamagedRows: Sendable {
    private let logger: Logger
    /// When each was logged last.
    private let times = Locked<[String: ContinuousClock.Instant]>([:])

    init(_ logger: Logger) { self.logger = logger }

    /// The time in which a row is logged once, however many devices ask for it.
    private static var interval: Duration { .seconds(60) }
    /// The number of rows after which the earlier ones are forgotten.
    private static var most: Int { 1000 }

    func log(entity: String, id: String, column: String, reason: String) {
      let now = ContinuousClock.now
      let name = "\(entity) \(id) \(column) \(reason)"
      let isNew = times.withLock { times in
        if let time = times[name], now - time < Self.interval { return false }
        if times.count >= Self.most { times = [:] }
        times[name] = now
        return true
      }
      guard isNew else { return }
      logger.error(
        "a row cannot be read: it is not sent, and no action that needs it is decided",
        metadata: ["entity": "\(entity)", "id": "\(id)", "column": "\(column)", "reason": "\(reason)"])
    }
  }
#endif
