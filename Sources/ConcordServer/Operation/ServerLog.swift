#if Server
  import Concord
  import ConcordSync
  import Logging

  /// The log of a service: what whoever operates the server has to mend, and when it begins and ends. No user, token or value of a request
  /// is in it.
  final class ServerLog: Sendable {
    private let logger: Logger
    /// The moments at which the lines were logged last.
    private let times = Locked<[String: ContinuousClock.Instant]>([:])

    init(_ logger: Logger) { self.logger = logger }

    /// The time in which a line is logged once, however many devices meet its reason.
    private static var interval: Duration { .seconds(60) }
    /// The most lines whose times are kept. Beyond them nothing new is logged until the time of one is over.
    private static var most: Int { 1000 }

    func damagedRow(entity: String, id: String, column: String, reason: String) {
      write(
        .error, "a row cannot be read: it is not sent, and no action that needs it is decided",
        ["entity": entity, "id": id, "column": column, "reason": reason])
    }

    /// - Parameters:
    ///   - id: the id of one of the rows.
    ///   - count: the number of rows that were met.
    func unansweredRows(publication: String, entity: String, id: String, count: String) {
      // One line for all rows: with a parameter in a calculation a client chooses for how many there is no answer.
      write(
        .error, "the predicate of a publication has no answer for a row: it is not sent",
        ["publication": publication, "entity": entity, "id": id, "rows": count],
        identity: ["publication": publication, "entity": entity])
    }

    /// A request, or a look at the store, has failed in another way.
    func failure(_ error: any Error) {
      if error is CancellationError { return }
      write(.error, "the store fails: requests are answered with 503", ["reason": Self.reason(of: error)])
    }

    func authenticationFailure(_ error: any Error) {
      if error is CancellationError { return }
      write(
        .warning, "the closure that authenticates fails: its requests are answered with 401",
        ["reason": Self.kind(of: error)])
    }

    func unservedPublication(_ name: String, _ error: any Error) {
      write(
        .error, "a publication cannot be served: its subscriptions are refused",
        ["publication": name, "reason": Self.kind(of: error)])
    }

    func begin(publications: [String]) {
      logger.info(
        "synchronisation begins", metadata: ["publications": "\(publications.sorted().joined(separator: ", "))"])
    }

    /// - Parameter error: the reason for which the store's feed cannot begin.
    func cannotBegin(_ error: any Error) {
      logger.error("synchronisation cannot begin", metadata: ["reason": "\(error)"])
    }

    func beginUnreachable(_ error: any Error) {
      logger.warning(
        "the store cannot be reached: synchronisation begins when a request finds it",
        metadata: ["reason": "\(Self.reason(of: error))"])
    }

    func end() { logger.info("synchronisation ends: requests that wait are answered") }

    /// The text of an error of a store that says nothing of a row; of all other errors their kind, since their texts may have values.
    private static func reason(of error: any Error) -> String {
      StoreError.mayPass(error) ? "\(error)" : kind(of: error)
    }

    /// The type of an error, and its case if it has some.
    private static func kind(of error: any Error) -> String {
      let mirror = Mirror(reflecting: error)
      let type = String(reflecting: mirror.subjectType)
      guard mirror.displayStyle == .enum else { return type }
      // The text of a case without associated values says nothing of the request.
      return mirror.children.first?.label.map { "\(type).\($0)" } ?? "\(type): \(error)"
    }

    /// - Parameter identity: what tells the line from other lines with the same message; the metadata if it is `nil`.
    private func write(
      _ level: Logger.Level, _ message: Logger.Message, _ metadata: [String: String], identity: [String: String]? = nil
    ) {
      let now = ContinuousClock.now
      let name = "\(message) \((identity ?? metadata).sorted { $0.key < $1.key })"
      let isNew = times.withLock { times in
        if let time = times[name], now - time < Self.interval { return false }
        if times.count >= Self.most { times = times.filter { now - $1 < Self.interval } }
        // If all were forgotten instead, each line would be written again.
        if times.count >= Self.most { return false }
        times[name] = now
        return true
      }
      guard isNew else { return }
      logger.log(level: level, message, metadata: metadata.mapValues { "\($0)" })
    }
  }
#endif
