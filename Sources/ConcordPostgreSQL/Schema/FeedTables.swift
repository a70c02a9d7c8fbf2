#if PostgreSQL
  import ConcordModel

  /// The tables and triggers that note which rows each transaction has changed, whoever wrote them.
  ///
  /// `concord_changes` has a row for each statement: the id of its transaction, the entity, the keys as texts, and the connection. The triggers belong to the
  /// tables, so that what `psql` and other services write is noted as well.
  enum FeedTables {
    /// The channel on which sessions notify and listen.
    static func channel(_ schema: String) -> String { storedName("concord.\(schema)") }

    /// The id from which on no transaction is visible, as SQL.
    static let nextID = "pg_snapshot_xmax(pg_current_snapshot())"

    /// The statement by which all that follow are told that everything may have changed.
    static let newEpoch = "UPDATE concord_state SET epoch = gen_random_uuid()"

    static func sql(_ schema: String) -> [String] {
      [
        """
        CREATE TABLE IF NOT EXISTS concord_changes (
          xid xid8 NOT NULL,
          at timestamptz NOT NULL DEFAULT clock_timestamp(),
          entity text NOT NULL,
          keys text[],
          session text DEFAULT current_setting('concord.session', true)
        )
        """,
        "CREATE INDEX IF NOT EXISTS concord_changes_xid ON concord_changes (xid)",
        """
        CREATE TABLE IF NOT EXISTS concord_state (
          one boolean PRIMARY KEY DEFAULT true CHECK (one),
          epoch uuid NOT NULL DEFAULT gen_random_uuid(),
          trimmed xid8 NOT NULL DEFAULT '0',
          version bigint NOT NULL DEFAULT 0
        )
        """,
        "INSERT INTO concord_state DEFAULT VALUES ON CONFLICT DO NOTHING",
      ] + Key.allCases.map { $0.functionSQL(schema) }
    }

    /// The column that tells which entity a row belongs to.
    enum Key: String, CaseIterable {
      case id, owner, realID, realOwner

      init(isCollection: Bool, _ form: ColumnForm) {
        self = form.type == .double ? isCollection ? .realOwner : .realID : isCollection ? .owner : .id
      }

      var function: String { "concord_note_\(rawValue.lowercased())" }

      private var expression: String {
        switch self {
        case .id: "\"id\"::text"
        case .owner: "\"_owner\"::text"
        // Their bits, since a text does not tell those of NaN.
        case .realID: "encode(float8send(\"id\"), 'hex')"
        case .realOwner: "encode(float8send(\"_owner\"), 'hex')"
        }
      }

      /// The sessions of this program notify after the commit, since a notification within a transaction lets all other sessions wait that notify.
      fileprivate func functionSQL(_ schema: String) -> String {
        let body = """
          DECLARE
            found text[];
          BEGIN
            IF TG_OP = 'UPDATE' THEN
              SELECT array_agg(k) INTO found FROM (
                SELECT \(expression) FROM changed UNION SELECT \(expression) FROM before
              ) AS x(k);
            ELSIF TG_OP <> 'TRUNCATE' THEN
              SELECT array_agg(DISTINCT \(expression)) INTO found FROM changed;
            END IF;
            IF found IS NOT NULL OR TG_OP = 'TRUNCATE' THEN
              INSERT INTO concord_changes (xid, entity, keys) VALUES (pg_current_xact_id(), TG_ARGV[0], found);
              IF current_setting('concord.notifies', true) IS DISTINCT FROM 'off' THEN
                PERFORM pg_notify(\(literal(FeedTables.channel(schema))), '');
              END IF;
            END IF;
            RETURN NULL;
          END
          """
        return """
          CREATE OR REPLACE FUNCTION \(function)() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
          SET search_path TO \(identifier(schema)), pg_temp AS \(literal(body))
          """
      }
    }

    static let tablesOfTrigger = [
      "INSERT": " REFERENCING NEW TABLE AS changed", "DELETE": " REFERENCING OLD TABLE AS changed",
      "UPDATE": " REFERENCING NEW TABLE AS changed OLD TABLE AS before", "TRUNCATE": "",
    ]

    /// The name of a table's trigger for an operation.
    static func trigger(_ operation: String) -> String { "concord_\(operation.lowercased())" }

    /// Whether the trigger `t` runs in ordinary sessions, as SQL.
    static let isEnabled = "t.tgenabled IN ('O', 'A')"

    /// The triggers of a table, by their names.
    static func triggers(_ table: PostgreSQLSchema.Table) -> [(name: String, sql: String)] {
      let key = Key(isCollection: table.collection != nil, ColumnForm(keyOf: table.entity))
      return ["INSERT", "UPDATE", "DELETE", "TRUNCATE"].map { operation in
        (
          trigger(operation),
          """
          CREATE TRIGGER \(trigger(operation)) AFTER \(operation) ON \(identifier(table.name))\
          \(tablesOfTrigger[operation] ?? "") FOR EACH STATEMENT EXECUTE FUNCTION \(key.function)(\(literal(table.entity.name)))
          """
        )
      }
    }
  }
#endif
