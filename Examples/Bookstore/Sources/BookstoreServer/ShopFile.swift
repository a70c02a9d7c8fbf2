import BookstoreKit
import BookstoreWeb
import Foundation
import GRDB

/// The server's file: `server.sqlite` in a folder. All that is written is written in one transaction for each request.
final class ShopFile: Sendable {
  let database: DatabasePool
  /// Those who follow what changes.
  let feed = Broadcast<ServerEvent>()
  private let lock: FolderLock

  /// Opens the file in a folder, or makes it, with the books of a catalogue.
  ///
  /// - Throws: ``ServerError``
  init(in folder: URL, catalogue: Catalogue) throws {
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      // Foundation does not say why; the system does when it is asked again.
      if mkdir(folder.path, 0o755) != 0 {
        throw ServerError.folderNotWritable(folder.path, reason: String(cString: strerror(errno)))
      }
    }
    lock = try FolderLock(folder)
    let file = folder.appendingPathComponent("server.sqlite")
    do {
      var configuration = Configuration()
      configuration.busyMode = .timeout(5)
      database = try DatabasePool(path: file.path, configuration: configuration)
      let migrator = Self.migrator(catalogue)
      if try database.read(migrator.hasBeenSuperseded) { throw LaterVersion() }
      try migrator.migrate(database)
    } catch {
      throw ServerError.fileUnusable(file.path, reason: "\(error)")
    }
  }

  func close() throws { try database.close() }

  private struct LaterVersion: Error, CustomStringConvertible {
    var description: String { "a later version of this program has written it" }
  }

  private static func migrator(_ catalogue: Catalogue) -> DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1") { db in
      try db.execute(sql: schema)
      for author in catalogue.authors {
        try db.execute(
          sql: "INSERT INTO Author (id, name, version) VALUES (?, ?, 1)", arguments: [author.id, author.name])
      }
      for book in catalogue.books {
        try db.execute(
          sql: """
            INSERT INTO Book (id, number, title, year, language, subjects, cents, stock, author, version)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1)
            """,
          arguments: [
            book.id, book.number, book.title, book.year, book.language, try Wire.data(book.subjects), book.cents,
            book.stock, book.author.id,
          ])
      }
    }
    return migrator
  }

  /// `Applied` has a row for each action that a customer forwarded, in the order in which they were applied; `book` is the id of
  /// the author where it was the author that was changed. `Answer` has what is said again when an action is sent again.
  private static let schema = """
    CREATE TABLE Author (id TEXT PRIMARY KEY, name TEXT NOT NULL, version INTEGER NOT NULL);
    CREATE TABLE Book (
      id TEXT PRIMARY KEY, number INTEGER NOT NULL UNIQUE, title TEXT NOT NULL, year INTEGER NOT NULL,
      language TEXT NOT NULL, subjects TEXT NOT NULL, cents INTEGER NOT NULL, stock INTEGER NOT NULL,
      author TEXT NOT NULL REFERENCES Author (id), version INTEGER NOT NULL);
    CREATE TABLE Review (
      number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, book TEXT NOT NULL REFERENCES Book (id),
      stars INTEGER NOT NULL, "by" TEXT NOT NULL, text TEXT NOT NULL);
    CREATE INDEX Review_book ON Review (book);
    CREATE TABLE Line (
      number INTEGER PRIMARY KEY, customer TEXT NOT NULL, book TEXT NOT NULL REFERENCES Book (id),
      version INTEGER NOT NULL, UNIQUE (customer, book));
    CREATE TABLE Copy (
      number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, line INTEGER NOT NULL REFERENCES Line (number));
    CREATE INDEX Copy_line ON Copy (line);
    CREATE TABLE Applied (sequence INTEGER PRIMARY KEY, key TEXT UNIQUE, book TEXT, action TEXT);
    CREATE TABLE Answer (key TEXT PRIMARY KEY, request BLOB NOT NULL, status INTEGER NOT NULL, body BLOB NOT NULL);
    CREATE TABLE Version (number INTEGER NOT NULL);
    INSERT INTO Version (number) VALUES (1);
    """
}
