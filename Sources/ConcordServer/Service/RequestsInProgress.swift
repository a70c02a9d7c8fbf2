#if Server
  import Concord

  /// The requests that a server has taken and not answered, or whose answers are not read yet.
  final class RequestsInProgress: Sendable {
    private struct Counts {
      var all = 0
      var users: [String: Int] = [:]
    }

    private let counts = Locked(Counts())
    private let limit: Int
    private let userLimit: Int

    init(_ limits: SyncLimits) { (limit, userLimit) = (limits.requests, limits.requestsOfUser) }

    var count: Int { counts.withLock { $0.all } }

    /// The reason why a request is not taken.
    enum Full: Error { case user, server }

    /// A request that is counted until it is released.
    final class Request: Sendable {
      private let user: String
      private let requests: RequestsInProgress

      fileprivate init(_ user: String, _ requests: RequestsInProgress) {
        (self.user, self.requests) = (user, requests)
      }

      deinit { requests.end(user) }
    }

    /// - Throws: ``Full``.
    func begin(_ user: String) throws -> Request {
      try counts.withLock { counts in
        let count = counts.users[user, default: 0]
        if count >= userLimit { throw Full.user }
        if counts.all >= limit { throw Full.server }
        counts.users[user] = count + 1
        counts.all += 1
      }
      return Request(user, self)
    }

    private func end(_ user: String) {
      counts.withLock { counts in
        counts.all -= 1
        counts.users[user, default: 1] -= 1
        if counts.users[user] == 0 { counts.users[user] = nil }
      }
    }
  }
#endif
