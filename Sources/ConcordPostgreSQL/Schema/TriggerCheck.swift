#if PostgreSQL
  import ConcordModel

  /// The question whether tables have their triggers. Where a copy of a database is restored these come last, and what comes before is told by
  /// nobody.
  struct TriggerCheck {
    private let names: [String]
    private let triggers: [String]

    /// The triggers that note which rows were changed.
    static func changes(_ tables: some Sequence<PostgreSQLTable>) -> TriggerCheck {
      TriggerCheck(tables, FeedTables.tablesOfTrigger.keys.map(FeedTables.trigger))
    }

    /// The triggers that note which rows were changed, of tables of some names.
    static func changes(named names: some Sequence<String>) -> TriggerCheck {
      TriggerCheck(names: names.map { storedName($0) }, FeedTables.tablesOfTrigger.keys.map(FeedTables.trigger))
    }

    /// The triggers that keep rows as they were.
    static func history(_ tables: some Sequence<PostgreSQLTable>) -> TriggerCheck {
      TriggerCheck(tables, HistoryTables.operations.map(HistoryTables.trigger))
    }

    /// The trigger that notes writes to the outbox.
    static let outbox = TriggerCheck(names: ["concord_outbox_state"], [OutboxTables.trigger])

    private init(names: [String], _ triggers: [String]) { (self.names, self.triggers) = (names, triggers) }

    private init(_ tables: some Sequence<PostgreSQLTable>, _ triggers: [String]) {
      names = tables.flatMap { [$0.entity.name] + $0.collections.map(\.name) }.map { storedName($0) }
      self.triggers = triggers
    }

    /// The statement that asks, and returns a truth value. Tables that are not there do not count: a later version of the program may have no
    /// use for them.
    var command: PostgreSQLConnection.Command {
      var parameters = PostgreSQLParameters()
      for texts in [names, triggers] {
        var array = ParameterArray(.text)
        for text in texts {
          var row = PostgreSQLParameters()
          row.append(text)
          array.append(row, at: 0)
        }
        parameters.append(array)
      }
      return .once(
        """
        SELECT NOT EXISTS (
          SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE n.nspname = current_schema() AND c.relname = ANY ($1)
          AND (SELECT count(*) FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = ANY ($2) AND \(FeedTables.isEnabled))
            < cardinality($2)
        )
        """, parameters)
    }

    /// Whether all tables that are there have them.
    ///
    /// - Parameter run: runs a statement.
    func isComplete(_ run: ([PostgreSQLConnection.Command]) throws -> [PostgreSQLResult]) throws -> Bool {
      try run([command])[0].bool(0, 0)
    }
  }
#endif
