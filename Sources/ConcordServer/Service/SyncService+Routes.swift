#if Server
  import ConcordSync
  import Foundation
  import HTTPTypes
  public import Hummingbird
  public import NIOCore

  extension SyncService {
    /// Adds the routes of the service to a router, below a path: `pages` and `actions`, and for whoever operates it `health/live`, which says that the
    /// process answers, and `health/ready` (also `health`), which says that the store can be read and the service is not shutting down.
    ///
    /// - Parameters:
    ///   - router: the router of the application.
    ///   - path: the path below which the routes are, such as `sync`.
    public func addRoutes(to router: some RouterMethods, path: String) {
      router.group(RouterPath(path))
        .post("pages") { [self] request, _ in await answer(request, .pages) }
        .post("actions") { [self] request, _ in await answer(request, .actions) }
        .get("health") { [self] _, _ in await health() }
        .get("health/ready") { [self] _, _ in await health() }
        .get("health/live") { [self] _, _ in response(.ready) }
    }

    /// Handlers for one connection of a server that has the routes: they close it when its client reads too slowly (``SyncLimits/readTime``), also one that
    /// sends further requests before it has read the answers.
    ///
    /// ```swift
    /// let app = Application(
    ///   router: router, server: .http1(configuration: .init(additionalChannelHandlers: service.channelHandlers())), services: [service])
    /// ```
    ///
    /// They belong to one connection each: the expression is evaluated for each connection. They also concern the other routes of the application: an
    /// answer that such a route writes at once has to be read within five times that limit.
    public func channelHandlers() -> [any RemovableChannelHandler] { [SlowClientHandler(limits.readTime)] }

    /// Answers a request, whatever it is.
    private func answer(_ request: Request, _ route: Route) async -> Response {
      guard let user = await user(of: request) else {
        return response(
          await traced(route) { Answer(Rejection(status: .unauthorized, reason: "the token is not valid")) })
      }
      let answer = await self.answer(route, for: user) { [limits] in
        let size = route == .pages ? min(limits.requestSize, limits.pageRequestSize) : limits.requestSize
        return try await SlowClient.read(request.body, upTo: size, within: limits.bodyTime)
      }
      var response = await compressed(answer, request.headers[.acceptEncoding], text(of: user))
      if let seconds = answer.retryAfter { response.headers[.retryAfter] = "\(seconds)" }
      return response
    }

    private func user(of request: Request) async -> User? {
      do { return try await authenticate(request) } catch {
        log.authenticationFailure(error)
        return nil
      }
    }

    /// Shorter answers are not worth it.
    private static var leastCompressed: Int { 1024 }

    private func compressed(_ answer: Answer, _ encodings: String?, _ user: String) async -> Response {
      guard answer.bytes.count >= Self.leastCompressed, Compression.isAccepted(by: encodings),
        let bytes = try? await workers.run(for: user, .pages, { Compression.gzip(answer.bytes) })
      else { return response(answer) }
      var zipped = answer
      zipped.bytes = bytes
      var response = response(zipped)
      response.headers[.contentEncoding] = "gzip"
      response.headers[.vary] = "Accept-Encoding"
      return response
    }

    private func response(_ answer: Answer) -> Response {
      var headers = HTTPFields()
      headers[.contentType] = "application/json"
      headers[.cacheControl] = "no-store"
      if answer.status == .upgradeRequired { headers[.upgrade] = "concord-sync/\(PageRequest.version)" }
      return Response(status: answer.status, headers: headers, body: body(answer))
    }

    /// The number of bytes from which on a server waits for the client to take an answer. A shorter one is a tenth of what its connection costs.
    static var leastAwaited: Int { 4096 }

    /// The body of an answer, whose request is in progress, and whose bytes are counted, until the connection has taken it.
    func body(_ answer: Answer) -> ResponseBody {
      let bytes = answer.bytes
      guard bytes.count >= Self.leastAwaited else { return ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)) }
      // Its request is in progress as long as the body is there.
      return ResponseBody(contentLength: bytes.count) {
        [metrics, limits, request = answer.request, unread = answer.unread] writer in
        metrics.buffer(bytes.count)
        defer { metrics.buffer(-bytes.count) }
        defer { withExtendedLifetime((request, unread)) {} }
        try await SlowClient.write(bytes, within: limits.readTime, to: writer)
      }
    }

    /// The longest time that a look at the store may take.
    private static var checkTime: Duration { .seconds(5) }

    /// Whether the store can be read, and requests are to come.
    private func health() async -> Response {
      if live.isEnded {
        return response(Answer(Rejection(status: .serviceUnavailable, reason: "the server is shutting down")))
      }
      guard await check.isReadable(within: Self.checkTime) else {
        return response(Answer(Rejection(status: .serviceUnavailable, reason: "the store cannot be read")))
      }
      return response(.ready)
    }
  }
#endif
