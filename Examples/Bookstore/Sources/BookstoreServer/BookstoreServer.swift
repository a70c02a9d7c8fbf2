public import BookstoreKit
import BookstoreWeb
import ConcordServer
public import Foundation

/// The shop as a server of devices, on the loopback interface.
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
  ///   - history: a file that gets a line for each commit. Positions are not hidden then.
  /// - Throws: ``ServerError``, or `ListeningError` if the port cannot be had.
  public init(port: UInt16, place: ShopPlace, catalogue: Catalogue, history: URL? = nil) async throws {
    let store = try ShopStore(at: place, catalogue: catalogue, history: history)
    let staff = StaffRoutes(store)
    var limits = SyncLimits()
    limits.hidesPositions = history == nil
    // A machine asks as fast as it can.
    (limits.requestsPerSecond, limits.burst) = (1_000, 10_000)
    let service = SyncService.shop(
      store.container, limits: limits, isRefusing: { staff.isRefusing }, seen: { store.history?.know($0.id) })
    do {
      listening = try await Listening.start(
        port: port, services: [service], channelHandlers: { service.channelHandlers() }
      ) { router in
        service.addRoutes(to: router, path: "sync")
        staff.add(to: router)
      }
    } catch {
      try? store.close()
      throw error
    }
    self.store = store
    url = listening.url
  }

  /// Answers what has begun, for a second at most, and closes the store.
  public func stop() async {
    await listening.stop()
    try? store.close()
  }
}
