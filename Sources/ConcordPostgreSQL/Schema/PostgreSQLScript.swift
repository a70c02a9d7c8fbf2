#if PostgreSQL
  /// A script for an administrator, which makes tables of a schema, and lets a role use them.
  struct PostgreSQLScript {
    let schema: String
    var statements: [String]
    /// The tables of entities and collections.
    var tables: [String]
    /// The tables of indexes of words.
    var wordTables: [String] = []
    /// The role that is to use the tables; `nil` if it owns them.
    var role: String?
    /// Whether devices are synchronised with the tables, too.
    var isFollowed = false

    /// The least rights that a store needs at run time. The triggers note changes with the rights of the tables' owner.
    private static let rights: [(table: String, rights: String)] = [
      ("concord_changes", "SELECT, UPDATE, DELETE"), ("concord_state", "SELECT, UPDATE"),
      ("concord_outbox", "SELECT, INSERT, UPDATE, DELETE"), ("concord_outbox_state", "SELECT, UPDATE"),
      ("concord_unique", "SELECT, INSERT, UPDATE, DELETE"),
      ("concord_deletions", "SELECT, INSERT, UPDATE, DELETE"), ("concord_schema", "SELECT"),
      ("concord_tables", "SELECT, UPDATE"),
    ]

    private static let rightsToFollow: [(table: String, rights: String)] = [
      ("concord_history", "SELECT, DELETE"), ("concord_feed", "SELECT, UPDATE"), ("concord_feed_columns", "SELECT"),
      ("concord_notes", "SELECT, INSERT, UPDATE, DELETE"),
    ]

    private var grants: [String] {
      guard let role else { return [] }
      let to = "TO \(identifier(role))"
      return ["GRANT USAGE ON SCHEMA \(identifier(schema)) \(to)"]
        + (Self.rights + (isFollowed ? Self.rightsToFollow : [])).map { "GRANT \($0.rights) ON \($0.table) \(to)" }
        + tables.map { "GRANT SELECT, INSERT, UPDATE, DELETE ON \(identifier($0)) \(to)" }
        // The triggers delete with the owner's rights, and `concord_loaded()` with those of the role.
        + wordTables.map { "GRANT SELECT, INSERT, UPDATE, DELETE ON \(identifier($0)) \(to)" }
    }

    var text: String {
      let all = ["BEGIN", "SET LOCAL search_path TO \(identifier(schema)), pg_temp"] + statements + grants + ["COMMIT"]
      return all.map { "\($0);\n" }.joined()
    }
  }
#endif
