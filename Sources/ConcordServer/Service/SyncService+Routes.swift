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
        .post("pages") { [self] request, _ in await answer(request) { try await page($0, for: $1) } }
        .post("actions") { [self] request, _ in await answer(request) { try await decide($0, for: $1) } }
        .get("health") { [self] _, _ in await health() }
    }

    /// An error that is answered with a status.
    struct Rejection: Error {
      let status: HTTPResponse.Status
      let reason: String
    }

    /// Answers a request, whatever it is.
    func answer(_ request: Request, _ body: (WireValue, User) async throws -> [UInt8]) async -> Response {
      do {
        guard let user = try? await authenticate(request) else {
          throw Rejection(status: .unauthorized, reason: "the token is not valid")
        }
        let message = try await message(of: request)
        return response(.ok, try await body(message, user))
      } catch let rejection as Rejection {
        return response(rejection.status, error: rejection.reason)
      } catch let error as WireError {
        return response(.badRequest, error: error.description)
      } catch {
        // What a store says of itself is not for strangers.
        return response(.serviceUnavailable, error: "the server cannot answer now")
      }
    }

    private func message(of request: Request) async throws -> WireValue {
      let buffer: ByteBuffer
      do { buffer = try await request.body.collect(upTo: limits.requestSize) } catch {
        throw Rejection(status: .contentTooLarge, reason: "a request has at most \(limits.requestSize) bytes")
      }
      let message = try WireValue(parsing: buffer.readableBytesView)
      guard case .number(let version) = message["version"], version == "\(PageRequest.version)" else {
        throw Rejection(
          status: .upgradeRequired, reason: "the server speaks version \(PageRequest.version) of the wire format")
      }
      return message
    }

    private func response(_ status: HTTPResponse.Status, error: String) -> Response {
      response(status, WireValue.object(["error": .text(error)]).bytes)
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
        try await workers.run { [self] in _ = try prepare().rows.read { try $0.position() } }
        return response(.ok, WireValue.object(["state": .text("ok")]).bytes)
      } catch {
        return response(.serviceUnavailable, error: "the store cannot be read")
      }
    }
  }
#endif
