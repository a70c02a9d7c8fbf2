public import BookstoreKit
import BookstoreWeb
import FlyingFox
public import Foundation

/// The shop as a web service, on the loopback interface.
///
/// ```swift
/// let server = try await BookstoreServer(port: 0, place: .folder(folder), catalogue: try Catalogue.open(nil))
/// print(server.url)
/// await server.stop()
/// ```
public final class BookstoreServer: Sendable {
  public let url: URL
  private let listening: Listening
  private let store: ShopStore

  /// Opens the shop and listens, once it returns.
  ///
  /// - Parameters:
  ///   - port: where; any free one, if 0.
  ///   - place: where the shop is kept.
  ///   - catalogue: what a new shop sells.
  /// - Throws: ``ServerError``, or `ListeningError` if the port cannot be had.
  public init(port: UInt16, place: ShopPlace, catalogue: Catalogue) async throws {
    store = try ShopStore(at: place, catalogue: catalogue)
    let service = Service(store)
    let gate = Gate()
    // Who knows the port already may ask at once.
    if port != 0 { gate.open(Int(port)) }
    listening = try await Listening.start(port: port) { request in
      if let status = gate.refusalOfForeign(request) {
        return Answer(Refusal(status: status.code, reason: "Pages of other origins are not answered.")).response
      }
      return await service.answer(request)
    }
    url = listening.url
    if let port = url.port { gate.open(port) }
  }

  /// Answers what has begun, for a second at most, and closes the store.
  public func stop() async {
    await listening.stop()
    try? store.close()
  }

  /// Waits until it listens no longer.
  public func finished() async { _ = await listening.running.result }
}
