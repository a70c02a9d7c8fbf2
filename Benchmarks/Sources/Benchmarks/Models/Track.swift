import ConcordPersistence
import Foundation
import GRDB
import GRDBSQLite

/// What the rows for texts keep: a text with an index and one without.
struct Track: PersistentEntity, Equatable {
  let id: Int
  var title: String
  var artist: String
  var year: Int

  static let persistentProperties: [PersistentProperty<Track>] = [
    .init("id", \.id), .init("title", \.title, .indexed), .init("artist", \.artist), .init("year", \.year),
  ]

  init(from row: inout RowReader) throws {
    id = try row.read()
    title = try row.read()
    artist = try row.read()
    year = try row.read()
  }

  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(title)
    try row.write(artist)
    try row.write(year)
  }

  init(id: Int, title: String, artist: String, year: Int) {
    self.id = id
    self.title = title
    self.artist = artist
    self.year = year
  }

  /// One of a hundred has letters that are not ASCII.
  init(id: Int) {
    let number = String(id &* 7919 % 1_000_003, radix: 36)
    self.init(
      id: id, title: "Title \(number) of the \(id % 97)th kind",
      artist: id % 100 == 0 ? "Café \(number)" : "Artist \(number)",
      year: 1900 + id % 120)
  }

  /// With GRDB: a row, read by position.
  init(_ row: GRDB.Row) { self.init(id: row[0], title: row[1], artist: row[2], year: row[3]) }
}

/// A file with tracks, and who works on it: Concord, or GRDB alone with a collation by hand. It goes with the object.
final class TrackFile {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "concord-benchmark-\(UUID().uuidString)")
  private let container: GenericPersistentContainer<ContextStrategy.Direct>
  private let store: PersistentStore
  let pool: DatabasePool
  let context: BackgroundContext

  init(_ count: Int) throws {
    container = .init(name: "Tracks", model: try Model("Tracks", entities: [Track.self]))
    store = try container.attachPersistentStore(at: folder)
    context = container.newBackgroundContext()
    var configuration = Configuration()
    configuration.prepareDatabase { db in
      // The order of bytes, which is that of strings for ASCII, as a collation of the program's.
      sqlite3_create_collation_v2(
        db.sqliteConnection, "by_hand", SQLITE_UTF8, nil,
        { _, aCount, a, bCount, b in
          guard let a, let b else { return aCount - bCount }
          let result = memcmp(a, b, Int(min(aCount, bCount)))
          return result == 0 ? aCount - bCount : result
        }, nil)
    }
    pool = try DatabasePool(path: folder.appending(path: "Tracks.sqlite").path, configuration: configuration)
    try pool.write { db in
      let insert = try db.makeStatement(
        sql: "INSERT INTO Track (id, title, artist, year, _stamp) VALUES (?, ?, ?, ?, 0)")
      for id in 0..<count {
        let track = Track(id: id)
        try insert.execute(arguments: [id, track.title, track.artist, track.year])
      }
    }
  }

  deinit {
    try? container.detach(persistentStore: store)
    try? pool.close()
    try? FileManager.default.removeItem(at: folder)
  }
}
