#if PostgreSQL
  import ConcordModel

  extension PostgreSQLSearchIndex {
    private static let operations = ["INSERT", "UPDATE", "DELETE", "TRUNCATE"]

    /// The statements that make it, or make it so that it has the form of this program.
    ///
    /// - Parameters:
    ///   - present: the columns of its table; `nil` if there is none.
    ///   - triggers: its triggers that are there.
    ///   - areEnabled: whether all of them run in ordinary sessions. Without them nobody notes what other programs write.
    ///   - leavesVersions: whether what another version of the program has made is to stay.
    func missing(
      _ present: [String]?, _ triggers: Set<String>, areEnabled: Bool, leavesVersions: Bool = false
    ) -> [String] {
      let form = form
      let other = present?.lazy.compactMap { Form(name: $0) }.first { $0 != form }
      let isPresent = present?.contains(form.name) ?? false
      if let other, other.isNewer(than: form) || leavesVersions && form.isNewer(than: other) { return [] }
      let wanted = self.triggers
      let areTriggersPresent = areEnabled && Set(wanted.map(\.name)) == triggers
      if isPresent, areTriggersPresent { return [] }
      return Self.dropTriggers(triggers, of: entity.name) + makeTable(present) + [function] + wanted.map(\.sql) + fill
    }

    private func makeTable(_ present: [String]?) -> [String] {
      var statements: [String] = []
      if let present {
        if present.contains(form.name) { return [] }
        // The table stays, with the rights on it.
        statements += present.filter { Form(name: $0) != nil }.map {
          "ALTER TABLE \(table) DROP COLUMN \(identifier($0))"
        }
        statements += [
          "ALTER TABLE \(table) ADD COLUMN \(column) tsvector", "UPDATE \(table) SET is_long = false WHERE is_long",
        ]
      } else {
        statements.append(
          """
          CREATE TABLE \(table) ("key" \(keyForm.declaration) PRIMARY KEY, is_long boolean NOT NULL DEFAULT false, \
          \(column) tsvector)
          """)
      }
      return statements + [
        "CREATE INDEX \(identifier("concord_index.\(entity.name)")) ON \(table) USING gin (\(column))",
        "CREATE INDEX \(identifier("concord_noted.\(entity.name)")) ON \(table) (\"key\") WHERE \(column) IS NULL",
      ]
    }

    /// Notes all rows. Nobody writes meanwhile, since triggers are made in the same transaction.
    private var fill: [String] {
      [
        "DELETE FROM \(table) AS w WHERE NOT EXISTS (SELECT FROM \(identifier(entity.name)) AS t WHERE t.\"id\" = w.\"key\")",
        "INSERT INTO \(table) (\"key\") SELECT \"id\" FROM \(identifier(entity.name)) ON CONFLICT (\"key\") DO NOTHING",
        noteAll,
      ]
    }

    /// The statement that notes all rows of which the table knows.
    var noteAll: String {
      "UPDATE \(table) SET \(column) = NULL, is_long = false WHERE \(column) IS NOT NULL OR is_long"
    }

    /// The statements that remove the index of an entity.
    static func drop(_ entity: String, _ triggers: Set<String>) -> [String] {
      dropTriggers(triggers, of: entity) + [
        "DROP TABLE IF EXISTS \(identifier(table(entity)))", "DROP FUNCTION IF EXISTS \(identifier(table(entity)))()",
      ]
    }

    private static func dropTriggers(_ triggers: Set<String>, of entity: String) -> [String] {
      triggers.sorted().map { "DROP TRIGGER \(identifier($0)) ON \(identifier(entity))" }
    }

    // MARK: Triggers

    /// The triggers of the entity's table. Their names tell what their function does.
    var triggers: [(name: String, sql: String)] {
      let number = Self.hash(function + unlessFolded)
      return Self.operations.map { operation in
        let name = "\(Self.mark)_\(operation.lowercased())_\(number)"
        let mayBeFolded = ["INSERT", "UPDATE"].contains(operation)
        return (
          name,
          """
          CREATE TRIGGER \(identifier(name)) AFTER \(operation) ON \(identifier(entity.name))\
          \(FeedTables.tablesOfTrigger[operation] ?? "") FOR EACH STATEMENT \(mayBeFolded ? "\(unlessFolded) " : "")\
          EXECUTE FUNCTION \(table)()
          """
        )
      }
    }

    /// The condition of the triggers that note rows: who writes may fold the words in the same transaction.
    private var unlessFolded: String {
      let number = "\(literal(identifier(entity.name)))::regclass::oid::text"
      return """
        WHEN ((\(number) || \(literal(claim(""))) = ANY (string_to_array(current_setting('concord.folds', true), ','))) IS NOT TRUE)
        """
    }

    /// The statement that makes the function of the triggers.
    private var function: String {
      let texts = positions.map { identifier(columnName(entity.columns[$0].name)) }
      func row(_ name: String) -> String { "(\(texts.map { "\(name).\($0)" }.joined(separator: ", ")))" }
      let note = """
        ON CONFLICT ("key") DO UPDATE SET \(column) = NULL, is_long = false WHERE w.\(column) IS NOT NULL OR w.is_long
        """
      let body = """
        BEGIN
          IF TG_OP = 'DELETE' THEN
            DELETE FROM \(table) WHERE "key" = ANY (ARRAY(SELECT "id" FROM changed));
          ELSIF TG_OP = 'TRUNCATE' THEN
            TRUNCATE \(table);
          ELSIF TG_OP = 'INSERT' THEN
            INSERT INTO \(table) AS w ("key") SELECT "id" FROM changed \(note);
          ELSE
            DELETE FROM \(table) WHERE "key" = ANY (ARRAY(SELECT "id" FROM before EXCEPT SELECT "id" FROM changed));
            INSERT INTO \(table) AS w ("key") SELECT c."id" FROM changed AS c LEFT JOIN before AS b ON b."id" = c."id"
              WHERE b."id" IS NULL OR \(row("b")) IS DISTINCT FROM \(row("c")) \(note);
          END IF;
          RETURN NULL;
        END
        """
      // A plan is kept for the next statement, which may change many rows where this one changes one.
      return """
        CREATE OR REPLACE FUNCTION \(table)() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER \
        SET search_path FROM CURRENT SET enable_seqscan TO off SET enable_nestloop TO off AS \(literal(body))
        """
    }
  }

  extension PostgreSQLSchema {
    /// The statements that make indexes of words.
    ///
    /// - Parameter leavesVersions: whether those that another version of the program has made are to stay.
    func missingWords(_ present: Present, leavesVersions: Bool = false) -> [String] {
      if version < present.version { return [] }
      return entities.compactMap { PostgreSQLSearchIndex($0) }.flatMap { index in
        let triggers = wordTriggers(of: index.entity, present)
        return index.missing(
          present.tables[storedName(PostgreSQLSearchIndex.table(index.entity.name))]?.map(\.name), triggers,
          areEnabled: triggers.allSatisfy { present.isEnabled($0, storedName(index.entity.name)) },
          leavesVersions: leavesVersions)
      }
    }

    /// The statements that remove the indexes of words that the model does not want.
    func unwantedWords(_ present: Present) -> [String] {
      if version < present.version { return [] }
      return entities.filter { $0.searchablePositions.isEmpty }.flatMap { entity in
        let triggers = wordTriggers(of: entity, present)
        let isPresent = present.tables[storedName(PostgreSQLSearchIndex.table(entity.name))] != nil
        return isPresent || !triggers.isEmpty ? PostgreSQLSearchIndex.drop(entity.name, triggers) : []
      }
    }

    private func wordTriggers(of entity: EntityDescription, _ present: Present) -> Set<String> {
      (present.triggers[storedName(entity.name)] ?? []).filter { $0.hasPrefix("\(PostgreSQLSearchIndex.mark)_") }
    }

    /// Notes the rows whose searchable texts a migration has changed.
    func noteMigrated(_ migrations: [PostgreSQLMigration], _ present: Present, _ connection: PostgreSQLConnection)
      throws
    {
      for migration in migrations where migration.isChanged && migration.table.collection == nil {
        guard let index = PostgreSQLSearchIndex(migration.table.entity) else { continue }
        let names = Set(index.positions.map { columnName(index.entity.columns[$0].name) })
        let columns = present.tables[storedName(PostgreSQLSearchIndex.table(index.entity.name))]
        guard !names.isDisjoint(with: migration.addedColumns),
          columns?.contains(where: { $0.name == index.form.name }) == true
        else { continue }
        try connection.run([.once(index.noteAll)])
      }
    }
  }
#endif
