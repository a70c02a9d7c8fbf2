#if PostgreSQL
  import ConcordModel

  // A role that may not make tables needs an administrator.
  extension PostgreSQLSchema {
    /// Tells what an administrator is to run, unless the tables can be used as they are.
    func refuse(_ failure: PostgreSQLFailure, _ connection: PostgreSQLConnection) throws {
      let role = try connection.run([.once("SELECT current_user::text")])[0].text(0, 0)
      let reason = "\(failure.message) (\(connection.place))"
      var present = try presentTables(connection)
      do {
        try presentNotes(connection, &present)
        let migrations = try migrations(present)
        if !migrations.allSatisfy({ !$0.isChanged }) {
          throw PostgreSQLRightsError(
            store: store, role: role,
            reason: "\(reason); the tables are of another model, and their owner is to attach them once",
            sql: "")
        }
        // What is only noted otherwise does not matter, nor an index of words that another program has, nor a function for administrators.
        if try missingTables(present).isEmpty, missingIndexes(present).isEmpty,
          missingWords(present, leavesVersions: true).isEmpty, version <= present.version,
          present.unfilled.isEmpty
        {
          return
        }
      } catch let failure as PostgreSQLFailure where failure.code == "42501" {
        // What is noted cannot be read, so only what is there is compared.
        _ = connection.rollBack()
        let statements =
          try missingTables(present) + missingIndexes(present) + missingWords(present) + missingFunction(present)
          + interrupted(present)
        throw PostgreSQLRightsError(
          store: store, role: role, reason: reason,
          sql: script(of: statements, for: role).text)
      }
      throw PostgreSQLRightsError(
        store: store, role: role, reason: reason, sql: try script(for: role, present).text)
    }

    /// The script that makes what is missing.
    func script(for role: String?, _ present: Present = Present()) throws -> PostgreSQLScript {
      var statements = try missing(present, before: true) + missing(present, before: false) + interrupted(present)
      if version > present.version { statements.append("UPDATE concord_state SET version = \(version)") }
      return script(of: statements, for: role)
    }

    private func script(of statements: [String], for role: String?) -> PostgreSQLScript {
      PostgreSQLScript(
        schema: name, statements: statements, tables: tables.map(\.name),
        wordTables: entities.filter { !$0.searchablePositions.isEmpty }.map { PostgreSQLSearchIndex.table($0.name) },
        role: role)
    }
  }
#endif
