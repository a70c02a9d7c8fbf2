import ConcordPersistence
import Foundation
import GRDB
import GRDBSQLite

/// A file with volumes, and who works on it: Concord, or GRDB and SQLite alone. It goes with the object.
final class VolumeFile {
  typealias Container = GenericPersistentContainer<ContextStrategy.Direct>

  private let folder = FileManager.default.temporaryDirectory.appending(path: "concord-benchmark-\(UUID().uuidString)")
  private var attached: (container: Container, store: PersistentStore)?
  private var opened: DatabasePool?

  /// Makes a file with the tables that Concord makes, and so many rows in them.
  init(_ count: Int) throws {
    let store = try container().attachPersistentStore(at: folder)
    try attached?.container.detach(persistentStore: store)
    attached = nil
    try pool().write { db in
      let insert = try db.makeStatement(sql: RawVolume.insert)
      for id in 0..<count { try RawVolume.write(Volume(id: id), with: insert) }
    }
    try opened?.close()
    opened = nil
  }

  deinit {
    if let attached { try? attached.container.detach(persistentStore: attached.store) }
    try? opened?.close()
    try? FileManager.default.removeItem(at: folder)
  }

  static func model() throws -> Model { try Model("Volumes", entities: [Volume.self, Collection.self]) }

  private func container() throws -> Container { Container(name: "Volumes", model: try Self.model()) }

  /// A container that is attached to the file as long as this lives.
  func concord() throws -> Container {
    if let attached { return attached.container }
    let container = try container()
    attached = (container, try container.attachPersistentStore(at: folder))
    return container
  }

  /// Attaches, and detaches.
  func attachOnce() throws {
    let container = try container()
    let store = try container.attachPersistentStore(at: folder)
    try container.detach(persistentStore: store)
  }

  /// GRDB alone, in the mode that Concord uses.
  func pool() throws -> DatabasePool {
    if let opened { return opened }
    // Who had the file before may still be closing it.
    var configuration = Configuration()
    configuration.busyMode = .timeout(5)
    let pool = try DatabasePool(path: path, configuration: configuration)
    opened = pool
    return pool
  }

  var path: String { folder.appending(path: "Volumes.sqlite").path }
}

/// Volumes without Concord.
enum RawVolume {
  static let columns = "id, title, author, year, price, published"
  static let insert = "INSERT INTO Volume (\(columns), _stamp) VALUES (?, ?, ?, ?, ?, ?, 0)"
  static let upsert = """
    \(insert) ON CONFLICT (id) DO UPDATE SET title = excluded.title, author = excluded.author, \
    year = excluded.year, price = excluded.price, published = excluded.published, _stamp = excluded._stamp
    """

  /// With GRDB: arguments, and one execution.
  static func write(_ volume: Volume, with statement: Statement) throws {
    try statement.execute(arguments: [
      volume.id, volume.title, volume.author, volume.year, volume.price,
      volume.published.timeIntervalSinceReferenceDate,
    ])
  }

  /// With GRDB: a row, read by position.
  static func read(_ row: GRDB.Row) -> Volume {
    Volume(
      id: row[0], title: row[1], author: row[2], year: row[3], price: row[4],
      published: Date(timeIntervalSinceReferenceDate: row[5]))
  }

  /// With SQLite's own functions.
  static func write(_ volume: Volume, to handle: OpaquePointer?) throws {
    sqlite3_bind_int64(handle, 1, Int64(volume.id))
    bind(volume.title, 2, handle)
    bind(volume.author, 3, handle)
    sqlite3_bind_int64(handle, 4, Int64(volume.year))
    sqlite3_bind_double(handle, 5, volume.price)
    sqlite3_bind_double(handle, 6, volume.published.timeIntervalSinceReferenceDate)
    let code = sqlite3_step(handle)
    sqlite3_reset(handle)
    try expect(code, is: SQLITE_DONE, "what SQLite says")
  }

  private static func bind(_ text: String, _ position: Int32, _ handle: OpaquePointer?) {
    var text = text
    text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        _ = sqlite3_bind_text(
          handle, position, characters.baseAddress, Int32(characters.count),
          unsafeBitCast(-1, to: sqlite3_destructor_type.self))
      }
    }
  }

  /// With SQLite's own functions: the row that the statement stands on.
  static func read(_ handle: OpaquePointer?) -> Volume {
    func text(_ position: Int32) -> String {
      guard let bytes = sqlite3_column_text(handle, position) else { return "" }
      let count = Int(sqlite3_column_bytes(handle, position))
      return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }
    return Volume(
      id: Int(sqlite3_column_int64(handle, 0)), title: text(1), author: text(2),
      year: Int(sqlite3_column_int64(handle, 3)), price: sqlite3_column_double(handle, 4),
      published: Date(timeIntervalSinceReferenceDate: sqlite3_column_double(handle, 5)))
  }
}
