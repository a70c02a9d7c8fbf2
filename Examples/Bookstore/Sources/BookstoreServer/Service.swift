import BookstoreKit
import BookstoreWeb
import FlyingFox
import Foundation
import Synchronization

/// What the server does with a request.
///
/// | request | what it does |
/// |---|---|
/// | `GET /` | the version, and whether the shop refuses what customers send |
/// | `GET /books`, `?after=99` | a page of books, with `Link` and `ETag` |
/// | `GET /books/ID` | a book with its reviews |
/// | `PUT /books/ID/price` | changes its price |
/// | `POST /books/ID/reviews` | adds a review |
/// | `GET /authors/ID`, `PUT /authors/ID/name` | an author; renames her |
/// | `GET /carts/ID`, `POST /carts/ID/copies` | a customer's cart; puts a copy into it |
/// | `GET /events` | a WebSocket: each change as it happens |
/// | `PUT /refusing` | makes the shop refuse what customers send, or take it again |
final class Service: Sendable {
  let store: ShopStore
  private let refusing = Atomic(false)

  init(_ store: ShopStore) { self.store = store }

  func answer(_ request: HTTPRequest) async -> HTTPResponse {
    do {
      if request.parts == ["events"], request.method == .GET { return try await events(request) }
      return try await route(request).response
    } catch let refusal as Refusal {
      return Answer(refusal).response
    } catch let error as BodyTooLong {
      return Answer(Refusal(status: 413, reason: "\(error)")).response
    } catch {
      return Answer(Refusal(status: 500, reason: "\(error)")).response
    }
  }

  private func route(_ request: HTTPRequest) async throws -> Answer {
    let parts = request.parts
    switch (request.method, parts.count, parts.first, parts.last) {
    case (.GET, 0, _, _):
      return try Answer(Wire.Status(version: try await store.version(), isRefusing: isRefusing))
    case (.GET, 1, "books", _): return try await page(request)
    case (.GET, 2, "books", _): return try await book(request, parts[1])
    case (.PUT, 3, "books", "price"): return try await setPrice(request, parts[1])
    case (.POST, 3, "books", "reviews"): return try await review(request, parts[1])
    case (.GET, 2, "authors", _): return try await author(request, parts[1])
    case (.PUT, 3, "authors", "name"): return try await rename(request, parts[1])
    case (.GET, 2, "carts", _): return try await cart(request, parts[1])
    case (.POST, 3, "carts", "copies"): return try await put(request, into: parts[1])
    case (.PUT, 1, "refusing", _):
      let wanted = try HTTPRequest.decode(Wire.Refusing.self, try await request.boundedBody())
      refusing.store(wanted.isRefusing, ordering: .sequentiallyConsistent)
      return try Answer(Wire.Status(version: try await store.version(), isRefusing: isRefusing))
    default:
      throw Refusal(status: 404, reason: "There is no \(request.method.rawValue) \(request.path).")
    }
  }

  var isRefusing: Bool { refusing.load(ordering: .sequentiallyConsistent) }

  /// Each change from now on. The first message says which version the shop has: what is read afterwards is not older.
  private func events(_ request: HTTPRequest) async throws -> HTTPResponse {
    guard request.headers[.upgrade]?.lowercased() == "websocket" else {
      throw Refusal.malformed("This is a WebSocket, and the request asks for none.")
    }
    // The listener first, so that nothing falls between.
    let changes = store.feed.listen()
    let handler = EventMessages(changes: changes, first: try await store.version())
    return try await WebSocketHTTPHandler(handler: MessageFrameWSHandler(handler: handler)).handleRequest(request)
  }
}

/// Changes as messages of a WebSocket. What the other side says is not listened to.
private struct EventMessages: WSMessageHandler {
  let changes: AsyncStream<Change>
  let first: Int

  func makeMessages(for client: AsyncStream<WSMessage>) async throws -> AsyncStream<WSMessage> {
    let (messages, continuation) = AsyncStream<WSMessage>.makeStream()
    let task = Task { [changes, first] in
      continuation.yield(try Self.message(ServerEvent(version: first)))
      var told = first
      for await change in changes where change.version > told {
        // Changes that are no longer kept: whoever reads anew has missed nothing.
        if change.version > told + 1 { continuation.yield(try Self.message(ServerEvent(version: change.version))) }
        continuation.yield(.text(String(decoding: change.event, as: UTF8.self)))
        told = change.version
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return messages
  }

  private static func message(_ event: ServerEvent) throws -> WSMessage {
    .text(String(decoding: try Wire.data(event), as: UTF8.self))
  }
}
