#if Tool
  import ConcordModel
  import ConcordPersistence
  import Foundation

  /// A reader of imported lines, which passes their rows on.
  struct RowImporter {
    private let schema: SourceSchema
    private let decoder = JSONDecoder()
    private var targets: [String: Target] = [:]
    private var order: [String] = []

    /// A table of which rows were imported.
    private struct Target {
      let table: SourceTable
      let columns: Set<String>
      var count = 0
    }

    init(_ schema: SourceSchema) { self.schema = schema }

    /// The number of imported rows of each table.
    var counts: [(table: String, count: Int)] { order.map { ($0, targets[$0]?.count ?? 0) } }

    mutating func take(_ line: Data, number: Int, _ target: any RowTarget) throws {
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
      let known = try self.target(name)
      if let unknown = row.keys.sorted().first(where: { !known.columns.contains($0) }) {
        _ = try known.table.requiredColumn(unknown, .wrongInput)
      }
      let cells = known.table.columns.map { column -> Cell in
        row[column.name]?.cell ?? .value(column.name == "_stamp" ? .real(-.infinity) : .null)
      }
      try target.write(cells, into: known.table, line: number)
      targets[name]?.count += 1
    }

    private mutating func target(_ name: String) throws -> Target {
      if let known = targets[name] { return known }
      let table = try schema.requiredTable(name, .wrongInput)
      let target = Target(table: table, columns: Set(table.columns.map(\.name)))
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
