#if Server
  import ConcordSync
  import Foundation
  import HTTPTypes
  import Tracing

  /// An error that is answered with a status.
  struct Rejection: Error {
    let status: HTTPResponse.Status
    let reason: String
    /// The time after which the device may ask again, in seconds.
    var retryAfter: Int?
  }

  /// The answer to a request.
  struct Answer: Sendable {
    var status = HTTPResponse.Status.ok
    var bytes: [UInt8]
    var retryAfter: Int?
    /// What it answers.
    var request: RequestsInProgress.Request?

    static var ready: Answer { Answer(WireValue.object(["state": .text("ok")]).bytes) }

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    init(_ rejection: Rejection) {
      (status, retryAfter) = (rejection.status, rejection.retryAfter)
      bytes = WireValue.object(["error": .text(rejection.reason)]).bytes
    }
  }

  extension SyncService {
    /// The routes that take messages.
    enum Route: String { case pages, actions }

    /// Answers a message of a user, whatever it is.
    ///
    /// - Parameter body: a closure that returns the bytes of the message. Its errors mean that they are too many.
    func answer(_ route: Route, for user: User, _ body: () async throws -> [UInt8]) async -> Answer {
      await withSpan("concord.sync.\(route.rawValue)") { span in
        let answer = await found(route, for: user, body)
        span.attributes["concord.sync.status"] = answer.status.code
        span.attributes["concord.sync.bytes"] = answer.bytes.count
        if answer.status != .ok { metrics.rejection(answer.status) }
        return answer
      }
    }

    private func found(_ route: Route, for user: User, _ body: () async throws -> [UInt8]) async -> Answer {
      do {
        if let wait = rates.take(text(of: user)) {
          let seconds = Int(min(3600, wait.inSeconds.rounded(.up)))
          throw Rejection(status: .tooManyRequests, reason: "the user asks too often", retryAfter: seconds)
        }
        let request = try begin(user)
        let message = try await message(body)
        var answer: Answer
        switch route {
        case .pages: answer = Answer(try await page(message, for: user))
        case .actions: answer = Answer(try await decide(message, for: user))
        }
        answer.request = request
        return answer
      } catch let rejection as Rejection {
        return Answer(rejection)
      } catch let error as WireError {
        return Answer(Rejection(status: .badRequest, reason: error.description))
      } catch {
        // What a store says of itself is not for strangers.
        return Answer(Rejection(status: .serviceUnavailable, reason: "the server cannot answer now"))
      }
    }

    private func begin(_ user: User) throws -> RequestsInProgress.Request {
      do { return try requests.begin(text(of: user)) } catch RequestsInProgress.Full.user {
        throw Rejection(
          status: .tooManyRequests, reason: "the user has too many requests in progress", retryAfter: 1)
      } catch {
        throw Rejection(status: .serviceUnavailable, reason: "the server has too many requests", retryAfter: 1)
      }
    }

    private func message(_ body: () async throws -> [UInt8]) async throws -> WireValue {
      guard let bytes = try? await body(), bytes.count <= limits.requestSize else {
        throw Rejection(status: .contentTooLarge, reason: "a request has at most \(limits.requestSize) bytes")
      }
      let message = try WireValue(parsing: bytes)
      guard case .number(let version) = message["version"], version == "\(PageRequest.version)" else {
        throw Rejection(
          status: .upgradeRequired, reason: "the server speaks version \(PageRequest.version) of the wire format")
      }
      return message
    }
  }
#endif
