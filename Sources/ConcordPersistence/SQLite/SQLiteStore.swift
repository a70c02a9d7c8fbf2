#if Persistence
  import Concord
  public import ConcordModel
  public import Foundation
  import GRDB

  /// A store in an SQLite file, in WAL mode: readers do not wait for writers.
  ///
  /// When a write has returned, it survives the end of the process, also by `kill -9`. A new file, its log and its
  /// shared memory are readable by their owner only. A file that is removed, replaced or emptied while it is open is no
  /// longer read or written: calls throw ``/ConcordModel/StoreError/replacedStore(store:)``. A file that a newer
  /// program has migrated meanwhile is no longer read or written: calls throw ``/ConcordModel/StoreError/newerStore(store:differences:)``.
  public final class SQLiteStore: RowStore, ExclusivelyWritten, PlacedStore {
    public let name: String
    /// The address of the file.
    public let url: URL
    let pool: DatabasePool
    private let tables: [EntityDescription: SQLiteTable]
    private let feed = Feed<StoreCommit>(label: "concord.commits")
    private let uses = SQLiteUses()
    private let watch: SQLiteWatch
    private let guardian: SQLiteGuard
    package var place: StorePlace { guardian.place }
    private let commits: SQLiteCommits
    private let reader: SQLiteReader
    private let outboxPresence = SQLiteOutboxPresence()
    private let facts = SQLiteFacts.Memory()
    private let timeout: TimeInterval
    private let deletionTime: TimeInterval
    private let hasFTS5: Bool
    private let searchableEntities: [EntityDescription]
    private let feedLimits = Locked(FeedLimits())

    /// Opens a file, or makes one.
    ///
    /// - Parameters:
    ///   - url: the file; its folder is created if it does not exist.
    ///   - entities: the entities that the file keeps.
    ///   - timeout: the longest wait for other processes that lock the file, in seconds.
    ///   - migrations: migrations of columns that cannot be inferred.
    ///   - migrates: whether a file of an earlier model is migrated.
    ///   - version: the version of the model.
    ///   - replacesIncompatible: whether a file that cannot be migrated is replaced by a new one, and kept under another name. A newer file, a file of another program, a damaged file and one that another process has open are never replaced.
    ///   - deletionTime: the time for which deletions are remembered, in seconds; see ``ConcordRememberedDeletionsOption``.
    /// - Throws: ``/ConcordModel/StoreError``: for a file that is damaged, of another program or of another schema, or
    ///   that cannot be created.
    public init(
      url: URL, entities: [EntityDescription], timeout: TimeInterval = 5, migrations: [ColumnMigration] = [],
      migrates: Bool = true, version: Int = 0, replacesIncompatible: Bool = false,
      remembersDeletionsFor deletionTime: TimeInterval = 30 * 86_400
    ) throws {
      self.url = url
      self.timeout = timeout
      self.deletionTime = deletionTime
      let name = url.lastPathComponent
      self.name = name
      try SQLiteStore.makeFolder(of: url)
      let schema = SQLiteSchema(
        entities: entities, migrations: migrations, store: name, migrates: migrates, version: version)
      let folder = url.resolvingSymlinksInPath().deletingLastPathComponent()
      (pool, guardian, commits, reader) = try StoreError.translating(store: name) {
        let lock = SQLiteFolderLock(folder, timeout: timeout)
        defer { lock.unlock() }
        do {
          return try SQLiteStore.open(url, schema, timeout, deletionTime, lock)
        } catch StoreError.incompatibleStore where replacesIncompatible {
          lock.lock()
          try SQLiteStore.keepBeside(url)
          return try SQLiteStore.open(url, schema, timeout, deletionTime, lock)
        }
      }
      watch = SQLiteWatch(commits, feed, uses, guardian)
      searchableEntities = entities.filter { !$0.searchablePositions.isEmpty }
      hasFTS5 = try !searchableEntities.isEmpty && pool.unsafeRead { SQLiteSearchIndex.isAvailable($0) }
      tables = Dictionary(uniqueKeysWithValues: entities.map { ($0, SQLiteTable($0)) })
    }

    /// Opens the file of a configuration.
    convenience init(_ request: StoreRequest) throws {
      guard let url = request.url else { throw StoreError.storeFailed(store: request.name, reason: "no file is named") }
      let configuration = request.configuration
      try self.init(
        url: url, entities: request.entities,
        timeout: Self.busyTimeout(configuration.options[ConcordBusyTimeoutOption]),
        migrations: request.model.migrations,
        migrates: configuration.isOn(NSMigratePersistentStoresAutomaticallyOption)
          && configuration.isOn(NSInferMappingModelAutomaticallyOption), version: request.model.version,
        replacesIncompatible: configuration.overwriteIncompatibleStore,
        remembersDeletionsFor: configuration.deletionTime)
    }

    /// Returns the time to wait for other processes, in seconds. SQLite counts 31 bits of milliseconds.
    static func busyTimeout(_ option: (any Sendable)?) -> TimeInterval {
      let value = option as? Double ?? (option as? Int).map(Double.init) ?? 5
      return value.isNaN ? 5 : min(max(0, value), 2_000_000)
    }

    private static func open(
      _ url: URL, _ schema: SQLiteSchema, _ timeout: TimeInterval, _ deletionTime: TimeInterval,
      _ lock: SQLiteFolderLock
    ) throws -> (DatabasePool, SQLiteGuard, SQLiteCommits, SQLiteReader) {
      try makeFile(url)
      try checkNames(url)
      try SQLiteInspection(url: url, schema: schema).run()
      guard let file = FileIdentity(path: url.path) else { throw StoreError.replacedStore(store: schema.store) }
      let guardian = SQLiteGuard(path: url.path, file: file, schema: schema)
      var configuration = Configuration()
      configuration.busyMode = .timeout(timeout)
      configuration.label = "concord.\(schema.store)"
      configuration.prepareDatabase { db in
        // Connections are opened as they are needed, and by then another file may be there.
        try guardian.checkIdentity()
        // The file may come from a stranger: its triggers and views must not call functions of this program.
        try db.execute(sql: "PRAGMA trusted_schema = OFF")
        try SQLiteFunctions.register(db)
      }
      let pool = try DatabasePool(path: url.path, configuration: configuration)
      // A migration may take long.
      if !file.isEmpty { lock.unlock() }
      do {
        return try pool.write { db in
          try schema.prepare(db)
          if try db.tableExists("concord_deletions") {
            try SQLiteDeletions.forget(after: deletionTime, atMost: DeletionLimits.sweptAtStart, db)
          }
          try guardian.begin(db)
          return (pool, guardian, SQLiteCommits(pool, db), SQLiteReader(path: url.path, configuration))
        }
      } catch {
        try? close(pool)
        throw error
      }
    }

    /// Renames a file to `Library.sqlite.incompatible`, or with a number.
    ///
    /// - Throws: ``/ConcordModel/StoreError/locked(store:)`` if another process has it open.
    private static func keepBeside(_ url: URL) throws {
      try takeLogIntoFile(url)
      let manager = FileManager.default
      let folder = url.deletingLastPathComponent()
      var (name, number) = (keptName(url, ""), 1)
      while manager.fileExists(atPath: folder.appendingPathComponent(name).path) {
        number += 1
        name = keptName(url, "\(number)")
      }
      do {
        for suffix in ["", "-wal", "-shm"] where manager.fileExists(atPath: url.path + suffix) {
          try manager.moveItem(atPath: url.path + suffix, toPath: folder.appendingPathComponent(name + suffix).path)
        }
      } catch {
        throw StoreError.storeFailed(store: url.lastPathComponent, reason: "\(error)")
      }
    }

    /// The name of a file that is kept beside another one. It is no longer than that of a store's file may be.
    private static func keptName(_ url: URL, _ number: String) -> String {
      let ending = ".incompatible\(number)"
      var name = url.lastPathComponent
      while name.utf8.count + ending.utf8.count > StoreConfiguration.mostBytesOfName, !name.isEmpty {
        name.removeLast()
      }
      return name + ending
    }

    /// Copies the log into the file. Only the sole user of a file can end its log.
    private static func takeLogIntoFile(_ url: URL) throws {
      let queue = try DatabaseQueue(path: url.path)
      defer { try? queue.close() }
      try queue.inDatabase { db in
        guard try String.fetchOne(db, sql: "PRAGMA journal_mode = DELETE") == "delete" else {
          throw StoreError.locked(store: url.lastPathComponent)
        }
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

    /// The log is beside the name by which a file is opened, so what is saved by one name is not seen by another, and lost.
    private static func checkNames(_ url: URL) throws {
      guard FileIdentity(path: url.path)?.hasOtherNames ?? false else { return }
      throw StoreError.storeFailed(
        store: url.lastPathComponent,
        reason: "the file has another name, by a hard link; copy it, or remove one of the names")
    }

    /// SQLite gives the files beside it the same permissions.
    private static func makeFile(_ url: URL) throws {
      // Closing a file drops the locks that this process has on it.
      if FileManager.default.fileExists(atPath: url.path) { return }
      // What another process has made meanwhile stays as it is.
      let descriptor = Foundation.open(url.path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else {
        throw StoreError.storeFailed(store: url.lastPathComponent, reason: "the file cannot be made")
      }
      Foundation.close(descriptor)
    }

    private func session(_ db: Database) -> SQLiteSession {
      SQLiteSession(
        db, tables: tables, store: name, deletionTime: deletionTime, outboxPresence: outboxPresence, hasFTS5: hasFTS5,
        searchableEntities: searchableEntities)
    }

    public func read<R>(_ body: (any RowReading) throws -> R) throws -> R {
      try using {
        try guardian.check()
        let id = ObjectIdentifier(self)
        if Self.reading.contains(id) {
          // A computed property that is evaluated within a reading may read itself: it sees the same state.
          func readAgain(_ db: Database) throws -> R {
            let session = session(db)
            return try db.isInsideTransaction ? body(session) : db.inPreparedReading { try body(session) }
          }
          return try reader.readAgain(readAgain) ?? pool.unsafeReentrantRead(readAgain)
        }
        return try Self.$reading.withValue(Self.reading + [id]) {
          func read(_ db: Database) throws -> R {
            try db.inPreparedReading {
              // The snapshot begins with the first statement that reads: here, so that `unknownCommits` has all that is visible to the body.
              // The names of columns may have been exchanged, which no error tells.
              try guardian.explaining(db) {
                try guardian.checkSchema(db)
                return try body(session(db))
              }
            }
          }
          do { return try reader.read(read) ?? pool.unsafeRead(read) } catch {
            // A connection that is only being opened may be the first to meet another file.
            try guardian.check()
            throw error
          }
        }
      }
    }

    /// The stores that are being read here: GRDB traps where one connection is asked for twice.
    @TaskLocal private static var reading: [ObjectIdentifier] = []

    public func write<R>(origin: ObjectIdentifier?, _ body: (any RowWriting) throws -> R) throws -> R {
      try write(origin: origin, waiting: nil, body)
    }

    package func writeSoon<R>(origin: ObjectIdentifier?, _ body: (any RowWriting) throws -> R) throws -> R {
      try write(origin: origin, waiting: BriefWait(store: name, patience: timeout), body)
    }

    private func write<R>(
      origin: ObjectIdentifier?, waiting wait: BriefWait?, _ body: (any RowWriting) throws -> R
    ) throws -> R {
      try using {
        try pool.writeWithoutTransaction { db in
          // A write to a replaced file would never be read.
          try guardian.check()
          let session = session(db)
          var known = 0
          let result = try db.inPreparedTransaction(commits, waiting: wait) { others in
            try guardian.checkSchema(db, others: others)
            (known, session.facts) = (others, facts.facts(others))
            let result = try body(session)
            try session.updateSearchIndexes()
            return result
          }
          facts.keep(session.facts, known)
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

    public var unknownCommits: Int {
      guard uses.enter() else { return 0 }
      defer { uses.leave() }
      return commits.others
    }

    public func settle() { feed.settle() }

    public func synchronize() throws {
      // The log is written to the disk before it is taken into the file.
      try using { try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(FULL)") } }
    }

    public func giveBackSpace() throws {
      try using { try pool.writeWithoutTransaction { try SQLiteSpace.giveBack($0, commits) } }
    }

    public func holdOutbox() throws -> OutboxHold? {
      try using { try SQLiteOutboxLock.take(beside: url, store: name) }
    }

    public func startFeed(_ limits: FeedLimits) throws {
      try write(origin: nil) { writing in try (writing as? SQLiteSession)?.startFeed() }
      feedLimits.withLock { $0 = limits }
    }

    public func trimFeed() throws -> Bool {
      let limits = feedLimits.withLock { $0 }
      return try write(origin: nil) { writing in try (writing as? SQLiteSession)?.forget(limits) ?? false }
    }

    public func close() throws {
      watch.stop()
      guard uses.end() else { return }
      try StoreError.translating(store: name) {
        try reader.close()
        try Self.close(pool)
      }
    }

    /// Returns SQLite's plan of a query.
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
      return try StoreError.translating(store: name) {
        do { return try body() } catch  where error is DatabaseError || error is SQLiteFailure {
          // A file that goes meanwhile gives any error, also where a connection is opened.
          try guardian.check()
          throw error
        }
      }
    }
  }
#endif
