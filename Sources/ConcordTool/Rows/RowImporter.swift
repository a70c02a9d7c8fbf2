#if Tool
  import ConcordModel
  import ConcordPersistence
  import Foundation
  import GRDB

  /// A writer of imported lines into their tables.
  struct RowImporter {
    private let db: Database
    private let schema: FileSchema
    private let replaces: Bool
    private let decoder = JSONDecoder()
    private var targets: [String: Target] = [:]
    private var order: [String] = []

    /// A table of which rows were imported.
    private struct Target {
      let table: FileTable
      let insert: RowStatement
      /// The statements that remove the elements of the entity's collections.
      let clear: [RowStatement]
      let columns: Set<String>
      var count = 0
    }

    init(_ db: Database, _ schema: FileSchema, replaces: Bool) {
      self.db = db
      self.schema = schema
      self.replaces = replaces
    }

    /// The number of imported rows of each table.
    var counts: [(table: String, count: Int)] { order.map { ($0, targets[$0]?.count ?? 0) } }

    mutating func take(_ line: Data) throws {
      if line.allSatisfy({ $0 == 32 || $0 == 9 || $0 == 13 }) { return }
      let imported: ImportedLine
      do {
        imported = try decoder.decode(ImportedLine.self, from: line)
      } catch { throw ToolError(.wrongInput, "this is no row: \(Self.reason(error))") }
      if let version = imported.concord {
        if version != 1 { throw ToolError(.wrongInput, "the format's version is \(version), not 1") }
        return
      }
      guard let name = imported.table, let row = imported.row else {
        throw ToolError(.wrongInput, "this is no row: it needs \"table\" and \"row\"")
      }
      try write(row.mapValues(\.cell), into: name)
    }

    private mutating func write(_ row: [String: Cell], into name: String) throws {
      let target = try self.target(name)
      if let unknown = row.keys.sorted().first(where: { !target.columns.contains($0) }) {
        _ = try target.table.requiredColumn(unknown, .wrongInput)
      }
      if replaces, let key = row["id"] {
        for statement in target.clear {
          try key.bind(to: statement, at: 1)
          _ = try step(statement)
        }
      }
      for (index, column) in target.table.columns.enumerated() {
        let missing: Cell = .value(column.name == "_stamp" ? .real(-.infinity) : .null)
        try (row[column.name] ?? missing).bind(to: target.insert, at: Int32(index + 1))
      }
      try step(target.insert)
      targets[name]?.count += 1
    }

    private func step(_ statement: RowStatement) throws {
      defer { statement.reset() }
      try ToolError.translating("the file") { _ = try statement.step() }
    }

    private mutating func target(_ name: String) throws -> Target {
      if let known = targets[name] { return known }
      let table = try schema.requiredTable(name, .wrongInput)
      let names = table.columns.map { quoted($0.name) }
      var sql = """
        INSERT INTO \(quoted(name)) (\(names.joined(separator: ", "))) \
        VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
        """
      if replaces {
        let changed = table.columns.filter { !$0.isKey }.map { "\(quoted($0.name)) = excluded.\(quoted($0.name))" }
        sql += " ON CONFLICT (\(table.order)) DO UPDATE SET \(changed.joined(separator: ", "))"
      }
      let clear = table.isEntity ? schema.collections(of: name) : []
      let target = Target(
        table: table, insert: RowStatement(try db.makeStatement(sql: sql)),
        clear: try clear.map {
          RowStatement(try db.makeStatement(sql: "DELETE FROM \(quoted($0.name)) WHERE \"_owner\" = ?"))
        }, columns: Set(table.columns.map(\.name)))
      targets[name] = target
      order.append(name)
      return target
    }

    private static func reason(_ error: any Error) -> String {
      guard let error = error as? DecodingError else { return "\(error)" }
      switch error {
      case .dataCorrupted(let context), .typeMismatch(_, let context), .keyNotFound(_, let context),
        .valueNotFound(_, let context):
        let path = context.codingPath.map(\.stringValue).joined(separator: ".")
        return path.isEmpty ? context.debugDescription : "\(path): \(context.debugDescription)"
      @unknown default: return "\(error)"
      }
    }
  }
#endif
