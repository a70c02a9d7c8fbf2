#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  // Not Foundation's.
  typealias Progress = ConcordTestShared.Progress

  /// Stores that share one schema of the server of the tests, each with a pool of its own, as processes have.
  struct Fleet {
    let server: PostgreSQLServer
    let schema = "fleet-\(UUID().uuidString.prefix(8))"
    let model: Model

    init(_ server: PostgreSQLServer? = nil) throws {
      self.server = try server ?? PostgreSQLServer.shared.get()
      model = try processModel()
    }

    func store(
      url: String? = nil, timeout: Double = 30, pollInterval: Double = 1, retention: Double = 86_400
    ) throws -> PostgreSQLStore {
      var options = PostgreSQLOptions(connection: url ?? server.url, schema: schema)
      options.timeout = timeout
      options.pollInterval = pollInterval
      options.feedRetention = retention
      return try PostgreSQLStore(name: "Shop", options, model: model, entities: model.entities)
    }

    @discardableResult
    func sql(_ sql: String) throws -> String {
      try server.sql("SET search_path TO \(identifier(schema)); \(sql)")
    }

    /// The position up to which all is committed.
    func position() throws -> FeedPosition {
      try #require(FeedPosition(try sql("SELECT pg_current_snapshot()")))
    }

    /// What processes are told where the store is.
    var place: String { "\(server.url)#\(schema)" }

    func key(_ id: Int) throws -> EntityKey { EntityKey(try model.entity(Progress.self), .integer(Int64(id))) }

    func row(_ id: Int, _ last: Int, stamp: Stamp = 1) throws -> StoredRow {
      try model.entity(Progress.self).row(of: Progress(id: id, last: last), stamp: stamp)
    }
  }

  extension RowStore {
    /// Makes a context over the store alone.
    func context(_ model: Model, _ policy: MergePolicy = .byStamp) throws -> BackgroundContext {
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.attach(self, configuration: "")
      let context = BackgroundContext(parent: coordinator)
      context.mergePolicy = policy
      return context
    }
  }

  extension PostgreSQLStore {
    /// Returns the number of round trips of the only connection that work takes.
    func trips(_ work: () throws -> Void) throws -> Int {
      func count() throws -> Int {
        #expect(pool.count == 1)
        return try pool.with { $0.batches }
      }
      let before = try count()
      try work()
      return try count() - before
    }
  }

  func eventually(_ seconds: Double = 10, _ condition: () throws -> Bool) rethrows -> Bool {
    let end = Date(timeIntervalSinceNow: seconds)
    while Date() < end {
      if try condition() { return true }
      Thread.sleep(forTimeInterval: 0.005)
    }
    return try condition()
  }

  /// What the observers of a store were told of.
  final class Told: Sendable {
    let commits = Locked<[StoreCommit]>([])
    let observation: StoreObservation
    init(_ store: PostgreSQLStore) {
      observation = store.observeCommits { [commits] commit in commits.withLock { $0.append(commit) } }
    }
    var keys: [Set<EntityKey>?] { commits.withLock { $0.map(\.keys) } }
  }
#endif
