#if Server && os(Linux)
  import ConcordServer
  import Foundation
  import GRDB

  /// Keeps what the servers of a store let its feed forget, so that what devices have shown can be compared with it all the same.
  struct FeedArchive {
    private enum Place {
      case file(URL)
      /// A schema of the database of the tests.
      case schema(String)
    }
    private let place: Place

    /// Keeps what is forgotten from now on.
    ///
    /// - Parameters:
    ///   - file: the file of the store; `nil` if it is in the database.
    ///   - schema: the store's schema there.
    init(_ file: URL?, schema: String) throws {
      place = file.map { .file($0) } ?? .schema("\"\(schema)\"")
      switch place {
      case .file(let file):
        let values = "number, entity, \"key\", before, target, added"
        try execute("CREATE TABLE fault_archive (number INTEGER, entity, \"key\", before, target, added)", in: file)
        try execute("CREATE TABLE fault_feed AS SELECT forgotten, begun, kept FROM concord_feed", in: file)
        let old = "OLD.number, OLD.entity, OLD.\"key\", OLD.before, OLD.target, OLD.added"
        try execute(
          """
          CREATE TRIGGER fault_keep BEFORE DELETE ON concord_changes BEGIN
          INSERT INTO fault_archive (\(values)) SELECT \(old); END
          """, in: file)
      case .schema(let schema):
        try run("CREATE TABLE \(schema).fault_archive (LIKE \(schema).concord_history)")
        try run(
          "CREATE TABLE \(schema).fault_feed AS SELECT merged, kept, forgotten, begun FROM \(schema).concord_feed")
        try run(
          """
          CREATE FUNCTION \(schema).fault_keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          INSERT INTO \(schema).fault_archive SELECT (OLD).*; RETURN OLD; END $$
          """)
        try run(
          """
          CREATE TRIGGER fault_keep BEFORE DELETE ON \(schema).concord_history FOR EACH ROW
          EXECUTE FUNCTION \(schema).fault_keep()
          """)
      }
    }

    /// Lets the feed know again what it has forgotten, when no server is there any longer.
    ///
    /// - Returns: the number of changes that it had forgotten.
    func restore() throws -> Int {
      switch place {
      case .file(let file):
        let queue = try DatabaseQueue(path: file.path)
        defer { try? queue.close() }
        return try queue.write { db in
          try db.execute(sql: "DROP TRIGGER fault_keep")
          try db.execute(sql: "INSERT INTO concord_changes SELECT * FROM fault_archive")
          let count = db.changesCount
          try db.execute(
            sql: """
              UPDATE concord_feed SET (forgotten, begun, kept) = (SELECT forgotten, begun, kept FROM fault_feed)
              """)
          return count
        }
      case .schema(let schema):
        try run("DROP TRIGGER fault_keep ON \(schema).concord_history")
        try run("INSERT INTO \(schema).concord_history OVERRIDING SYSTEM VALUE SELECT * FROM \(schema).fault_archive")
        try run(
          """
          UPDATE \(schema).concord_feed SET (merged, kept, forgotten, begun) =
          (SELECT merged, kept, forgotten, begun FROM \(schema).fault_feed)
          """)
        return Int(try run("SELECT count(*) FROM \(schema).fault_archive")) ?? 0
      }
    }

    @discardableResult
    private func run(_ sql: String) throws -> String { try DatabaseFault.administer(sql, asOwner: false) }
  }
#endif
