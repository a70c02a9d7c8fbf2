#if PostgreSQL
  package import ConcordModel
  import ConcordPersistence

  /// Writes rows of a program without the model, in the transaction of an inspection. The triggers of the tables note them for those who follow.
  package final class InspectionImport {
    private let inspection: PostgreSQLInspection
    private let replaces: Bool
    private var batch: [(command: PostgreSQLConnection.Command, line: Int)] = []
    private var values: [Unique] = []
    private var targets: [String: Target] = [:]
    private var connection: PostgreSQLConnection { inspection.connection }
    private static let size = 256

    private struct Target {
      let insert: String
      /// The statements that remove the elements of the entity's collections.
      let clear: [(sql: String, form: ColumnForm)]
      let unique: [PostgreSQLUniqueColumn]
      /// Whether the program cannot tell which values of some columns are equal.
      let isUnknown: Bool
      let key: Int?
    }

    /// A value of which no other row may have an equal one.
    private struct Unique {
      let column: PostgreSQLUniqueColumn
      let id: StoredValue
      let value: StoredValue
      let line: Int
    }

    package init(_ inspection: PostgreSQLInspection, replaces: Bool) {
      (self.inspection, self.replaces) = (inspection, replaces)
    }

    // MARK: Rows

    /// Takes a row, which may be written later.
    ///
    /// - Parameter values: those of all columns of the table, in order.
    package func add(_ values: [StoredValue], to table: InspectedTable, line: Int) throws {
      let target = target(table)
      if replaces, let key = target.key {
        for (sql, form) in target.clear {
          var parameters = PostgreSQLParameters()
          guard form.append(values[key], to: &parameters) else { continue }
          batch.append((.init(sql: sql, parameters: parameters), line))
        }
      }
      var parameters = PostgreSQLParameters()
      for (column, value) in zip(table.columns, values) {
        guard column.form.append(value, to: &parameters) else {
          throw InspectionError(
            .wrongRow, "\(table.name).\(column.name) is \(column.type), which cannot keep \(value)", line: line)
        }
      }
      batch.append((.init(sql: target.insert, parameters: parameters), line))
      if let key = target.key {
        for column in target.unique {
          self.values.append(Unique(column: column, id: values[key], value: values[column.position], line: line))
        }
      }
      if batch.count >= Self.size { try flush() }
    }

    private func target(_ table: InspectedTable) -> Target {
      if let known = targets[table.name] { return known }
      let names = table.columns.map(\.sql)
      var insert = """
        INSERT INTO \(table.sql) (\(names.joined(separator: ", "))) \
        VALUES (\(names.indices.map { "$\($0 + 1)" }.joined(separator: ", ")))
        """
      if replaces {
        let keys = table.columns.filter(\.isKey).map(\.sql).joined(separator: ", ")
        let changed = table.columns.filter { !$0.isKey }.map { "\($0.sql) = excluded.\($0.sql)" }
        insert += " ON CONFLICT (\(keys)) DO UPDATE SET \(changed.joined(separator: ", "))"
      }
      let isEntity = table.name == table.entity
      let collections = isEntity ? inspection.tables.filter { $0.entity == table.name && $0.name != table.name } : []
      let key = isEntity ? table.columns.firstIndex { $0.name == "id" } : nil
      let apart = table.note.columns.filter(\.isComparedApart)
      let unique = apart.compactMap { column -> PostgreSQLUniqueColumn? in
        guard let key, let coding = ColumnCoding.comparing(named: column.coding ?? ""),
          let position = table.columns.firstIndex(where: { $0.name == column.name })
        else { return nil }
        return PostgreSQLUniqueColumn(
          column, of: table.note, at: position, keyForm: table.columns[key].form, coding)
      }
      let target = Target(
        insert: insert,
        clear: collections.compactMap { collection in
          collection.columns.first { $0.name == "_owner" }.map {
            ("DELETE FROM \(collection.sql) WHERE \"_owner\" = $1", $0.form)
          }
        }, unique: unique, isUnknown: unique.count < apart.count, key: key)
      targets[table.name] = target
      return target
    }

    private func flush() throws {
      guard !batch.isEmpty else { return }
      let sent = batch
      batch = []
      do { try connection.run(sent.map(\.command)) } catch let failure as PostgreSQLFailure {
        var error = InspectionError(failure)
        if error.kind == .wrongRow { error.line = sent[min(failure.succeeded, sent.count - 1)].line }
        throw error
      }
      try InspectionError.translating { try noteUnique() }
    }

    // MARK: Unique values

    /// Compares unique values of which the server does not know that they are equal, and notes them as a store does.
    private func noteUnique() throws {
      let values = self.values
      self.values = []
      if values.isEmpty { return }
      if replaces { try connection.run(values.map { $0.column.forget($0.id) }) }
      var owners: [Entry: StoredValue] = [:]
      var checks: [(value: Unique, key: StoredValue, isEntry: Bool)] = []
      var commands: [PostgreSQLConnection.Command] = []
      var entries: [PostgreSQLConnection.Command] = []
      for value in values {
        guard let key = value.column.key(of: value.value) else { continue }
        if value.column.isStoredApart(value.value) {
          let entry = Entry(table: value.column.table, column: value.column.name, key: key)
          if let other = owners.updateValue(value.id, forKey: entry), other != value.id { throw notUnique(value) }
          if let command = value.column.findSame(key, except: value.id) {
            commands.append(command)
            checks.append((value, key, false))
          }
          entries.append(value.column.note(key, of: value.id))
        }
        commands.append(value.column.findOwner(of: key, except: value.id))
        checks.append((value, key, true))
      }
      for (check, result) in zip(checks, try connection.run(commands)) where result.count > 0 {
        if !check.isEntry { throw notUnique(check.value) }
        // The row that an entry names may have another value by now.
        let column = check.value.column
        guard let command = column.value(of: ColumnForm.any.read(result, 0, 0)) else { continue }
        let row = try connection.run([command])[0]
        guard row.count > 0, !row.isNull(0, 0), column.key(of: column.form.read(row, 0, 0)) == check.key else {
          continue
        }
        throw notUnique(check.value)
      }
      if !entries.isEmpty { try connection.run(entries) }
    }

    private struct Entry: Hashable {
      let table: String
      let column: String
      let key: StoredValue
    }

    private func notUnique(_ value: Unique) -> InspectionError {
      InspectionError(
        .wrongRow, "another row has a \(value.column.table).\(value.column.name) that equals \(value.value)",
        line: value.line)
    }

    // MARK: The end

    /// Ends the transaction.
    ///
    /// - Parameter commits: whether the rows are to stay; otherwise it is only checked whether they could.
    package func finish(commits: Bool) throws {
      try flush()
      try InspectionError.translating {
        let unknown = targets.filter(\.value.isUnknown).keys.sorted()
        try connection.run(
          unknown.map {
            .once("UPDATE concord_tables SET is_filled = false WHERE \"table\" = \(literal(storedName($0)))")
          })
        // References are otherwise checked at the end.
        try connection.run([.once("SET CONSTRAINTS ALL IMMEDIATE")])
        if !commits {
          try connection.run([.once("ROLLBACK")])
          return
        }
        let state = try connection.run([
          .once("SELECT pg_current_xact_id(), (SELECT \(FeedChanges.epoch) FROM concord_state s)")
        ])[0]
        let id = TransactionID(number: state.bits(0, 0), session: connection.session)
        var channel = PostgreSQLParameters()
        channel.append(FeedTables.channel(inspection.schema))
        do {
          try connection.run([.once("COMMIT"), .once("SELECT pg_notify($1, '')", channel)])
        } catch let failure as PostgreSQLFailure where failure.isConnectionLost {
          // What comes after the commit only wakes other processes.
          if failure.succeeded > 0 { return }
          let outcome = PostgreSQLOutcome(
            PostgreSQLPool(inspection.options, store: "the database"), store: "the database",
            .changes(named: targets.keys), epoch: state.optionalText(0, 1) ?? "")
          if try !outcome.isCommitted(id) { throw failure }
        }
      }
    }
  }
#endif
