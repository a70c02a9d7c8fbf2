import BookstoreKit
import BookstoreWeb
import ConcordInspector
import ConcordSync
package import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// Serves the page, on the loopback interface.
package final class PageServer: Sendable {
  package let url: URL
  private let listening: Listening
  private let model: PageModel
  /// What shows the inside of the store, as a page of its own.
  private let inspector: Inspector?

  /// - Parameters:
  ///   - port: where; any free one, if 0.
  ///   - other: the page of another device, which `/both` shows beside this one.
  /// - Throws: `ListeningError` if the port cannot be had.
  package init(_ storefront: Storefront, port: UInt16, beside other: URL? = nil) async throws {
    let model = await PageModel(storefront)
    let files = PageFiles()
    // The example is told to, however it is built. It goes without where that is not possible.
    let inspector = try? await storefront.store.inspect(
      showing: storefront.connect.viewContext, storefront.connect.outbox, storefront.sync, inReleaseBuilds: true)
    (self.model, self.inspector) = (model, inspector)
    listening = try await Listening.start(port: port) { router in
      for path in PageFiles.types.keys {
        router.get(RouterPath(path)) { _, _ in Self.guarded(files.response(path)) }
      }
      if let other { router.get("/both") { _, _ in Self.guarded(files.both(other), frames: other) } }
      router.get("/inspector") { _, _ in
        guard let url = inspector?.url else { return Response(status: .notFound) }
        return Self.guarded(Response(status: .seeOther, headers: [.location: "\(url)"]))
      }
      router.get("/live") { _, _ in Self.guarded(Self.events(await model.listen())) }
      router.post("/:command") { request, _ in Self.guarded(try await PageCommand.perform(request, model)) }
    }
    url = listening.url
  }

  package func stop() async {
    await model.close()
    await inspector?.stop()
    await listening.stop()
  }

  /// Nothing is loaded from elsewhere, and no page of another machine shows this one.
  private static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    + "base-uri 'none'; form-action 'none'; frame-ancestors 'self' http://127.0.0.1:*"
  private static let headers = [
    "Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
  ]

  private static func guarded(_ response: Response, frames other: URL? = nil) -> Response {
    var response = response
    let frames = other.map { "; frame-src 'self' \($0)" } ?? ""
    if let name = HTTPField.Name("Content-Security-Policy") { response.headers[name] = policy + frames }
    for (name, value) in headers { if let name = HTTPField.Name(name) { response.headers[name] = value } }
    return response
  }

  /// A response that does not end: server-sent events, each a message in JSON.
  private static func events(_ listener: PageListener) -> Response {
    let body = ResponseBody { writer in
      // A comment now and then: who does not read any longer is noticed when something is written.
      let reminding = Task {
        while !Task.isCancelled {
          listener.wake()
          try? await Task.sleep(for: .seconds(10))
        }
      }
      defer { reminding.cancel() }
      for await _ in listener.wakes {
        var text = ByteBuffer(string: ":\n\n")
        if let message = listener.take() {
          text = ByteBuffer(string: "data: \(String(decoding: try JSONEncoder().encode(message), as: UTF8.self))\n\n")
        }
        try await writer.write(text)
      }
      try await writer.finish(nil)
    }
    return Response(status: .ok, headers: [.contentType: "text/event-stream"], body: body)
  }
}
