#if PostgreSQL
  import Concord
  import ConcordModel
  import ConcordPersistence
  import Foundation

  /// A row of a result.
  final class PostgreSQLRowSource: RowSource {
    private let table: PostgreSQLTable
    private let session: PostgreSQLSession
    private(set) var result: PostgreSQLResult
    private(set) var row: Int

    init(_ result: PostgreSQLResult, _ row: Int, _ table: PostgreSQLTable, _ session: PostgreSQLSession) {
      (self.result, self.row, self.table, self.session) = (result, row, table, session)
    }

    /// Goes to another row.
    func move(to row: Int, of result: PostgreSQLResult) {
      if self.result !== result { self.result = result }
      self.row = row
    }

    var key: StoredValue { table.keyForm.read(result, row, table.keyPosition) }

    override func value(at position: Int) -> StoredValue {
      guard table.forms.indices.contains(position), !result.isNull(row, position) else { return .null }
      return table.forms[position].read(result, row, position)
    }

    override func isNull(at position: Int) -> Bool { result.isNull(row, position) }

    override func integer(at position: Int) -> Int64? {
      if result.isNull(row, position) { return nil }
      switch table.forms[position] {
      case .integer: return result.integer(row, position)
      case .boolean: return result.bool(row, position) ? 1 : 0
      default: if case .integer(let value) = value(at: position) { return value } else { return nil }
      }
    }

    override func real(at position: Int) -> Double? {
      if case .real = table.forms[position] {
        if result.isNull(row, position) { return nil }
        let value = Double(bitPattern: result.bits(row, position))
        // NaN and -0.0 are no numbers to a store.
        return value.isNaN || value == 0 && value.sign == .minus ? nil : value
      }
      if case .real(let value) = value(at: position) { return value } else { return nil }
    }

    override func text(at position: Int) -> String? {
      if result.isNull(row, position) { return nil }
      if case .text = table.forms[position] { return PostgreSQLText.decode(result.bytes(row, position)) }
      if case .text(let value) = value(at: position) { return value } else { return nil }
    }

    override var stamp: Stamp { Double(bitPattern: result.bits(row, table.stampPosition)) }

    override func collection(_ index: Int) throws -> [[StoredValue]] {
      if result.count == 1 { return try session.collection(index, of: table, owner: key) }
      return try session.collections(index, of: table, result)[key] ?? []
    }
  }

  extension StoredRow {
    init(reading source: RowSource, of entity: EntityDescription) throws {
      self.init(
        values: entity.columns.indices.map { source.value(at: $0) },
        collections: try entity.collections.indices.map { try source.collection($0) }, stamp: source.stamp)
    }
  }
#endif
