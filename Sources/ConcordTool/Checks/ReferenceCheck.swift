#if Tool
  import ConcordPersistence
  import GRDB

  /// A check that references lead to rows.
  enum ReferenceCheck {
    static func run(_ table: FileTable, _ schema: FileSchema, _ db: Database, _ report: inout CheckReport) throws {
      for column in table.columns {
        guard let target = column.target else { continue }
        guard let other = schema.table(target), other.isEntity else {
          try report.remark("\(table.name).\(column.name) refers to \(target), which is not kept in this file")
          continue
        }
        let key = quoted(table.keys.first?.name ?? "id")
        try report.rows(
          "\(table.name).\(column.name) refers to a \(target) that is not there", db,
          selecting: """
            SELECT \(key), \(quoted(column.name)) FROM \(quoted(table.name)) AS a WHERE \(quoted(column.name)) IS NOT NULL \
            AND NOT EXISTS (SELECT 1 FROM \(quoted(other.name)) AS b WHERE b."id" = a.\(quoted(column.name)))
            """)
      }
    }
  }
#endif
