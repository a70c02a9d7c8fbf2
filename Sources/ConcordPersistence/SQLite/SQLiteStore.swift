#if Persistence
  import Concord
  public import ConcordModel
  public import Foundation
  import GRDB

  /// A store in an SQLite file, in WAL mode: readers do not wait for writers.
  ///
  /// What a write has returned from survives the end of the process, `kill -9` too. The file and those beside it are readable by
  /// their owner only, if they are new. A file that is removed or replaced while it is open is written to no more: a write throws.
  public final class SQLiteStore: RowStore {
    public let name: String
    /// Where the file is.
    public let url: URL
    let pool: DatabasePool
    private let tables: [EntityDescription: SQLiteTable]
    private let feed = Feed<StoreCommit>(label: "concord.commits")
    private let uses = SQLiteUses()
    private let watch: SQLiteWatch
    /// Which file was opened.
    private let file: FileIdentity?

    /// Opens a file, or makes one.
    ///
    /// - Parameters:
    ///   - url: the file; its folder is made if it is not there.
    ///   - entities: what it keeps.
    ///   - timeout: how long one waits for others that hold the file, in seconds.
    ///   - migrations: how columns are migrated where that cannot be inferred.
    ///   - migrates: whether a file of an earlier model is migrated.
    ///   - version: that of the model.
    /// - Throws: ``/ConcordModel/StoreError``: a file that is damaged, or none of SQLite's, or of another schema; one that cannot be made.
    public init(
      url: URL, entities: [EntityDescription], timeout: TimeInterval = 5, migrations: [ColumnMigration] = [],
      migrates: Bool = true, version: Int = 0
    ) throws {
      self.url = url
      let name = url.lastPathComponent
      self.name = name
      try SQLiteStore.makeFolder(of: url)
      var configuration = Configuration()
      configuration.busyMode = .timeout(timeout)
      configuration.label = "concord.\(name)"
      configuration.prepareDatabase { db in
        // The file may be somebody else's: its triggers and the like must not call functions of this program.
        try db.execute(sql: "PRAGMA trusted_schema = OFF")
        try SQLiteFunctions.register(db)
      }
      let folder = url.resolvingSymlinksInPath().deletingLastPathComponent()
      let dataVersion: Int?
      (pool, dataVersion) = try StoreError.translating(store: name) {
        let lock = SQLiteFolderLock(folder, timeout: timeout)
        defer { lock.unlock() }
        try SQLiteStore.makeFile(url)
        let isNew = (try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int) == 0
        let pool = try DatabasePool(path: url.path, configuration: configuration)
        // A migration may take long.
        if !isNew { lock.unlock() }
        let schema = SQLiteSchema(
          entities: entities, migrations: migrations, store: name, migrates: migrates, version: version)
        do {
          return try pool.write { db in
            try schema.prepare(db)
            return (pool, try SQLiteWatch.dataVersion(db))
          }
        } catch {
          try? Self.close(pool)
          throw error
        }
      }
      file = FileIdentity(path: url.path)
      watch = SQLiteWatch(pool, dataVersion, feed, uses)
      tables = Dictionary(uniqueKeysWithValues: entities.map { ($0, SQLiteTable($0)) })
    }

    /// Opens the file of a configuration.
    convenience init(_ request: StoreRequest) throws {
      guard let url = request.url else { throw StoreError.storeFailed(store: request.name, reason: "no file is named") }
      let configuration = request.configuration
      let timeout = configuration.options[ConcordBusyTimeoutOption] as? Double ?? 5
      let migrates =
        configuration.isOn(NSMigratePersistentStoresAutomaticallyOption)
        && configuration.isOn(NSInferMappingModelAutomaticallyOption)
      do {
        try self.init(
          url: url, entities: request.entities, timeout: timeout, migrations: request.model.migrations,
          migrates: migrates, version: request.model.version)
      } catch let error as StoreError where configuration.overwriteIncompatibleStore && error.isIncompatible {
        try SQLiteStore.keepBeside(url)
        try self.init(url: url, entities: request.entities, timeout: timeout, version: request.model.version)
      }
    }

    /// Gives a file another name, with those beside it: `Library.sqlite.incompatible`, or with a number.
    private static func keepBeside(_ url: URL) throws {
      let manager = FileManager.default
      var name = "\(url.lastPathComponent).incompatible"
      let folder = url.deletingLastPathComponent()
      var number = 1
      while manager.fileExists(atPath: folder.appendingPathComponent(name).path) {
        number += 1
        name = "\(url.lastPathComponent).incompatible\(number)"
      }
      do {
        for suffix in ["", "-wal", "-shm"] where manager.fileExists(atPath: url.path + suffix) {
          try manager.moveItem(atPath: url.path + suffix, toPath: folder.appendingPathComponent(name + suffix).path)
        }
      } catch {
        throw StoreError.storeFailed(store: url.lastPathComponent, reason: "\(error)")
      }
    }

    private static func makeFolder(of url: URL) throws {
      do {
        try FileManager.default.createDirectory(
          at: url.deletingLastPathComponent(), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700]
        )
      } catch {
        throw StoreError.storeFailed(
          store: url.lastPathComponent, reason: "its folder cannot be made: \(error.localizedDescription)")
      }
    }

    /// SQLite gives the files beside it the same permissions.
    private static func makeFile(_ url: URL) throws {
      // Whoever closes a file drops the locks that this process has on it.
      if FileManager.default.fileExists(atPath: url.path) { return }
      // What another process has made meanwhile stays as it is.
      let descriptor = Foundation.open(url.path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else {
        throw StoreError.storeFailed(store: url.lastPathComponent, reason: "the file cannot be made")
      }
      Foundation.close(descriptor)
    }

    public func read<R>(_ body: (any RowReading) throws -> R) throws -> R {
      try using {
        let id = ObjectIdentifier(self)
        if Self.reading.contains(id) {
          // A computed property that is evaluated within a reading may read itself: it sees the same state.
          return try pool.unsafeReentrantRead { db in
            let session = SQLiteSession(db, tables: tables, store: name)
            return try db.isInsideTransaction ? body(session) : db.inPreparedReading { try body(session) }
          }
        }
        return try Self.$reading.withValue(Self.reading + [id]) {
          try pool.read { try body(SQLiteSession($0, tables: tables, store: name)) }
        }
      }
    }

    /// The stores that are being read here: GRDB traps where one connection is asked for twice.
    @TaskLocal private static var reading: [ObjectIdentifier] = []

    public func write<R>(origin: ObjectIdentifier?, _ body: (any RowWriting) throws -> R) throws -> R {
      try using {
        try pool.writeWithoutTransaction { db in
          guard FileIdentity(path: url.path) == file else {
            // Nobody would ever read what is written.
            throw StoreError.storeFailed(store: name, reason: "its file was removed or replaced")
          }
          let session = SQLiteSession(db, tables: tables, store: name)
          let result = try db.inPreparedTransaction { try body(session) }
          // While the connection is still held, so that no other commit comes between.
          if !session.changedKeys.isEmpty { feed.tell(StoreCommit(keys: session.changedKeys, origin: origin)) }
          return result
        }
      }
    }

    public func observeCommits(_ body: @escaping @Sendable (StoreCommit) -> Void) -> StoreObservation {
      watch.start()
      return feed.observe(body)
    }

    public func observeCommits(
      except origin: ObjectIdentifier, _ body: @escaping @Sendable (StoreCommit) -> Void
    ) -> StoreObservation {
      watch.start()
      return feed.observe(where: { $0.origin != origin }, body)
    }

    public func settle() { feed.settle() }

    public func holdOutbox() throws -> OutboxHold? {
      try using { try SQLiteOutboxLock.take(beside: url, store: name) }
    }

    public func close() throws {
      watch.stop()
      guard uses.end() else { return }
      try StoreError.translating(store: name) { try Self.close(pool) }
    }

    /// How SQLite goes about a query.
    func queryPlan(_ query: RowQuery) throws -> String {
      try read { try $0.steps(of: query).filter { !$0.hasPrefix("SELECT") }.joined(separator: "\n") }
    }

    /// The writer goes last: it takes the log into the file, which readers cannot.
    private static func close(_ pool: DatabasePool) throws {
      pool.invalidateReadOnlyConnections()
      try pool.close()
    }

    private func using<R>(_ body: () throws -> R) throws -> R {
      guard uses.enter() else { throw StoreError.detached(store: name) }
      defer { uses.leave() }
      return try StoreError.translating(store: name, body)
    }
  }
#endif
