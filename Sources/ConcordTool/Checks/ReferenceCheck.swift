#if Tool
  /// A check that references lead to rows.
  enum ReferenceCheck {
    static func run(_ table: SourceTable, _ source: any ToolSource, _ report: inout CheckReport) throws {
      for column in table.columns {
        guard let target = column.target, let key = table.keys.first ?? table.column("id") else { continue }
        guard let other = source.schema.table(target), other.isEntity else {
          try report.remark("\(table.name).\(column.name) refers to \(target), which is not kept here")
          continue
        }
        try report.rows(
          "\(table.name).\(column.name) refers to a \(target) that is not there", source, [key, column],
          selecting: """
            SELECT \(key.sql), \(column.sql) FROM \(table.sql) AS a WHERE \(column.sql) IS NOT NULL \
            AND NOT EXISTS (SELECT 1 FROM \(other.sql) AS b WHERE b."id" = a.\(column.sql))
            """)
      }
    }
  }
#endif
