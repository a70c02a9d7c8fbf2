import ConcordPersistence
import Foundation
import GRDB

/// What the rows for searches keep: a text of 20 words.
struct Paper: PersistentEntity, Equatable {
  let id: Int
  var text: String

  static let persistentProperties: [PersistentProperty<Paper>] = [
    .init("id", \.id), .init("text", \.text, .searchable),
  ]

  init(from row: inout RowReader) throws {
    id = try row.read()
    text = try row.read()
  }

  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(text)
  }

  init(id: Int, turn: Int = 0) { (self.id, text) = (id, Self.text(id, turn)) }

  /// Words of which some are frequent: each hundredth has one in common, `topic7` for the numbers 7, 107 and so on.
  private static func text(_ id: Int, _ turn: Int) -> String {
    var state = UInt64(truncatingIfNeeded: id &* 31 &+ turn)
    let words = (0..<18).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return "word\((state >> 33) % 4_096)"
    }
    return (words + ["topic\(id % 100)", "seen\(turn)"]).joined(separator: " ")
  }
}

/// A place with papers, in which Concord searches, or the same work is done by hand. It goes with the object.
protocol PaperPlace: AnyObject {
  typealias Container = GenericPersistentContainer<ContextStrategy.Direct>
  /// A connection without Concord.
  associatedtype Raw

  init() throws
  /// A container that is attached as long as this lives, with so many papers.
  func concord(_ count: Int) throws -> Container
  @discardableResult func attach() throws -> Container
  func detach() throws
  /// Writes as another program does, which notes all rows.
  func noteAll() throws
  /// So many papers with an index of their words, without Concord.
  func byHand(_ count: Int) throws -> Raw
  static func upsert(_ papers: [Paper], _ raw: Raw) throws
  /// Returns the number of hits that are shown.
  static func search(_ word: String, _ raw: Raw) throws -> Int
  /// Keeps the connections on a core, as long as the result lives.
  static func keepOnCores(_ raw: Raw) throws -> AnyObject?
}

extension PaperPlace {
  /// A file has no server.
  static func keepOnCores(_ raw: Raw) throws -> AnyObject? { nil }
}

/// A file with papers, in which Concord searches, or GRDB with FTS5 by hand.
final class PaperFile: PaperPlace {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "concord-benchmark-\(UUID().uuidString)")
  private var attached: (container: Container, store: PersistentStore)?
  private var opened: DatabasePool?

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  deinit {
    try? detach()
    try? opened?.close()
    try? FileManager.default.removeItem(at: folder)
  }

  static func model() throws -> Model { try Model("Papers", entities: [Paper.self]) }

  func concord(_ count: Int) throws -> Container {
    let container = try attach()
    let context = container.newBackgroundContext()
    for id in 0..<count { context.insert(Paper(id: id)) }
    try context.save()
    return container
  }

  @discardableResult
  func attach() throws -> Container {
    let container = Container(name: "Papers", model: try Self.model())
    attached = (container, try container.attachPersistentStore(at: folder))
    return container
  }

  func detach() throws {
    if let attached { try attached.container.detach(persistentStore: attached.store) }
    attached = nil
  }

  func noteAll() throws {
    var configuration = Configuration()
    configuration.busyMode = .timeout(5)
    let queue = try DatabaseQueue(path: folder.appending(path: "Papers.sqlite").path, configuration: configuration)
    try queue.write { try $0.execute(sql: "UPDATE Paper SET text = text || ' more'") }
    try queue.close()
  }

  /// GRDB alone: an FTS5 index with external content, kept by triggers, as SQLite's documentation has it.
  func byHand(_ count: Int) throws -> DatabasePool {
    let pool = try DatabasePool(path: folder.appending(path: "ByHand.sqlite").path)
    opened = pool
    try pool.write { db in
      try db.execute(
        sql: """
          CREATE TABLE Paper (id INTEGER PRIMARY KEY, text TEXT NOT NULL, _stamp REAL NOT NULL);
          CREATE VIRTUAL TABLE found USING fts5(text, content='Paper', content_rowid='id');
          CREATE TRIGGER inserted AFTER INSERT ON Paper BEGIN
            INSERT INTO found (rowid, text) VALUES (NEW.id, NEW.text); END;
          CREATE TRIGGER deleted AFTER DELETE ON Paper BEGIN
            INSERT INTO found (found, rowid, text) VALUES ('delete', OLD.id, OLD.text); END;
          CREATE TRIGGER updated AFTER UPDATE ON Paper BEGIN
            INSERT INTO found (found, rowid, text) VALUES ('delete', OLD.id, OLD.text);
            INSERT INTO found (rowid, text) VALUES (NEW.id, NEW.text); END;
          """)
    }
    try Self.upsert((0..<count).map { Paper(id: $0) }, pool)
    return pool
  }

  static func upsert(_ papers: [Paper], _ pool: DatabasePool) throws {
    try pool.write { db in
      let upsert = try db.cachedStatement(
        sql: "INSERT INTO Paper VALUES (?, ?, 0) ON CONFLICT (id) DO UPDATE SET text = excluded.text")
      for paper in papers { try upsert.execute(arguments: [paper.id, paper.text]) }
    }
  }

  static func search(_ word: String, _ pool: DatabasePool) throws -> Int {
    try pool.read { db in
      try GRDB.Row.fetchAll(
        db,
        sql: """
          SELECT Paper.id, Paper.text FROM found JOIN Paper ON Paper.id = found.rowid
          WHERE found MATCH ? ORDER BY found.rank LIMIT 20
          """, arguments: [word]
      ).map { ($0[0] as Int, $0[1] as String) }.count
    }
  }
}
