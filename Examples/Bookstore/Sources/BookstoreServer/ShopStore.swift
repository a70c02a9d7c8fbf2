import BookstoreKit
import BookstoreWeb
import ConcordPersistence
import Foundation

/// The shop's store. All that a request writes is written in one transaction.
final class ShopStore: Sendable {
  typealias Container = GenericPersistentContainer<ContextStrategy.Direct>

  let container: Container
  /// The context of all changes, which are made one after the other.
  let writer: BackgroundContext
  /// The changes, in order, whichever server made them.
  let feed: ChangeFeed
  private let lock: FolderLock?

  /// Opens a shop, or makes one with the books of a catalogue.
  ///
  /// - Throws: ``ServerError``
  init(at place: ShopPlace, catalogue: Catalogue) throws {
    lock = try Self.lock(place)
    let name: String
    switch place {
    case .folder(let folder): name = folder.appendingPathComponent("server.sqlite").path
    case .postgreSQL: name = "the database"
    }
    do {
      container = Container(name: "server", model: try .shop())
      switch place {
      case .folder(let folder): try container.attachPersistentStore(at: folder)
      case .postgreSQL(let url): try container.attachPersistentStore(for: try .postgreSQL(url))
      }
      writer = container.newBackgroundContext()
      writer.mergePolicy = .error
      try Self.fill(writer, catalogue)
      feed = try ChangeFeed(container)
    } catch StoreError.newerStore {
      throw ServerError.storeUnusable(name, reason: "a later version of this program has written it")
    } catch StoreError.damagedStore(_, let reason) {
      throw ServerError.storeUnusable(name, reason: reason)
    } catch {
      throw ServerError.storeUnusable(name, reason: "\(error)")
    }
  }

  func close() throws {
    feed.stop()
    try container.detach(persistentStores: container.persistentStores)
  }

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
    guard try context.find(ShopVersion.self, id: ShopVersion.only) == nil else { return }
    context.insert(ShopVersion(id: ShopVersion.only, number: 1))
    for author in catalogue.authors { context.insert(author.at(version: 1)) }
    for book in catalogue.books {
      var book = book
      (book.version, book.author.version) = (1, 1)
      context.insert(book)
    }
    do {
      try context.save()
    } catch StoreError.conflict {
      context.rollback()
    }
  }
}

extension Author {
  fileprivate func at(version: Int) -> Author {
    var author = self
    author.version = version
    return author
  }
}
