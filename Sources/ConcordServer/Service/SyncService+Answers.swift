#if Server
  import Concord
  import ConcordSync
  import Foundation
  import HTTPTypes
  import NIOCore
  import Tracing

  /// An error that is answered with a status.
  struct Rejection: Error {
    let status: HTTPResponse.Status
    let reason: String
    /// The time after which the device may ask again, in seconds.
    var retryAfter: Int?
    /// The limit that is reached, for programs.
    var limit: Limit?

    /// A limit, by its name on the wire.
    enum Limit: String {
      case rate, requests, requestsOfUser, waitingDevices, waitingDevicesOfUser, unreadBytesOfUser, devicesOfUser
    }
  }

  /// The answer to a request.
  struct Answer: Sendable {
    var status = HTTPResponse.Status.ok
    var bytes: [UInt8]
    var retryAfter: Int?
    /// The request that is answered.
    var request: RequestsInProgress.Request?
    /// The count of its bytes, until they are read.
    var unread: UnreadBytes.Count?

    static var ready: Answer { Answer(WireValue.object(["state": .text("ok")]).bytes) }

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    init(_ rejection: Rejection) {
      (status, retryAfter) = (rejection.status, rejection.retryAfter)
      var members: [String: WireValue] = ["error": .text(rejection.reason)]
      if let limit = rejection.limit { members["limit"] = .text(limit.rawValue) }
      bytes = WireValue.object(members).bytes
    }
  }

  extension SyncService {
    /// The routes that take messages.
    enum Route: String { case pages, actions }

    /// Answers a message of a user, whatever it is.
    ///
    /// - Parameter body: a closure that returns the bytes of the message. `NIOTooManyBytesError` means that they are too many, and another
    ///   error that they cannot be read.
    func answer(_ route: Route, for user: User, _ body: () async throws -> [UInt8]) async -> Answer {
      await traced(route) { await found(route, for: user, body) }
    }

    /// Finds an answer within a span, and counts it if it is an error.
    func traced(_ route: Route, _ body: () async -> Answer) async -> Answer {
      await withSpan("concord.sync.\(route.rawValue)") { span in
        let answer = await body()
        span.attributes["concord.sync.status"] = answer.status.code
        span.attributes["concord.sync.bytes"] = answer.bytes.count
        if answer.status != .ok { metrics.rejection(answer.status) }
        return answer
      }
    }

    private func found(_ route: Route, for user: User, _ body: () async throws -> [UInt8]) async -> Answer {
      do {
        if let wait = rates.take(text(of: user), now: clock.now) {
          let seconds = Int(min(3600, wait.inSeconds.rounded(.up)))
          throw Rejection(
            status: .tooManyRequests, reason: "the user asks too often", retryAfter: seconds, limit: .rate)
        }
        let request = try begin(user)
        var answer: Answer
        switch route {
        case .pages:
          answer = Answer(try await page(try await pageRequest(body), for: user))
          answer.unread = unread.add(answer.bytes.count, of: text(of: user))
        case .actions:
          let bytes = try await bytes(body, atMost: limits.requestSize)
          answer = Answer(try await decide(bytes, for: user))
        }
        answer.request = request
        return answer
      } catch let rejection as Rejection {
        return Answer(rejection)
      } catch let error as WireError {
        return Answer(Rejection(status: .badRequest, reason: error.description))
      } catch StoreError.unreadableColumn(let entity, let id, let column, let reason) {
        log.damagedRow(entity: entity, id: id, column: column, reason: reason)
        return Answer(
          Rejection(status: .serviceUnavailable, reason: "the server has a row that it cannot read"))
      } catch {
        log.failure(error)
        // What a store says of itself is not for strangers.
        return Answer(Rejection(status: .serviceUnavailable, reason: "the server cannot answer now"))
      }
    }

    private func begin(_ user: User) throws -> RequestsInProgress.Request {
      do { return try requests.begin(text(of: user)) } catch RequestsInProgress.Full.user {
        throw Rejection(
          status: .tooManyRequests, reason: "the user has too many requests in progress", retryAfter: 1,
          limit: .requestsOfUser)
      } catch {
        throw Rejection(
          status: .serviceUnavailable, reason: "the server has too many requests", retryAfter: 1, limit: .requests)
      }
    }

    // A function of its own, so that nothing else of the message is kept while the request waits.
    private func pageRequest(_ body: () async throws -> [UInt8]) async throws -> PageRequest {
      try PageRequest(try message(try await bytes(body, atMost: min(limits.requestSize, limits.pageRequestSize))))
    }

    private func bytes(_ body: () async throws -> [UInt8], atMost limit: Int) async throws -> [UInt8] {
      let tooLarge = Rejection(
        status: .contentTooLarge, reason: "a request has at most \(limit.of("byte"))")
      let bytes: [UInt8]
      do { bytes = try await body() } catch is SlowClient.Failure {
        throw Rejection(status: .requestTimeout, reason: "the request has not come")
      } catch is NIOTooManyBytesError {
        throw tooLarge
      } catch {
        throw WireError("the body of the request cannot be read")
      }
      guard bytes.count <= limit else { throw tooLarge }
      return bytes
    }

    /// Reads a message of this version of the wire format. It takes many times the memory of its bytes.
    ///
    /// - Throws: `WireError`; ``Rejection``.
    func message(_ bytes: [UInt8]) throws -> WireValue {
      let message = try WireValue(parsing: bytes)
      guard case .number(let version) = message["version"] else {
        throw WireError("a member 'version' is no number")
      }
      guard version == "\(PageRequest.version)" else {
        throw Rejection(
          status: .upgradeRequired, reason: "the server speaks version \(PageRequest.version) of the wire format")
      }
      return message
    }
  }
#endif
