#if PostgreSQL
  import Concord
  import ConcordModel
  import ConcordPersistence
  import Foundation

  // Deletions are remembered, so that older values of what was deleted are not inserted.
  extension PostgreSQLSession {
    private func parameters(_ key: EntityKey) -> PostgreSQLParameters {
      var parameters = PostgreSQLParameters()
      parameters.append(PostgreSQLText.encode(key.entity.name))
      _ = ColumnForm.any.append(key.id, to: &parameters)
      return parameters
    }

    func deletion(of key: EntityKey) throws -> Stamp? {
      let result = try query(
        "SELECT stamp FROM concord_deletions WHERE \"table\" = $1 AND \"key\" = $2", parameters(key))
      return result.count > 0 ? Double(bitPattern: result.bits(0, 0)) : nil
    }

    func delete(_ key: EntityKey, stamp: Stamp) throws {
      try delete(key)
      guard deletionTime > 0 else { return }
      var parameters = parameters(key)
      parameters.append(stamp)
      var commands = [
        PostgreSQLConnection.Command(
          sql: """
            INSERT INTO concord_deletions ("table", "key", stamp) VALUES ($1, $2, $3)
            ON CONFLICT ("table", "key") DO UPDATE
            SET stamp = greatest(concord_deletions.stamp, excluded.stamp), at = excluded.at
            """, parameters: parameters)
      ]
      if deletionCount.isMultiple(of: DeletionLimits.sweep) { commands.append(forgetting) }
      deletionCount += 1
      try write(commands)
    }

    /// Forgets some of the oldest deletions that are older than a time, except those that another session forgets.
    private var forgetting: PostgreSQLConnection.Command {
      var parameters = PostgreSQLParameters()
      parameters.append(deletionTime)
      return .init(
        sql: """
          DELETE FROM concord_deletions WHERE ctid IN (
            SELECT ctid FROM concord_deletions WHERE at < now() - $1 * interval '1 second'
            ORDER BY at LIMIT \(DeletionLimits.swept) FOR UPDATE SKIP LOCKED)
          """, parameters: parameters)
    }
  }
#endif
