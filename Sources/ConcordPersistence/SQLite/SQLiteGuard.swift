#if Persistence
  import Concord
  import ConcordModel
  import Foundation
  import GRDB

  /// A check that an open file is still the one that was opened, with the tables of the model.
  final class SQLiteGuard: Sendable {
    private let path: String
    private let file: FileIdentity
    private let schema: SQLiteSchema
    /// The number of SQLite's schema that was compared with the model; it differs after each change of a table.
    private let checked = Locked(Checked())

    private struct Checked {
      var schema: Int?
      /// The number of noticed commits of other writers when it was compared.
      var others: Int?
    }

    init(path: String, file: FileIdentity, schema: SQLiteSchema) {
      self.path = path
      self.file = file
      self.schema = schema
    }

    /// Notes what a file is like that has just been prepared.
    func begin(_ db: Database) throws {
      let number = try Self.schemaVersion(db)
      checked.withLock { $0.schema = number }
    }

    var place: StorePlace { file.place }

    /// Whether the file is still there.
    var isIntact: Bool { file.isIntact(at: path) }

    /// - Throws: ``/ConcordModel/StoreError/replacedStore(store:)`` if another file is at the path, or none, or it was emptied.
    func check() throws { if !isIntact { throw StoreError.replacedStore(store: schema.store) } }

    /// Checks the identity of a file that may be empty, since it is being made.
    func checkIdentity() throws {
      guard FileIdentity(path: path) == file else { throw StoreError.replacedStore(store: schema.store) }
    }

    /// Within a transaction: checks that no newer program has migrated the file.
    ///
    /// - Throws: ``/ConcordModel/StoreError/newerStore(store:differences:)``.
    func checkSchema(_ db: Database) throws {
      let number = try Self.schemaVersion(db)
      if checked.withLock({ $0.schema == number }) { return }
      // Other programs may have added indexes or tables.
      guard try schema.isCurrent(db) else { throw StoreError.newerStore(store: schema.store) }
      checked.withLock { $0.schema = number }
    }

    /// Checks the tables within a transaction, if there are commits of other writers since the last check.
    func checkSchema(_ db: Database, others: Int) throws {
      if checked.withLock({ $0.others == others }) { return }
      try checkSchema(db)
      checked.withLock { $0.others = others }
    }

    /// Reads, and replaces an error by its cause if the file was replaced or migrated.
    func explaining<R>(_ db: Database, _ body: () throws -> R) throws -> R {
      do { return try body() } catch {
        try check()
        db.clearSchemaCache()
        try checkSchema(db)
        throw error
      }
    }

    private static func schemaVersion(_ db: Database) throws -> Int? {
      let statement = SQLiteStatement(try db.cachedStatement(sql: "PRAGMA schema_version"))
      defer { statement.reset() }
      return try statement.step() ? Int(statement.integer(at: 0) ?? 0) : nil
    }
  }
#endif
