#if PostgreSQL
  import ConcordModel

  /// The tables and triggers that keep the changed rows as they were, for those who follow a store by positions.
  ///
  /// `concord_history` has a row for each changed row: its transaction, the entity, the key, and the columns before the change, as texts by position;
  /// for a changed list it has what was put into it. The numbers of the changes of one row are in the order of these changes, since a transaction
  /// waits for all earlier ones that have written the row. They are made for stores that follow only: see ``PostgreSQLStore/startFeed(_:)``.
  enum HistoryTables {
    /// The statements that make the tables and their indexes.
    static let sql = tables + indexes

    private static let tables = [
      """
      CREATE TABLE IF NOT EXISTS concord_history (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        xid xid8 NOT NULL,
        entity text COLLATE "C" NOT NULL,
        "key" text COLLATE "C" NOT NULL,
        is_row boolean NOT NULL,
        before text[],
        target text COLLATE "C",
        added text COLLATE "C"
      )
      """,
      """
      CREATE TABLE IF NOT EXISTS concord_feed (
        one boolean PRIMARY KEY DEFAULT true CHECK (one),
        epoch bigint NOT NULL,
        merged bigint NOT NULL,
        kept bigint NOT NULL,
        forgotten xid8 NOT NULL,
        begun xid8 NOT NULL
      )
      """,
      "CREATE TABLE IF NOT EXISTS concord_feed_columns (entity text COLLATE \"C\" PRIMARY KEY, columns text NOT NULL)",
      notes,
    ]

    /// The names of the indexes.
    static let indexNames = ["concord_history_xid", "concord_history_entity_key"]

    /// The statements that make the indexes. `concord_history_key` and `concord_history_row` of earlier releases stay: their programs may run beside
    /// this one. A later release may drop them, in a transaction of its own with a `lock_timeout`: whoever waits to drop an index lets all wait that read or
    /// write the table after that.
    static let indexes = [
      "CREATE INDEX IF NOT EXISTS concord_history_xid ON concord_history (xid)",
      // By transactions, so that whether a row has changed since a position is one look.
      "CREATE INDEX IF NOT EXISTS concord_history_entity_key ON concord_history (\(hash()), xid)",
    ]

    /// An expression for the hash of an entity and a key: a key may be longer than what an index takes, and those of several entities are equal.
    ///
    /// - Parameter table: the alias of what has the columns.
    static func hash(of table: String? = nil) -> String {
      let prefix = table.map { "\($0)." } ?? ""
      return "hashtextextended(\(prefix)\"key\", hashtextextended(\(prefix)entity, 0))"
    }

    /// The statement that makes the table of notes.
    static let notes = """
      CREATE TABLE IF NOT EXISTS concord_notes (
        space text COLLATE "C" NOT NULL,
        name text COLLATE "C" NOT NULL,
        value text NOT NULL,
        PRIMARY KEY (space, name)
      )
      """

    static let newEpoch = "(random() * 9007199254740991)::bigint + 1"

    /// The statement after which all positions are void.
    static let newEpochOfFeed = "UPDATE concord_feed SET epoch = \(newEpoch)"

    /// The statements that begin the feed, behind those that make triggers: what is noted so far counts no longer.
    static let begin = [
      """
      INSERT INTO concord_feed (epoch, merged, kept, forgotten, begun) VALUES (0, 0, 0, '0', '0')
      ON CONFLICT (one) DO NOTHING
      """,
      "DELETE FROM concord_history", newFeed,
    ]

    /// The statement that makes another feed of the one that is there: positions in that are void. So are those that do not see all that is there,
    /// since a copy may have brought it, with ids of transactions that are still open here.
    static let newFeed = """
      UPDATE concord_feed SET epoch = \(newEpoch), merged = 0, kept = 0, forgotten = '0', begun = COALESCE(
        (SELECT xid FROM concord_history WHERE xid < \(FeedTables.nextID) ORDER BY xid DESC LIMIT 1), '0')
      """

    // MARK: Triggers

    /// The operations that triggers follow.
    static let operations = ["INSERT", "UPDATE", "DELETE", "TRUNCATE"]

    static func trigger(_ operation: String) -> String { "concord_feed_\(operation.lowercased())" }

    /// The function of a table's triggers.
    static func function(_ table: PostgreSQLSchema.Table) -> String { "concord_feed.\(table.name)" }

    /// The columns in the order in which a changed row has them.
    static func columns(of entity: EntityDescription) -> String {
      entity.columns.map { identifier(columnName($0.name)) }.joined(separator: ",")
    }

    /// The statements that make the function and the triggers of a table.
    static func sql(_ table: PostgreSQLSchema.Table, schema: String) -> [String] {
      let function = identifier(function(table))
      return [
        """
        CREATE OR REPLACE FUNCTION \(function)() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
        SET search_path TO \(identifier(schema)), pg_temp SET bytea_output TO hex AS \(literal(body(table)))
        """
      ]
        + operations.map { operation in
          """
          CREATE OR REPLACE TRIGGER \(trigger(operation)) AFTER \(operation) ON \(identifier(table.name))\
          \(FeedTables.tablesOfTrigger[operation] ?? "") FOR EACH STATEMENT EXECUTE FUNCTION \(function)()
          """
        }
    }

    /// The statements that remove the triggers of a table.
    static func stop(_ table: String) -> [String] {
      operations.map { "DROP TRIGGER IF EXISTS \(trigger($0)) ON \(identifier(table))" }
    }

    /// The statement that notes the columns of an entity.
    static func note(_ entity: EntityDescription) -> String {
      """
      INSERT INTO concord_feed_columns (entity, columns)
      VALUES (\(literal(entity.name)), \(literal(columns(of: entity))))
      ON CONFLICT (entity) DO UPDATE SET columns = excluded.columns
      """
    }

    /// Returns the body of the function of a table's triggers.
    static func body(_ table: PostgreSQLSchema.Table) -> String {
      let (insert, update, delete) =
        table.collection.map { list($0, of: table.entity) } ?? row(table.entity)
      return """
        BEGIN
          -- What devices are told must survive a crash of the server.
          IF current_setting('synchronous_commit') = 'off' THEN
            PERFORM set_config('synchronous_commit', 'on', true);
          END IF;
          IF TG_OP = 'INSERT' THEN
            \(insert)
          ELSIF TG_OP = 'UPDATE' THEN
            \(update)
          ELSIF TG_OP = 'DELETE' THEN
            \(delete)
          ELSE
            \(newEpochOfFeed);
          END IF;
          RETURN NULL;
        END
        """
    }

    private static func row(_ entity: EntityDescription) -> (insert: String, update: String, delete: String) {
      let key = text("\"id\"", ColumnForm(keyOf: entity))
      let image = image(of: entity)
      func insert(_ key: String, _ before: String, _ from: String) -> String {
        """
        INSERT INTO concord_history (xid, entity, "key", is_row, before)
            SELECT pg_current_xact_id(), \(literal(entity.name)), \(key), true, \(before) FROM \(from);
        """
      }
      return (
        insert(key, "NULL", "changed"),
        insert(
          "COALESCE(b.k, c.k)", "b.image",
          """
          (SELECT \(key) AS k, \(image) AS image FROM before) AS b \
          FULL JOIN (SELECT \(key) AS k FROM changed) AS c ON b.k = c.k
          """),
        insert(key, image, "changed")
      )
    }

    private static func list(
      _ collection: CollectionDescription, of entity: EntityDescription
    ) -> (insert: String, update: String, delete: String) {
      let key = text("\"_owner\"", ColumnForm(keyOf: entity))
      func insert(_ target: String, _ added: String, _ from: String) -> String {
        """
        INSERT INTO concord_history (xid, entity, "key", is_row, target, added)
            SELECT DISTINCT pg_current_xact_id(), \(literal(entity.name)), \(key), false, \(target), \(added) FROM \(from);
        """
      }
      let references = zip(collection.columns, PostgreSQLTable.columnNames(collection)).compactMap { column, name in
        column.target.map {
          insert(literal($0), text(identifier(name), ColumnForm(column, targets: entity.targets)), "changed")
        }
      }
      let changed = insert("NULL::text", "NULL::text", "changed")
      let before = insert("NULL::text", "NULL::text", "before")
      let added = references.isEmpty ? changed : references.joined(separator: " ")
      return (added, "\(added) \(before)", changed)
    }

    /// An expression for the columns of a row, as texts by position.
    private static func image(of entity: EntityDescription) -> String {
      let table = PostgreSQLTable(entity)
      let values = entity.columns.indices.map { position in
        text(PostgreSQLTable.resultColumn(entity, at: position, table.keepsExactID), table.forms[position])
      }
      return "ARRAY[\(values.joined(separator: ", "))]::text[]"
    }

    /// An expression for a value as ``ColumnForm/key(_:)`` reads it. Where the value has bytes, `bytea_output` must be `hex`.
    static func text(_ value: String, _ form: ColumnForm) -> String {
      // Their bits, since a text does not tell those of NaN.
      form.type == .double ? "encode(float8send(\(value)), 'hex')" : "(\(value))::text"
    }
  }
#endif
