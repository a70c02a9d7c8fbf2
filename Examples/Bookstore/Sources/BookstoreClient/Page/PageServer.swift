import BookstoreKit
import BookstoreWeb
import FlyingFox
package import Foundation

/// Serves the page, on the loopback interface.
package final class PageServer: Sendable {
  package let url: URL
  private let listening: Listening
  private let model: PageModel

  /// - Parameter port: where; any free one, if 0.
  /// - Throws: `ListeningError` if the port cannot be had.
  package init(_ storefront: Storefront, port: UInt16) async throws {
    let model = await PageModel(storefront)
    let files = PageFiles()
    let gate = Gate()
    self.model = model
    listening = try await Listening.start(port: port) { request in
      var response = await Self.answer(request, gate, files, model)
      for (name, value) in Self.headers { response.headers[HTTPHeader(name)] = value }
      return response
    }
    url = listening.url
    if let port = url.port { gate.open(port) }
  }

  package func stop() async {
    await model.close()
    await listening.stop()
  }

  /// Nothing is loaded from elsewhere, and no other page shows this one.
  private static let headers = [
    "Content-Security-Policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
      + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
  ]

  private static func answer(
    _ request: HTTPRequest, _ gate: Gate, _ files: PageFiles, _ model: PageModel
  ) async -> HTTPResponse {
    if let status = gate.refusal(of: request) { return HTTPResponse(statusCode: status) }
    if request.method == .POST { return await PageCommand.perform(request, model) }
    if request.path == "/live", request.method == .GET {
      let body = HTTPBodySequence(from: EventStreamBody(listener: await model.listen()))
      return HTTPResponse(statusCode: .ok, headers: [.contentType: "text/event-stream"], body: body)
    }
    return files.response(request.path) ?? HTTPResponse(statusCode: .notFound)
  }
}
