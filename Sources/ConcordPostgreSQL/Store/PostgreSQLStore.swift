#if PostgreSQL
  import Concord
  public import ConcordModel
  public import ConcordPersistence
  import Foundation

  extension StoreType {
    /// A PostgreSQL database, which many processes share. See ``ConcordPostgreSQLOption``.
    public static let postgreSQL: StoreType = {
      let type: StoreType = "PostgreSQL"
      StoreFactory.register(type, hasFile: false) { request in try PostgreSQLStore(request) }
      return type
    }()
  }

  /// A store in a PostgreSQL database, which any number of processes share.
  ///
  /// A closure that writes is run again if its transaction met another one in the database, or the connection was lost before the commit: see
  /// ``/ConcordPersistence/RowStore/write(origin:_:)``.
  public final class PostgreSQLStore: RowStore, PlacedStore, BrieflyRead {
    public let name: String
    let options: PostgreSQLOptions
    let pool: PostgreSQLPool
    package let place: StorePlace
    /// The role, and the settings that its connections ask for: stores of one schema that have the same see the same rows.
    private let role: String
    let schema: PostgreSQLSchema
    private let tables: [EntityDescription: PostgreSQLTable]
    private let feed = CommitFeed()
    let watch: PostgreSQLWatch
    private let outboxLock: PostgreSQLOutboxLock
    private let isClosed = Locked(false)
    private let feedLimits = Locked(FeedLimits())
    /// The time at which the changes that are kept were counted last.
    private let lastCount = Locked(Date.distantPast)
    /// The least time between two times that they are counted, in seconds.
    let countInterval = Locked(3600.0)
    private let deletionTime: TimeInterval
    let searchIndexes: PostgreSQLSearchIndexes
    /// The number of times that transactions were run again.
    let repeatedWrites = Locked(0)

    /// Opens the database of a configuration.
    convenience init(_ request: StoreRequest) throws {
      let configuration = request.configuration
      try self.init(
        name: request.name, PostgreSQLOptions(configuration.options), model: request.model, entities: request.entities,
        configuration: configuration.name ?? "",
        migrates: (configuration.options[NSMigratePersistentStoresAutomaticallyOption] as? Bool ?? true)
          && (configuration.options[NSInferMappingModelAutomaticallyOption] as? Bool ?? true),
        remembersDeletionsFor: configuration.deletionTime)
    }

    init(
      name: String, _ options: PostgreSQLOptions, model: Model, entities: [EntityDescription],
      configuration: String = "",
      migrates: Bool = true, remembersDeletionsFor deletionTime: TimeInterval = DeletionLimits.time
    ) throws {
      self.name = name
      self.deletionTime = deletionTime
      self.options = options
      schema = PostgreSQLSchema(
        entities: entities, migrations: model.migrations, store: name, name: options.schema, migrates: migrates,
        version: model.version, areTogether: Self.togetherness(model, configuration))
      let pool = PostgreSQLPool(options, store: name)
      self.pool = pool
      let tables = Dictionary(uniqueKeysWithValues: entities.map { ($0, PostgreSQLTable($0)) })
      self.tables = tables
      outboxLock = PostgreSQLOutboxLock(
        pool, schema: options.schema, store: name, interval: min(options.pollInterval, 1))
      let schema = schema
      let searchIndexes = PostgreSQLSearchIndexes(
        entities, schema: options.schema, pool, interval: options.pollInterval)
      self.searchIndexes = searchIndexes
      do {
        (place, role) = try StoreError.translating(store: name) {
          let found = try Self.changingSchema(options) {
            try pool.with { connection in
              try schema.prepare(connection)
              try searchIndexes.refresh(connection)
              return try Self.place(connection)
            }
          }
          try searchIndexes.foldAll()
          return found
        }
        watch = try PostgreSQLWatch(pool, options, tables, store: name, feed)
      } catch {
        pool.close()
        throw error
      }
    }

    /// Returns the name of a schema, however its server is addressed: its cluster, its database, its own name, and the number of its outbox.
    ///
    /// The number is random, so that it tells copies of a cluster apart that were made without the schema; it is missing if another program has
    /// deleted it. A copy that replaces the schema in its database keeps all of these.
    private static func place(_ connection: PostgreSQLConnection) throws -> (StorePlace, role: String) {
      let result = try connection.run([
        .once(
          """
          SELECT system_identifier::text, current_database()::text, current_schema()::text,
            (SELECT epoch::text FROM concord_outbox_state LIMIT 1), current_user::text
          FROM pg_control_system()
          """)
      ])[0]
      let place = StorePlace.database("\((0...3).map { result.optionalText(0, $0) ?? "" })")
      return (place, "\([result.text(0, 4), connection.askedSettings])")
    }

    // MARK: The schema

    /// Runs what changes tables, and runs it again as long as it is the victim of a deadlock: whoever reads or writes meanwhile may hold one of
    /// the tables, and wait for another. It may have waited for that as long as it likes, so that only the time to look for a server is limited.
    private static func changingSchema<R>(_ options: PostgreSQLOptions, _ body: () throws -> R) throws -> R {
      var (conflicts, losses) = (PostgreSQLAttempts(timeout: .infinity), PostgreSQLAttempts(timeout: options.timeout))
      while true {
        do { return try body() } catch let failure as PostgreSQLFailure
          where failure.isConflict ? conflicts.mayRepeat(failure) : losses.mayRepeat(failure)
        {}
      }
    }

    /// Returns the SQL that makes all tables for the entities of a model, for an administrator to run where the program's role may not.
    ///
    /// It is a script for `psql`, in one transaction. Who runs it owns the tables. See ``PostgreSQLRightsError``, too.
    ///
    /// - Parameters:
    ///   - model: the model of the container.
    ///   - schema: the schema of the database.
    ///   - role: a role that gets the rights that a store needs, and no further ones; `nil` if the program's role is to own the tables.
    ///   - isFollowed: whether devices are synchronised with the database, which needs further tables and triggers.
    /// - Returns: the script, which creates nothing that is there already.
    /// - Throws: an error if the description of a table cannot be encoded, which no valid ``/ConcordModel/Model``
    ///   causes.
    public static func sql(
      for model: Model, schema: String = "concord", role: String? = nil, isFollowed: Bool = false
    ) throws -> String {
      let tables = PostgreSQLSchema(
        entities: model.entities, migrations: model.migrations, store: schema, name: schema, migrates: true,
        version: model.version, areTogether: togetherness(model, "")
      )
      var script = try tables.script(for: role)
      script.isFollowed = isFollowed
      if isFollowed { script.statements += HistorySchema(tables).statements }
      return script.text
    }

    /// Tells whether an entity and one that it refers to are always kept together.
    private static func togetherness(
      _ model: Model, _ configuration: String
    ) -> @Sendable (EntityDescription, EntityDescription) -> Bool {
      let configurations = model.configurationNames
      return { a, b in
        // Without a configuration, a store keeps only what no other store does that is attached.
        !configuration.isEmpty
          || configurations.allSatisfy {
            model.isMeant(a, for: $0, attached: []) == model.isMeant(b, for: $0, attached: [])
          }
      }
    }

    // MARK: Reading

    /// The reading that this thread is in: a computed property that is evaluated within it may read, and sees the same state.
    @TaskLocal static var current: Current?

    // Unchecked, because the compiler cannot see that the session is used by its thread only.
    struct Current: @unchecked Sendable {
      let store: ObjectIdentifier
      let thread: pthread_t
      /// `nil` within a writing, whose uncommitted rows a reading does not see.
      let session: PostgreSQLSession?
      let count: ReadingTransaction.BatchCount
      let state: ThreadValueState
      /// The one around it, maybe of another store.
      let outer: [Current]

      /// The innermost one of a store.
      func of(_ store: PostgreSQLStore) -> Current? {
        let id = ObjectIdentifier(store)
        return self.store == id ? self : outer.last { $0.store == id }
      }
    }

    /// The innermost reading or writing of this thread, of whatever store.
    private static var currentOfThread: Current? {
      guard let current, pthread_equal(current.thread, pthread_self()) != 0, !current.state.isEnded else { return nil }
      return current
    }

    /// The number of batches that this thread has read, in readings of any stores within each other.
    private var batchCount: ReadingTransaction.BatchCount {
      Self.currentOfThread?.count ?? ReadingTransaction.BatchCount()
    }

    private var entered: Current? { Self.currentOfThread.flatMap { $0.of(self) } }

    private func entering<R>(
      _ session: PostgreSQLSession?, _ count: ReadingTransaction.BatchCount? = nil, _ body: () throws -> R
    ) throws -> R {
      let outer = Self.currentOfThread.map { $0.outer + [$0] } ?? []
      let state = ThreadValueState()
      defer { state.isEnded = true }
      let current = Current(
        store: ObjectIdentifier(self), thread: pthread_self(), session: session, count: count ?? batchCount,
        state: state, outer: outer)
      return try Self.$current.withValue(current, operation: body)
    }

    public func read<R>(_ body: (any RowReading) throws -> R) throws -> R {
      // What follows does not depend on the type of the result, which would be looked up at each step.
      var result: R?
      try readAny { result = try body($0) }
      guard let result else { throw StoreError.storeFailed(store: name, reason: "nothing was read") }
      return result
    }

    /// Reads with a connection beyond the limit, if all are in use.
    package func readSoon<R>(_ body: (any RowReading) throws -> R) throws -> R {
      var result: R?
      try readAny(waits: false) { result = try body($0) }
      guard let result else { throw StoreError.storeFailed(store: name, reason: "nothing was read") }
      return result
    }

    /// - Parameter waits: whether it waits for a connection.
    private func readAny(waits: Bool = true, _ body: (any RowReading) throws -> Void) throws {
      try checkOpen()
      try TaskCancellation.check()
      let current = Self.currentOfThread
      let entered = current?.of(self)
      if let session = entered?.session { return try session.nested(body) }
      let isNested = entered != nil || !waits
      let count = current?.count ?? ReadingTransaction.BatchCount()
      try StoreError.translating(store: name) {
        if try readToldState(count, body) { return }
        // Whoever shows something waits for this, so that it is not tried for long.
        var attempts = PostgreSQLAttempts(timeout: min(options.timeout, Self.longestRereading))
        var mayBeLeftOut = true
        var changedIndexes = 0
        while true {
          var loss: PostgreSQLFailure?
          do {
            let isDone = try pool.with(isNested: isNested, mayBeLost: true) { connection -> Bool in
              let transaction = ReadingTransaction(connection, mayBeLeftOut: mayBeLeftOut, count)
              let result = Result { try read(transaction, connection, body) }
              loss = transaction.loss
              // What the body made of an error does not matter.
              if transaction.mustRepeat { mayBeLeftOut = false }
              if transaction.mustRepeat || transaction.mayBeDoneAgain { return false }
              try result.get()
              if let loss { throw StoreError(loss, store: name) }
              return true
            }
            if isDone { return }
          } catch let failure as PostgreSQLFailure {
            // There is no connection. The first time, this is told at once.
            loss = failure
          }
          if let loss, loss.concernsWords, changedIndexes < Self.mostChangedIndexes {
            changedIndexes += 1
            try searchIndexes.refresh()
          } else if let loss, !attempts.mayRepeat(loss) {
            throw loss
          }
        }
      }
    }

    /// The time for which a reading whose connection was lost is done again, in seconds.
    private static let longestRereading = 5.0

    /// Reads the state up to which commits are being told, if this thread shows them.
    ///
    /// - Returns: `false` if another state has to be read.
    private func readToldState(
      _ count: ReadingTransaction.BatchCount, _ body: (any RowReading) throws -> Void
    ) throws -> Bool {
      guard DirectDelivery.takeShowing(),
        let (connection, isOpen) = watch.toldState.connection(at: watch.position)
      else { return false }
      let transaction = ReadingTransaction(told: connection, isOpen: isOpen, count)
      let result = Result { try read(transaction, connection, body) }
      if transaction.hasRead || transaction.mustRepeat { watch.toldState.noteReading() }
      // Who shows next what was told reads for itself.
      if transaction.hasFailed { watch.toldState.noteUse() }
      if transaction.mustRepeat || transaction.mayBeDoneAgain { return false }
      try result.get()
      if let loss = transaction.loss { throw StoreError(loss, store: name) }
      return true
    }

    private func read(
      _ transaction: ReadingTransaction, _ connection: PostgreSQLConnection, _ body: (any RowReading) throws -> Void
    ) throws {
      let session = PostgreSQLSession(
        connection, tables: tables, store: name, watch: watch, reading: transaction, search: searchIndexes.use)
      // What is shown next must not be an earlier state.
      defer {
        if !transaction.isTold { watch.toldState.noteUse() }
        // Whoever reads next does without, unless this is done again.
        if transaction.loss?.concernsWords == true { searchIndexes.disuse() }
      }
      try entering(session, transaction.count) { try body(session) }
      transaction.finish()
      if session.hasSearched { searchIndexes.didSearch() }
    }

    /// The number of times that a transaction is run again because an index of words was changed meanwhile.
    private static let mostChangedIndexes = 3

    // MARK: Writing

    public func write<R>(origin: ObjectIdentifier?, _ body: (any RowWriting) throws -> R) throws -> R {
      try checkOpen()
      let isNested = entered != nil
      var attempts = PostgreSQLAttempts(timeout: options.timeout)
      var mayAssume = true
      var changedIndexes = 0
      while true {
        try TaskCancellation.check()
        do {
          return try pool.with(isNested: isNested) { connection in
            try PostgreSQLTransaction(
              connection, store: name, pool: pool, watch: watch, deletionTime: deletionTime, mayAssume: mayAssume,
              search: searchIndexes.use
            ).write(
              tables, origin: origin, feed
            ) { session in try entering(nil) { try body(session) } }
          }
        } catch is AssumptionFailed {
          mayAssume = false
          repeatedWrites.withLock { $0 += 1 }
        } catch let failure as PostgreSQLFailure {
          if failure.concernsWords, changedIndexes < Self.mostChangedIndexes {
            changedIndexes += 1
            try StoreError.translating(store: name) { try searchIndexes.refresh() }
            continue
          }
          guard attempts.mayRepeat(failure) else {
            throw failure.error(in: name)
          }
          repeatedWrites.withLock { $0 += 1 }
        }
      }
    }

    // MARK: Neighbours

    package func referrers(
      to key: EntityKey, in entity: EntityDescription, within session: any RowReading, of store: any RowStore
    ) throws -> [StoredValue]? {
      guard let session = session as? PostgreSQLSession, let store = store as? PostgreSQLStore, store.role == role,
        let table = tables[entity]
      else { return nil }
      return try session.referrers(to: key, in: table)
    }

    // MARK: Following

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

    public var unknownCommits: Int { feed.unknownCommits }

    /// Whether a server accepts connections. It asks for one that says so before it looks at names and passwords.
    public var isReachable: Bool { PostgreSQLConnection.isAccepted(options) }

    public func settle() {
      watch.settle()
      feed.settle()
    }

    /// Begins to keep the changed rows as they were, by triggers, whoever changes them.
    ///
    /// - Throws: ``PostgreSQLRightsError`` if the store's role may not make the triggers.
    public func startFeed(_ limits: FeedLimits) throws {
      try checkOpen()
      try StoreError.translating(store: name) {
        try Self.changingSchema(options) {
          try pool.with {
            try HistorySchema(schema).prepare($0)
            _ = try ForeignChanges.remove($0, until: nil)
          }
        }
      }
      feedLimits.withLock { $0 = limits }
    }

    public func trimFeed() throws -> Bool {
      try checkOpen()
      let limits = feedLimits.withLock { $0 }
      return try StoreError.translating(store: name) {
        try pool.with { try HistoryTrim(connection: $0, limits: limits, mayCount: mayCount).run() }
      }
    }

    /// Tells whether it is time to count the changes that are kept, and takes them for counted then.
    private func mayCount() -> Bool {
      lastCount.withLock { last in
        guard -last.timeIntervalSinceNow >= countInterval.withLock({ $0 }) else { return false }
        last = Date()
        return true
      }
    }

    public func holdOutbox() throws -> OutboxHold? {
      try checkOpen()
      return try outboxLock.take()
    }

    public func close() throws {
      let wasClosed = isClosed.withLock { isClosed in
        defer { isClosed = true }
        return isClosed
      }
      if wasClosed { return }
      watch.stop()
      pool.close()
    }

    private func checkOpen() throws { if isClosed.withLock({ $0 }) { throw StoreError.detached(store: name) } }
  }
#endif
