#if PostgreSQL
  /// The table `concord_deletions`: the stamps of deletions, by the table and the id of the deleted row.
  enum DeletionTable {
    static let sql = [
      """
      CREATE TABLE concord_deletions (
        "table" text COLLATE "C" NOT NULL, "key" text COLLATE "C" NOT NULL, stamp double precision NOT NULL,
        at timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY ("table", "key")
      )
      """,
      "CREATE INDEX concord_deletions_at ON concord_deletions (at)",
    ]
  }
#endif
