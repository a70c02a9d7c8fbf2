import BookstoreKit
import BookstoreShared
import ConcordPersistence
import Foundation

/// The shop's store.
final class ShopStore: Sendable {
  typealias Container = GenericPersistentContainer<ContextStrategy.Direct>

  let container: Container
  /// What writes down each commit, if anything does.
  let history: HistoryStore?
  private let lock: FolderLock?

  /// Opens a shop, or makes one with the books of a catalogue.
  ///
  /// - Throws: ``ServerError``
  init(at place: ShopPlace, catalogue: Catalogue, history: URL?) throws {
    lock = try Self.lock(place)
    let name: String
    switch place {
    case .folder(let folder): name = folder.appendingPathComponent("server.sqlite").path
    case .postgreSQL: name = "the database"
    }
    do {
      let opened = Container(name: "server", model: try .shop())
      let store =
        switch place {
        case .folder(let folder): try opened.attachPersistentStore(at: folder)
        case .postgreSQL(let url): try opened.attachPersistentStore(for: try .postgreSQL(url))
        }
      try Self.fill(opened.newBackgroundContext(), catalogue)
      // What cannot be followed cannot be served.
      try store.rows.startFeed()
      if let history {
        let recording = try HistoryStore(store.rows, opened.model, file: history)
        container = Container(name: "server", model: opened.model)
        try container.persistentStoreCoordinator.attach(
          PersistentStore(configurationName: nil, type: store.type, url: nil, rows: recording))
        self.history = recording
      } else {
        (container, self.history) = (opened, nil)
      }
    } catch StoreError.newerStore {
      throw ServerError.storeUnusable(name, reason: "a later version of this program has written it")
    } catch StoreError.damagedStore(_, let reason) {
      throw ServerError.storeUnusable(name, reason: reason)
    } catch {
      throw ServerError.storeUnusable(name, reason: "\(error)")
    }
  }

  func close() throws { try container.detach(persistentStores: container.persistentStores) }

  private static func lock(_ place: ShopPlace) throws -> FolderLock? {
    guard case .folder(let folder) = place else { return nil }
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      // Foundation does not say why; the system does when it is asked again.
      if mkdir(folder.path, 0o755) != 0 {
        throw ServerError.folderNotWritable(folder.path, reason: String(cString: strerror(errno)))
      }
    }
    return try FolderLock(folder)
  }

  /// Puts a catalogue into a new shop. Of several servers that find it new, one fills it.
  private static func fill(_ context: BackgroundContext, _ catalogue: Catalogue) throws {
    guard try context.count(FetchDescriptor<Book>()) == 0 else { return }
    context.mergePolicy = .error
    for book in catalogue.books { context.insert(book) }
    do {
      try context.save()
    } catch StoreError.conflict {
      context.rollback()
    }
  }
}
