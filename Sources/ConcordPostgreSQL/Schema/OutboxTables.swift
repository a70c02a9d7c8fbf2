#if PostgreSQL
  /// The tables of forwarded actions: `concord_outbox`, and `concord_outbox_state` with how often it was written.
  enum OutboxTables {
    /// The statements that make the tables.
    static let sql = [
      """
      CREATE TABLE IF NOT EXISTS concord_outbox (
        number bigint PRIMARY KEY,
        "key" text COLLATE "C" NOT NULL UNIQUE,
        action text NOT NULL,
        entity text NOT NULL,
        id text,
        body text NOT NULL,
        state text NOT NULL,
        reason text,
        forwarded double precision NOT NULL,
        version bigint NOT NULL
      )
      """,
      "CREATE INDEX IF NOT EXISTS concord_outbox_version ON concord_outbox (version)",
      """
      CREATE TABLE IF NOT EXISTS concord_outbox_state (
        one boolean PRIMARY KEY DEFAULT true CHECK (one),
        epoch bigint NOT NULL,
        version bigint NOT NULL,
        forgotten bigint NOT NULL,
        cleared bigint NOT NULL
      )
      """,
      """
      INSERT INTO concord_outbox_state (epoch, version, forgotten, cleared)
      VALUES ((random() * 9007199254740991)::bigint + 1, 0, 0, 0) ON CONFLICT DO NOTHING
      """,
    ]

    /// The name of the trigger that notes writes to an outbox.
    static let trigger = "concord_outbox"

    /// Returns the statements of the trigger that notes writes to an outbox.
    static func trigger(_ schema: String) -> [String] {
      [
        """
        CREATE OR REPLACE FUNCTION concord_note_outbox() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
        SET search_path TO \(identifier(schema)), pg_temp AS $$
        BEGIN
          INSERT INTO concord_changes (xid, entity, keys) VALUES (pg_current_xact_id(), '', '{}');
          RETURN NULL;
        END $$
        """,
        """
        CREATE OR REPLACE TRIGGER \(trigger) AFTER UPDATE ON concord_outbox_state
        FOR EACH STATEMENT EXECUTE FUNCTION concord_note_outbox()
        """,
      ]
    }
  }
#endif
