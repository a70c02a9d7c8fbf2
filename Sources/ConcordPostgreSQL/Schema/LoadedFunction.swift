#if PostgreSQL
  /// The function `concord_loaded()` of a schema, for whoever has written rows without triggers.
  ///
  /// It enables the triggers that are disabled, notes all rows whose words are searched, and lets all that follow read everything anew. In the
  /// transaction that has written the rows nobody sees these before. It has the rights of who calls it.
  enum LoadedFunction {
    static let name = "concord_loaded"

    /// The statement that makes it. It finds by itself what there is, since tables may be made after it.
    static func sql(_ schema: String) -> String {
      """
      CREATE OR REPLACE FUNCTION \(name)() RETURNS void LANGUAGE plpgsql \
      SET search_path TO \(identifier(schema)), pg_temp AS \(literal(body))
      """
    }

    private static let body = """
      DECLARE
        found_trigger record;
        found_index record;
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
        FOR found_index IN
          SELECT DISTINCT t.tgrelid::regclass AS place, w.oid::regclass AS words, a.attname AS vectors
          FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_trigger t ON t.tgfoid = p.oid
          JOIN pg_class w ON w.relnamespace = n.oid AND w.relname = p.proname
          JOIN pg_attribute a ON a.attrelid = w.oid AND starts_with(a.attname, '\(PostgreSQLSearchIndex.mark) ')
          WHERE n.nspname = current_schema()
        LOOP
          -- Nobody else writes rows meanwhile, and their words.
          EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', found_index.place);
          EXECUTE format(
            'DELETE FROM %s AS w WHERE NOT EXISTS (SELECT FROM %s AS t WHERE t."id" = w."key")', found_index.words,
            found_index.place);
          EXECUTE format(
            'INSERT INTO %s ("key") SELECT "id" FROM %s ON CONFLICT ("key") DO NOTHING', found_index.words,
            found_index.place);
          EXECUTE format(
            'UPDATE %s SET %I = NULL, is_long = false WHERE %I IS NOT NULL OR is_long', found_index.words,
            found_index.vectors, found_index.vectors);
        END LOOP;
        \(FeedTables.newEpoch);
        IF to_regclass('concord_feed') IS NOT NULL THEN
          \(HistoryTables.newEpochOfFeed);
        END IF;
      END
      """
  }
#endif
