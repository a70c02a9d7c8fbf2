#if PostgreSQL
  import Concord
  import ConcordModel
  import ConcordPersistence

  /// Deletions of rows of one table, which become a statement for it, and one for each table that belongs to it.
  struct RowDeletions {
    private let table: PostgreSQLTable
    private var keys: ParameterRows
    private var ids: Set<StoredValue> = []

    init(_ table: PostgreSQLTable) {
      self.table = table
      keys = ParameterRows([table.keyForm.type])
    }

    func takes(_ table: PostgreSQLTable) -> Bool { table === self.table }

    mutating func append(_ key: StoredValue, _ parameter: PostgreSQLParameters) {
      guard ids.insert(key).inserted else { return }
      keys.append { $0.append(from: parameter, at: 0) }
    }

    var commands: [PostgreSQLConnection.Command] {
      let keys = keys.arrays
      var commands = table.collections.map { PostgreSQLConnection.Command(sql: $0.deleteAll, parameters: keys) }
      if ids.count == 1 {
        commands.append(.init(sql: table.delete, parameters: self.keys.single))
      } else {
        commands.append(.init(sql: table.deleteRows, parameters: keys))
      }
      for column in table.uniqueColumns where !column.isExact { commands.append(column.forget(Array(ids))) }
      return commands
    }
  }

  /// Deletions that are remembered, in one statement: of each entity the latest.
  struct RememberedDeletions {
    private var stamps: [EntityKey: Stamp] = [:]

    /// The number of times that old deletions are forgotten with these, and the seconds after which they are.
    private var sweeps: (count: Int, time: Double) = (0, 0)

    var isEmpty: Bool { stamps.isEmpty }

    mutating func append(_ key: EntityKey, _ stamp: Stamp, forgettingAfter time: Double?) {
      stamps[key] = max(stamp, stamps[key] ?? -.infinity)
      if let time { sweeps = (sweeps.count + 1, time) }
    }

    var commands: [PostgreSQLConnection.Command] { sweeps.count > 0 ? [insertion, forgetting] : [insertion] }

    private var insertion: PostgreSQLConnection.Command {
      var rows = ParameterRows([.text, .text, .double])
      // In one order everywhere, since two that write the same rows in different orders wait for each other.
      let sorted = stamps.sorted {
        $0.key.entity === $1.key.entity
          ? StoredValue.precedes($0.key.id, $1.key.id) : $0.key.entity.name < $1.key.entity.name
      }
      for (key, stamp) in sorted {
        rows.append { row in
          row.append(PostgreSQLText.encode(key.entity.name))
          _ = ColumnForm.any.append(key.id, to: &row)
          row.append(stamp)
        }
      }
      return .init(
        sql: """
          INSERT INTO concord_deletions ("table", "key", stamp) SELECT * FROM unnest($1, $2, $3)
          ON CONFLICT ("table", "key") DO UPDATE
          SET stamp = greatest(concord_deletions.stamp, excluded.stamp), at = excluded.at
          """, parameters: rows.arrays)
    }

    /// Forgets some of the oldest deletions that are older than a time, except those that another session forgets.
    private var forgetting: PostgreSQLConnection.Command {
      var parameters = PostgreSQLParameters()
      parameters.append(sweeps.time)
      parameters.append(Int64(sweeps.count * DeletionLimits.swept))
      return .init(
        sql: """
          DELETE FROM concord_deletions WHERE ctid IN (
            SELECT ctid FROM concord_deletions WHERE at < now() - $1 * interval '1 second'
            ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED)
          """, parameters: parameters)
    }
  }
#endif
