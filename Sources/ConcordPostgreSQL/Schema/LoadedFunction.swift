#if PostgreSQL
  /// The function `concord_loaded()` of a schema, for whoever has written rows without triggers.
  ///
  /// It enables the triggers that are disabled, notes rows whose words are searched, and lets all that follow read everything anew. In the
  /// transaction that has written the rows nobody sees these before. It has the rights of who calls it.
  ///
  /// Each table whose rows it notes it locks. A transaction that has written without triggers, some of which are still disabled, must not wait for
  /// the writers of other tables, who may wait for its own ones: then only those count that it has written or locked.
  enum LoadedFunction {
    static let name = "concord_loaded"

    /// The statement that makes it. It finds by itself what there is, since tables may be made after it.
    static func sql(_ schema: String) -> String {
      """
      CREATE OR REPLACE FUNCTION \(name)() RETURNS void LANGUAGE plpgsql \
      SET search_path TO \(identifier(schema)), pg_temp AS \(literal(body))
      """
    }

    static let body = """
      DECLARE
        found_trigger record;
        found_index record;
        has_written boolean := EXISTS (\(written));
        written oid[];
      BEGIN
        FOR found_trigger IN
          SELECT t.tgrelid::regclass AS place, t.tgname AS name
          FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE n.nspname = current_schema() AND NOT t.tgisinternal AND starts_with(t.tgname, 'concord_') AND NOT \(FeedTables.isEnabled)
        LOOP
          -- A table whose rows are yet to be checked cannot be altered.
          SET CONSTRAINTS ALL IMMEDIATE;
          EXECUTE format('ALTER TABLE %s ENABLE TRIGGER %I', found_trigger.place, found_trigger.name);
        END LOOP;
        IF FOUND AND has_written THEN
          written := ARRAY(\(written));
        END IF;
        FOR found_index IN
          SELECT DISTINCT t.tgrelid::regclass AS place, w.oid::regclass AS words, a.attname AS vectors
          FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_trigger t ON t.tgfoid = p.oid
          JOIN pg_class w ON w.relnamespace = n.oid AND w.relname = p.proname
          JOIN pg_attribute a ON a.attrelid = w.oid AND starts_with(a.attname, '\(PostgreSQLSearchIndex.mark) ')
          WHERE n.nspname = current_schema() AND (written IS NULL OR t.tgrelid = ANY (written)) ORDER BY place
        LOOP
          -- Nobody else writes rows meanwhile.
          EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', found_index.place);
          EXECUTE format(
            'DELETE FROM %s AS w WHERE NOT EXISTS (SELECT FROM %s AS t WHERE t."id" = w."key")', found_index.words,
            found_index.place);
          EXECUTE format(
            'INSERT INTO %s ("key") SELECT "id" FROM %s ON CONFLICT ("key") DO NOTHING', found_index.words,
            found_index.place);
          -- Also what is noted: who folds words until the commit sees the texts of before, and leaves rows that are locked.
          EXECUTE format('UPDATE %s SET %I = NULL, is_long = false', found_index.words, found_index.vectors);
        END LOOP;
        \(FeedTables.newEpoch);
        IF to_regclass('concord_feed') IS NOT NULL THEN
          \(HistoryTables.newEpochOfFeed);
        END IF;
      END
      """

    /// A query for the tables that the transaction has written or locked, which its locks tell.
    private static let written = """
      SELECT l.relation FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE l.pid = pg_backend_pid() AND l.locktype = 'relation' AND l.mode NOT IN ('AccessShareLock', 'RowShareLock', 'SIReadLock')
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND n.nspname = current_schema()
      """
  }
#endif
