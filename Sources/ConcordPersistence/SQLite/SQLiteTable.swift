#if Persistence
  import Concord
  import ConcordModel

  /// The statements of an entity's tables. All names are quoted, all values bound.
  ///
  /// The table of an entity has a column for each property, `id` for the key, `_id` where the id may differ from the
  /// key, and `_stamp`. That of a collection has `_owner`, `_position`, `_key` for a dictionary, and the element.
  final class SQLiteTable: Sendable {
    let entity: EntityDescription
    /// Whether equal ids may be stored differently, or differ from their key, so that the given id needs a further
    /// column.
    let keepsExactID: Bool
    private let isIDItsKey: Bool
    /// The result columns of a row: the properties by position, then the key, then the stamp.
    let keyPosition: Int32
    let stampPosition: Int32
    /// The position of the key in ``entityColumns(_:_:)``.
    let entityKeyPosition: Int32

    let selectRow: String
    let insert: String
    let insertOrReplaceOlder: String
    let update: String
    let delete: String
    let collections: [Collection]
    let uniqueColumns: [SQLiteUniqueColumn]
    /// The statements that find who refers to an entity, by its name.
    let referrers: [String: String]

    /// The statements of ``replaceIfSame(_:)`` that were needed so far.
    private let replacements = Locked<[Positions: String]>([:])

    /// Some columns of a row.
    struct Positions: Hashable {
      private let bits: UInt64

      /// The columns in which two rows differ; `nil` if there are none, or if collections differ.
      init?(changedFrom base: StoredRow, to row: StoredRow, in entity: EntityDescription) {
        guard entity.collections.isEmpty, row.values.count <= 64 else { return nil }
        var bits: UInt64 = 0
        for position in row.values.indices where row.values[position] != base.values[position] {
          bits |= 1 << UInt64(position)
        }
        if bits == 0 { return nil }
        if let position = entity.idPosition, bits & 1 << UInt64(position) != 0 { return nil }
        self.bits = bits
      }

      /// Creates the positions of all written columns.
      init(allOf entity: EntityDescription) {
        bits = SQLiteTable.storedPositions(entity).reduce(0) { $0 | 1 << UInt64($1) }
      }

      var all: [Int] { (0..<64).filter { bits & 1 << UInt64($0) != 0 } }
    }

    /// An update of some columns.
    typealias Replacement = (positions: Positions, sql: String)

    /// The maximum number of kept replacements, here and in the connection's prepared statements.
    private static let mostReplacements = 64

    /// Returns the statement that updates some columns of a row that has not changed. Indexes on further columns are
    /// not touched, unless so many forms of updates exist already that this one writes all columns.
    func replaceIfSame(_ positions: Positions) -> Replacement {
      replacements.withLock { known in
        if let sql = known[positions] { return (positions, sql) }
        let positions = known.count < Self.mostReplacements ? positions : Positions(allOf: entity)
        if let sql = known[positions] { return (positions, sql) }
        let names = positions.all.map { "\(quoted(entity.columns[$0].name)) = ?" } + ["\"_stamp\" = ?"]
        let compared =
          ["\"id\" = ?", "\"_stamp\" = ?"] + (keepsExactID ? ["\"_id\" IS ?"] : [])
          + Self.storedPositions(entity).map { "\(quoted(entity.columns[$0].name)) IS ?" }
        let sql =
          "UPDATE \(quoted(entity.name)) SET \(names.joined(separator: ", ")) WHERE \(compared.joined(separator: " AND "))"
        known[positions] = sql
        return (positions, sql)
      }
    }

    struct Collection: Sendable {
      let table: String
      let select: String
      let insert: String
      /// Replaces the row at a position.
      let update: String
      /// Selects the first and the last position.
      let ends: String
      /// Selects the row at a position.
      let element: String
      /// Deletes all rows from a position on.
      let deleteRest: String
    }

    init(_ entity: EntityDescription) {
      self.entity = entity
      keepsExactID = Self.keepsExactID(entity)
      isIDItsKey = entity.isIDItsKey
      keyPosition = Int32(entity.columns.count)
      stampPosition = keyPosition + 1
      entityKeyPosition =
        entity.collections.isEmpty && !keepsExactID ? entity.idPosition.map { Int32($0) } ?? keyPosition : keyPosition
      let table = quoted(entity.name)
      let stored = Self.storedPositions(entity)
      let names = stored.map { quoted(entity.columns[$0].name) }
      let written = ["\"id\""] + (keepsExactID ? ["\"_id\""] : []) + names + ["\"_stamp\""]
      selectRow = "SELECT \(Self.resultColumns(entity, keepsExactID)) FROM \(table) WHERE \"id\" = ?"
      let values = """
        INSERT INTO \(table) (\(written.joined(separator: ", "))) \
        VALUES (\(written.map { _ in "?" }.joined(separator: ", "))) ON CONFLICT (\"id\") DO
        """
      insert = "\(values) NOTHING"
      let replacements = written.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
      insertOrReplaceOlder =
        "\(values) UPDATE SET \(replacements) WHERE excluded.\"_stamp\" > \(table).\"_stamp\""
      let assignments = written.dropFirst().map { "\($0) = ?" }.joined(separator: ", ")
      update = "UPDATE \(table) SET \(assignments) WHERE \"id\" = ?"
      delete = "DELETE FROM \(table) WHERE \"id\" = ?"
      collections = entity.collections.map { Self.collection($0, of: entity) }
      uniqueColumns = entity.columns.indices.compactMap { SQLiteUniqueColumn(entity, $0) }
      referrers = Self.referrers(of: entity)
    }

    /// The positions of the columns that are written as they are: all but the id.
    static func storedPositions(_ entity: EntityDescription) -> [Int] {
      entity.columns.indices.filter { $0 != entity.idPosition }
    }

    static func resultColumns(_ entity: EntityDescription, _ keepsExactID: Bool) -> String {
      let columns = entity.columns.indices.map { resultColumn(entity, at: $0, keepsExactID) }
      return (columns + ["\"id\"", "\"_stamp\""]).joined(separator: ", ")
    }

    /// The properties by position, then the key, unless it is one of them.
    static func entityColumns(_ entity: EntityDescription, _ keepsExactID: Bool) -> String {
      let columns = entity.columns.indices.map { resultColumn(entity, at: $0, keepsExactID) }
      let isKeyAmong = entity.idPosition != nil && !keepsExactID && entity.collections.isEmpty
      return (columns + (isKeyAmong ? [] : ["\"id\""])).joined(separator: ", ")
    }

    /// - Parameter table: what the column is written with, as `"Book".`.
    static func resultColumn(
      _ entity: EntityDescription, at position: Int, _ keepsExactID: Bool, of table: String = ""
    ) -> String {
      guard position == entity.idPosition else { return "\(table)\(quoted(entity.columns[position].name))" }
      if !entity.isIDItsKey { return "\(table)\"_id\"" }
      return keepsExactID ? "COALESCE(\(table)\"_id\", \(table)\"id\")" : "\(table)\"id\""
    }

    static func keepsExactID(_ entity: EntityDescription) -> Bool {
      guard let position = entity.idPosition else { return false }
      // Where a store may compare ids itself, equal ones are stored the same.
      let comparison = entity.columns[position].comparison
      return comparison == .none || comparison == .text || !entity.isIDItsKey
    }

    /// Returns the value for the column of the given id: `NULL` where it equals the key.
    func exactID(_ id: StoredValue, key: StoredValue) -> StoredValue { isIDItsKey && id == key ? .null : id }

    static func tableName(_ collection: CollectionDescription, of entity: EntityDescription) -> String {
      "\(entity.name)_\(collection.name)"
    }

    private static func collection(_ collection: CollectionDescription, of entity: EntityDescription) -> Collection {
      let name = tableName(collection, of: entity)
      let columns = collection.columnNames.map { quoted($0) }
      return Collection(
        table: name,
        select:
          "SELECT \(columns.joined(separator: ", ")) FROM \(quoted(name)) WHERE \"_owner\" = ? ORDER BY \"_position\"",
        insert: """
          INSERT INTO \(quoted(name)) (\"_owner\", \"_position\", \(columns.joined(separator: ", "))) \
          VALUES (?, ?, \(columns.map { _ in "?" }.joined(separator: ", ")))
          """,
        update: """
          UPDATE \(quoted(name)) SET \(columns.map { "\($0) = ?" }.joined(separator: ", ")) \
          WHERE \"_owner\" = ? AND \"_position\" = ?
          """,
        ends: """
          SELECT (SELECT MIN(\"_position\") FROM \(quoted(name)) WHERE \"_owner\" = ?1), \
          (SELECT MAX(\"_position\") FROM \(quoted(name)) WHERE \"_owner\" = ?1)
          """,
        element: """
          SELECT \(columns.joined(separator: ", ")) FROM \(quoted(name)) WHERE \"_owner\" = ? AND \"_position\" = ?
          """,
        deleteRest: "DELETE FROM \(quoted(name)) WHERE \"_owner\" = ? AND \"_position\" >= ?")
    }

    private static func referrers(of entity: EntityDescription) -> [String: String] {
      var parts: [String: [String]] = [:]
      for column in entity.columns {
        guard let target = column.target else { continue }
        parts[target, default: []].append(
          "SELECT \"id\" FROM \(quoted(entity.name)) WHERE \(quoted(column.name)) = ?1")
      }
      for collection in entity.collections {
        for (column, name) in zip(collection.columns, collection.columnNames) {
          guard let target = column.target else { continue }
          parts[target, default: []].append(
            "SELECT \"_owner\" FROM \(quoted(tableName(collection, of: entity))) WHERE \(quoted(name)) = ?1")
        }
      }
      return parts.mapValues { $0.joined(separator: " UNION ") }
    }
  }

  extension CollectionDescription {
    /// The names of the columns of a row, by position.
    var columnNames: [String] { (key == nil ? [] : ["_key"]) + elements.map(\.name) }
  }

  /// Returns a name as a quoted identifier of SQL, with any characters in it.
  package func quoted(_ name: String) -> String { "\"\(name.doubling(UInt8(ascii: "\"")))\"" }
#endif
