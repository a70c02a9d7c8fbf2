import BookstoreKit
import BookstoreWeb
import ConcordPersistence
import Foundation
import Synchronization

/// Tells its listeners each change of the shop once, in the order of their versions, whichever server made it.
final class ChangeFeed: Sendable {
  private let broadcast = Broadcast<Change>()
  private let task: Task<Void, Never>

  /// Begins with the changes after the present version.
  init(_ container: ShopStore.Container) throws {
    let versions = try container.viewContext.query(FetchDescriptor<ShopVersion>())
    let context = container.newBackgroundContext()
    let first = try context.shopVersion()
    task = Task { [broadcast] in
      var told = first
      for await _ in versions.values {
        // What cannot be read now is told when it can be.
        while !Task.isCancelled {
          do {
            for change in try await context.perform({ [told] in try $0.changes(after: told) }) {
              broadcast.send(change)
              told = change.version
            }
            break
          } catch {
            try? await Task.sleep(for: .milliseconds(200))
          }
        }
      }
    }
  }

  func listen() -> AsyncStream<Change> { broadcast.listen() }

  func stop() { task.cancel() }
}

extension BackgroundContext {
  fileprivate func changes(after version: Int) throws -> [Change] {
    try fetch(
      FetchDescriptor<Change>(predicate: #Predicate { $0.version > version }, sortBy: [SortDescriptor(\.version)]))
  }
}
