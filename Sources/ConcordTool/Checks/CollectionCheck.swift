#if Tool
  import ConcordPersistence
  import GRDB

  /// A check that each collection has as many elements as its owner states, at the positions 0, 1, 2 and so on, and that each
  /// element has an owner.
  enum CollectionCheck {
    static func run(
      _ collection: FileTable, of entity: FileTable, _ db: Database, _ report: inout CheckReport
    ) throws {
      let (table, owners) = (quoted(collection.name), quoted(entity.name))
      guard entity.column("id") != nil, collection.column("_owner") != nil, collection.column("_position") != nil else {
        return try report.problem("\(collection.name) lacks its _owner, its _position, or the id of its owner")
      }
      try report.rows(
        "\(collection.name) has elements without an owner", db,
        selecting: """
          SELECT DISTINCT "_owner", NULL FROM \(table) AS a \
          WHERE NOT EXISTS (SELECT 1 FROM \(owners) AS b WHERE b."id" = a."_owner")
          """)
      try report.rows(
        "\(collection.name) has gaps between elements", db,
        selecting: """
          SELECT "_owner", NULL FROM \(table) GROUP BY "_owner" \
          HAVING MIN("_position") <> 0 OR MAX("_position") <> COUNT(*) - 1
          """)
      guard let count = entity.column(collection.collection) else {
        return try report.problem("\(entity.name) has no column '\(collection.collection)'")
      }
      try report.rows(
        "\(entity.name).\(count.name) is not the number of its elements", db,
        selecting: """
          SELECT "id", \(quoted(count.name)) FROM \(owners) AS a WHERE COALESCE(\(quoted(count.name)), 0) <> \
          (SELECT COUNT(*) FROM \(table) AS b WHERE b."_owner" = a."id")
          """)
    }
  }
#endif
