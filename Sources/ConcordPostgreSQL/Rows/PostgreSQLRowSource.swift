#if PostgreSQL
  import Concord
  import ConcordModel
  import ConcordPersistence
  import Foundation

  /// A row of a result.
  final class PostgreSQLRowSource: RowSource {
    private let table: PostgreSQLTable
    // That of the table, beside the rest of what each value is read with.
    private let forms: [ColumnForm]
    private let session: PostgreSQLSession
    private(set) var result: PostgreSQLResult
    /// The values of the result, which is held.
    private var values: PostgreSQLResult.Values
    private(set) var row: Int

    init(_ result: PostgreSQLResult, _ row: Int, _ table: PostgreSQLTable, _ session: PostgreSQLSession) {
      (self.result, self.row, self.table, self.session) = (result, row, table, session)
      (forms, values) = (table.forms, result.values)
    }

    /// Goes to another row.
    func move(to row: Int, of result: PostgreSQLResult) {
      if self.result !== result { (self.result, values) = (result, result.values) }
      self.row = row
    }

    /// Goes to another row of the same result.
    func move(to row: Int) { self.row = row }

    var key: StoredValue { table.keyForm.read(result, row, table.keyPosition) }

    override var rowCount: Int { result.count }

    override func value(at position: Int) -> StoredValue {
      guard forms.indices.contains(position), !result.isNull(row, position) else { return .null }
      return forms[position].read(result, row, position)
    }

    override func isNull(at position: Int) -> Bool { result.isNull(row, position) }

    override func integer(at position: Int) -> Int64? {
      if case .integer = forms[position], let word = values.word(row, position) { return Int64(bitPattern: word) }
      if result.isNull(row, position) { return nil }
      switch forms[position] {
      case .integer: return result.integer(row, position)
      case .boolean: return result.bool(row, position) ? 1 : 0
      default: if case .integer(let value) = value(at: position) { return value } else { return nil }
      }
    }

    override func real(at position: Int) -> Double? {
      if case .real = forms[position] {
        guard let word = values.word(row, position) else { return nil }
        let value = Double(bitPattern: word)
        // NaN and -0.0 are no numbers to a store.
        return value.isNaN || value == 0 && value.sign == .minus ? nil : value
      }
      if case .real(let value) = value(at: position) { return value } else { return nil }
    }

    override func text(at position: Int) -> String? {
      if case .text = forms[position] { return values.bytesIfAny(row, position).map(PostgreSQLText.decode) }
      if case .text(let value) = value(at: position) { return value } else { return nil }
    }

    override var stamp: Stamp {
      // Where entities are made, none was asked for.
      table.stampPosition < result.columnCount
        ? Double(bitPattern: result.bits(row, table.stampPosition)) : -.infinity
    }

    override func collection(_ index: Int) throws -> StoredElements {
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
