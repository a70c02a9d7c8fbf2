#if PostgreSQL
  import Concord
  import ConcordModel
  import ConcordPersistence

  /// An advisory lock of the server, which says who sends what is in the outbox.
  ///
  /// It belongs to a connection of its own, and goes with it, however that ends.
  enum PostgreSQLOutboxLock {
    /// - Returns: `nil` while another has it.
    static func take(_ pool: PostgreSQLPool, schema: String, store: String) throws -> OutboxHold? {
      let connection: PostgreSQLConnection? = try StoreError.translating(store: store) {
        let connection = try pool.connect()
        var name = PostgreSQLParameters()
        name.append("concord.outbox.\(schema)")
        let isTaken = try connection.run([.once("SELECT pg_try_advisory_lock(hashtextextended($1, 1))", name)])[0].bool(
          0, 0)
        return isTaken ? connection : nil
      }
      guard let connection else { return nil }
      let held = Locked<PostgreSQLConnection?>(connection)
      return OutboxHold { held.withLock { $0 = nil } }
    }
  }
#endif
