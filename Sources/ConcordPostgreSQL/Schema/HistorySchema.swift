#if PostgreSQL
  import ConcordModel

  /// The part of a schema that a store needs to be followed by positions.
  struct HistorySchema {
    private let schema: PostgreSQLSchema

    init(_ schema: PostgreSQLSchema) { self.schema = schema }

    /// Makes what is missing. Changes of an entity may have been missed if its triggers were incomplete, so the feed begins anew. The triggers
    /// of entities that the model does not know stay as they are.
    ///
    /// - Throws: ``PostgreSQLRightsError`` if the role may not do that.
    func prepare(_ connection: PostgreSQLConnection) throws {
      if try isCurrent(connection) { return }
      do {
        try connection.changingSchema(schema.name) {
          try start(connection)
          try connection.run([.once("COMMIT")])
        }
      } catch let failure as PostgreSQLFailure where failure.code == "42501" {
        _ = connection.rollBack()
        // Positions stay good where nothing but indexes is missing.
        let statements = try stale(connection).isEmpty ? HistoryTables.indexes : self.statements
        throw PostgreSQLRightsError(
          store: schema.store, role: try connection.run([.once("SELECT current_user::text")])[0].text(0, 0),
          reason: "\(failure.message) (\(connection.place))",
          sql: PostgreSQLScript(
            schema: schema.name, statements: statements, tables: [], role: nil, isFollowed: true
          ).text)
      }
    }

    /// Makes what is missing, within a transaction.
    func start(_ connection: PostgreSQLConnection) throws {
      let stale = try stale(connection)
      var statements: [String] = []
      if !stale.isEmpty {
        statements = HistoryTables.sql + stale.flatMap(self.statements) + HistoryTables.begin
      } else if try !hasIndexes(connection) {
        // A feed of an earlier release goes on.
        statements = HistoryTables.indexes
      }
      if !statements.isEmpty { try connection.run(statements.map { .once($0) }) }
    }

    /// The statements that make all, for an administrator.
    var statements: [String] { HistoryTables.sql + schema.entities.flatMap(statements) + HistoryTables.begin }

    private func statements(_ entity: EntityDescription) -> [String] {
      schema.tables.filter { $0.entity === entity }.flatMap { HistoryTables.sql($0, schema: schema.name) }
        + [HistoryTables.note(entity)]
    }

    private func isCurrent(_ connection: PostgreSQLConnection) throws -> Bool {
      try stale(connection).isEmpty && hasIndexes(connection)
    }

    /// The entities that are not followed as they are.
    private func stale(_ connection: PostgreSQLConnection) throws -> [EntityDescription] {
      guard try isPresent(connection) else { return schema.entities }
      let (present, columns, hasBegun) = try present(connection)
      // Somebody has deleted its row.
      if !hasBegun { return schema.entities }
      return schema.entities.filter { entity in
        let isFollowed = schema.tables.filter { $0.entity === entity }.allSatisfy { table in
          let wanted = Trigger(name: storedName(HistoryTables.function(table)), body: HistoryTables.body(table))
          let found = present[storedName(table.name)] ?? [:]
          return HistoryTables.operations.allSatisfy { found[HistoryTables.trigger($0)] == wanted }
        }
        return !isFollowed || columns[entity.name] != HistoryTables.columns(of: entity)
      }
    }

    /// Whether the tables are there, as the statement's snapshot shows it: a name that a session did not find is looked up again in its next
    /// transaction only, not after it has waited for a lock.
    private func isPresent(_ connection: PostgreSQLConnection) throws -> Bool {
      try areThere(["concord_history", "concord_feed", "concord_feed_columns", "concord_notes"], connection)
    }

    /// Whether the tables have the indexes of this release.
    private func hasIndexes(_ connection: PostgreSQLConnection) throws -> Bool {
      try areThere(HistoryTables.indexNames, connection)
    }

    /// Whether the schema has tables or indexes of some names.
    private func areThere(_ names: [String], _ connection: PostgreSQLConnection) throws -> Bool {
      var parameters = PostgreSQLParameters()
      parameters.append(storedName(schema.name))
      return try connection.run([
        .once(
          """
          SELECT count(*) = \(names.count) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE n.nspname = $1 AND c.relname IN (\(names.map(literal).joined(separator: ", ")))
          """, parameters)
      ])[0].bool(0, 0)
    }

    private struct Trigger: Equatable {
      /// The name of the function that it calls.
      let name: String
      let body: String
    }

    /// The triggers by table and name, the noted columns by entity, and whether the feed has its row.
    private func present(
      _ connection: PostgreSQLConnection
    ) throws -> (triggers: [String: [String: Trigger]], columns: [String: String], hasBegun: Bool) {
      var parameters = PostgreSQLParameters()
      parameters.append(storedName(schema.name))
      let results = try connection.run([
        .once(
          """
          SELECT c.relname::text, t.tgname::text, p.proname::text, p.prosrc
          FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
          JOIN pg_proc p ON p.oid = t.tgfoid
          WHERE n.nspname = $1 AND NOT t.tgisinternal AND \(FeedTables.isEnabled) AND t.tgname LIKE 'concord@_feed@_%' ESCAPE '@'
          """, parameters),
        .once("SELECT entity, columns FROM concord_feed_columns"),
        .once("SELECT EXISTS (SELECT FROM concord_feed)"),
      ])
      var triggers: [String: [String: Trigger]] = [:]
      for row in 0..<results[0].count {
        triggers[results[0].text(row, 0), default: [:]][results[0].text(row, 1)] = Trigger(
          name: results[0].text(row, 2), body: results[0].text(row, 3))
      }
      var columns: [String: String] = [:]
      for row in 0..<results[1].count { columns[results[1].text(row, 0)] = results[1].text(row, 1) }
      return (triggers, columns, results[2].bool(0, 0))
    }
  }
#endif
