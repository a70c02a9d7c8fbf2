#if Tool
  /// A check that each collection has as many elements as its owner states, at the positions 0, 1, 2 and so on, and that each
  /// element has an owner.
  enum CollectionCheck {
    static func run(
      _ collection: SourceTable, of entity: SourceTable, _ source: any ToolSource, _ report: inout CheckReport
    ) throws {
      let (table, owners) = (collection.sql, entity.sql)
      guard let id = entity.column("id"), let owner = collection.column("_owner"),
        collection.column("_position") != nil
      else {
        return try report.problem("\(collection.name) lacks its _owner, its _position, or the id of its owner")
      }
      try report.rows(
        "\(collection.name) has elements without an owner", source, [owner],
        selecting: """
          SELECT DISTINCT "_owner" FROM \(table) AS a \
          WHERE NOT EXISTS (SELECT 1 FROM \(owners) AS b WHERE b."id" = a."_owner")
          """)
      try report.rows(
        "\(collection.name) has gaps between elements", source, [owner],
        selecting: """
          SELECT "_owner" FROM \(table) GROUP BY "_owner" \
          HAVING MIN("_position") <> 0 OR MAX("_position") <> COUNT(*) - 1
          """)
      guard let count = entity.column(collection.collection) else {
        return try report.problem("\(entity.name) has no column '\(collection.collection)'")
      }
      try report.rows(
        "\(entity.name).\(count.name) is not the number of its elements", source, [id, count],
        selecting: """
          SELECT "id", \(count.sql) FROM \(owners) AS a WHERE COALESCE(\(count.sql), 0) <> \
          (SELECT COUNT(*) FROM \(table) AS b WHERE b."_owner" = a."id")
          """)
    }
  }
#endif
