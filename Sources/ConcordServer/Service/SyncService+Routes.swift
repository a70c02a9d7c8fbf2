#if Server
  import ConcordSync
  import Foundation
  import HTTPTypes
  public import Hummingbird
  import NIOCore

  extension SyncService {
    /// Adds the routes of the service to a router: `pages`, `actions` and `health`, below a path.
    public func addRoutes(to router: some RouterMethods, path: String) {
      router.group(RouterPath(path))
        .post("pages") { [self] request, _ in await answer(request, .pages) }
        .post("actions") { [self] request, _ in await answer(request, .actions) }
        .get("health") { [self] _, _ in await health() }
    }

    /// Answers a request, whatever it is.
    private func answer(_ request: Request, _ route: Route) async -> Response {
      let answer: Answer
      if let user = try? await authenticate(request) {
        answer = await self.answer(route, for: user) { [limits] in
          try await Array(request.body.collect(upTo: limits.requestSize).readableBytesView)
        }
      } else {
        answer = Answer(Rejection(status: .unauthorized, reason: "the token is not valid"))
      }
      var response = response(answer.status, answer.bytes)
      if let seconds = answer.retryAfter { response.headers[.retryAfter] = "\(seconds)" }
      return response
    }

    private func response(_ status: HTTPResponse.Status, _ bytes: [UInt8]) -> Response {
      var headers = HTTPFields()
      headers[.contentType] = "application/json"
      headers[.cacheControl] = "no-store"
      if status == .upgradeRequired { headers[.upgrade] = "concord-sync/\(PageRequest.version)" }
      return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    /// Whether the store can be read.
    private func health() async -> Response {
      do {
        try await workers.run { [self] in _ = try prepare().store.rows.read { try $0.position() } }
        return response(.ok, WireValue.object(["state": .text("ok")]).bytes)
      } catch {
        let answer = Answer(Rejection(status: .serviceUnavailable, reason: "the store cannot be read"))
        return response(answer.status, answer.bytes)
      }
    }
  }
#endif
