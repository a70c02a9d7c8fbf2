#if PostgreSQL
  import ConcordModel
  import ConcordPersistence

  /// A position in the feed of a database: the transactions that are seen, of those that have changed rows.
  ///
  /// It is a snapshot, reduced to what decides about `concord_history`: no transaction from one on is seen, and some before it. The reduced one
  /// does not move when nothing changes. It names no transaction that was rolled back as the last one seen: a server that crashes may give the
  /// id of such a one again.
  struct HistoryPosition {
    /// The name of the feed and of the database's history, which tells them from all other feeds and histories.
    let scope: String
    /// No transaction from this one on is seen.
    let end: UInt64
    /// The transactions before `end` that are not seen.
    let unseen: [UInt64]

    /// All transactions before this one are seen.
    var begin: UInt64 { unseen.min() ?? end }

    /// - Parameters:
    ///   - snapshot: the snapshot of a reading.
    ///   - last: the last transaction that is seen and has changed rows.
    init(scope: String, _ snapshot: FeedPosition, last: UInt64) {
      self.scope = scope
      let end = last + 1
      self.end = end
      unseen = snapshot.inProgress.split(separator: ",").compactMap { UInt64($0) }.filter { $0 < end }
    }

    /// - Returns: `nil` if the text is no such position.
    init?(_ position: StorePosition) {
      let parts = position.rawValue.split(separator: ".", omittingEmptySubsequences: false)
      guard parts.count == 3, let end = UInt64(parts[2]) else { return nil }
      let numbers = parts[1].split(separator: ",")
      unseen = numbers.compactMap { UInt64($0) }
      guard unseen.count == numbers.count else { return nil }
      (scope, self.end) = (String(parts[0]), end)
    }

    var position: StorePosition {
      StorePosition(rawValue: "\(scope).\(unseen.map(String.init).joined(separator: ",")).\(end)")
    }

    /// Whether the position sees all transactions up to one.
    func sees(upTo last: UInt64) -> Bool { last < begin }

    /// The statement that counts what is visible to its own snapshot, and was not at this position, up to one more than is looked through.
    func count(limit: Int) -> PostgreSQLConnection.Command {
      var parameters = unseenParameters
      parameters.append(Int64(RowChanges.mostLooked(for: limit) + 1))
      return .init(sql: "SELECT count(*) FROM (\(Self.unseenRows(upTo: "$3")) LIMIT $3) AS c", parameters: parameters)
    }

    /// The statement that finds what is visible to its own snapshot, and was not at this position, in its order: of entities, and if there is
    /// more than a limit, some of it. A row as it was comes once, however often it was changed.
    func changes(of entities: [String], limit: Int) -> PostgreSQLConnection.Command {
      var parameters = unseenParameters
      var names = PostgreSQLParameters()
      var array = ParameterArray(.text)
      for (index, name) in entities.enumerated() {
        names.append(name)
        array.append(names, at: index)
      }
      parameters.append(array)
      parameters.append(Int64(min(limit, .max - 1) + 1))
      parameters.append(Int64(RowChanges.mostLooked(for: limit) + 1))
      return .init(
        sql: """
          WITH c AS MATERIALIZED (SELECT * FROM (\(Self.unseenRows(upTo: "$5"))) AS c WHERE entity = ANY($3) LIMIT $4)
          SELECT entity, "key", is_row,
            CASE WHEN row_number() OVER (PARTITION BY entity, "key", is_row ORDER BY number) = 1 THEN before END,
            target, added
          FROM c ORDER BY number
          """, parameters: parameters)
    }

    /// The changes of any entities, a number of them at the most: those of rows that nobody asks about must not cost more. They are in the order of
    /// an index, or the server may read all of the history to find the first.
    private static func unseenRows(upTo limit: String) -> String {
      """
      (SELECT * FROM concord_history WHERE xid >= $1::text::xid8 ORDER BY xid LIMIT \(limit))
      UNION ALL
      (SELECT * FROM concord_history WHERE xid = ANY($2::text::xid8[]) ORDER BY xid LIMIT \(limit))
      """
    }

    private var unseenParameters: PostgreSQLParameters {
      var parameters = PostgreSQLParameters()
      parameters.append("\(end)")
      parameters.append("{\(unseen.map(String.init).joined(separator: ","))}")
      return parameters
    }

    /// The statement that finds which of some rows of an entity have changed: their numbers in an array of keys, from 1 on.
    ///
    /// Each row is looked up by itself, and each transaction: a join may read all of the history, and an array be compared with all changes of a row.
    func changed(_ keys: PostgreSQLParameters, of entity: EntityDescription, _ form: ColumnForm)
      -> PostgreSQLConnection.Command
    {
      func change(_ condition: String) -> String {
        """
        (SELECT 1 FROM concord_history AS h WHERE \(HistoryTables.hash(of: "h")) = \(HistoryTables.hash(of: "k"))
        AND h.entity = k.entity AND h."key" = k."key" AND h.xid \(condition) LIMIT 1)
        """
      }
      var parameters = unseenParameters
      parameters.append(from: keys, at: 0)
      parameters.append(PostgreSQLText.encode(entity.name))
      return .init(
        sql: """
          SELECT k.number FROM (
            SELECT $4::text COLLATE "C" AS entity, (\(HistoryTables.text("u.id", form))) COLLATE "C" AS "key", u.number
            FROM unnest($3) WITH ORDINALITY AS u (id, number)
          ) AS k
          WHERE \(change(">= $1::text::xid8")) IS NOT NULL OR EXISTS (
            SELECT FROM unnest($2::text::xid8[]) AS x (xid) CROSS JOIN LATERAL \(change("= x.xid")) AS y
          )
          """, parameters: parameters)
    }
  }
#endif
