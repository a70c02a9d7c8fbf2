#if PostgreSQL
  import Concord
  import ConcordModel
  import ConcordPersistence
  import Foundation

  /// An advisory lock of the server, which says who sends what is in the outbox.
  ///
  /// It belongs to a connection, and goes with it, however that ends.
  final class PostgreSQLOutboxLock: Sendable {
    private let pool: PostgreSQLPool
    private let command: PostgreSQLConnection.Command
    private let release: String
    private let store: String
    private let interval: TimeInterval
    /// The date at which the server may be asked again, since another process had the lock.
    private let next = Locked(Date.distantPast)

    /// - Parameter interval: how long it is not asked for again while another one has it.
    init(_ pool: PostgreSQLPool, schema: String, store: String, interval: TimeInterval) {
      (self.pool, self.store, self.interval) = (pool, store, interval)
      var name = PostgreSQLParameters()
      name.append("concord.outbox.\(schema)")
      command = .init(sql: "SELECT pg_try_advisory_lock(hashtextextended($1, 1))", parameters: name)
      release = "SELECT pg_advisory_unlock(hashtextextended(\(literal("concord.outbox.\(schema)")), 1))"
    }

    /// - Returns: `nil` while another has it.
    func take() throws -> OutboxHold? {
      guard next.withLock({ $0 <= Date() }) else { return nil }
      let connection = try StoreError.translating(store: store) {
        try pool.withdraw { try $0.run([command])[0].bool(0, 0) }
      }
      guard let connection else {
        next.withLock { $0 = Date(timeIntervalSinceNow: interval) }
        return nil
      }
      let held = Locked<PostgreSQLConnection?>(connection)
      return OutboxHold(isHeld: { held.withLock { $0?.isAlive ?? false } }) { [pool, next, release] in
        next.withLock { $0 = .distantPast }
        let connection = held.withLock { held in
          defer { held = nil }
          return held
        }
        // Whoever asks next on this connection comes behind it. A connection that is lost has lost the lock, too.
        if let connection, connection.isAlive, (try? connection.finish(.init(sql: release))) != nil {
          pool.putBack(connection)
        }
      }
    }
  }
#endif
