#if PostgreSQL
  import Concord
  import ConcordModel
  import ConcordPersistence

  // Many rows at once, since each statement costs a round trip.
  extension PostgreSQLSession {
    /// The number of rows in a statement.
    private static let most = 4096

    private func inParts<Element>(_ elements: [Element]) -> [ArraySlice<Element>] {
      stride(from: 0, to: elements.count, by: Self.most).map {
        elements[$0..<min($0 + Self.most, elements.count)]
      }
    }

    /// The keys as an array; those that no row can have are left out.
    private func array(_ keys: some Sequence<StoredValue>, _ form: ColumnForm) -> PostgreSQLParameters {
      var rows = ParameterRows([form.type])
      for key in keys {
        if let parameter = keyParameter(key, form) { rows.append { $0.append(from: parameter, at: 0) } }
      }
      return rows.arrays
    }

    // MARK: Reading

    func prepare(_ keys: [EntityKey]) throws {
      guard keys.count > 1 else { return }
      for (entity, keys) in Dictionary(grouping: keys, by: \.entity) {
        let table = try table(entity)
        let parts = inParts(keys)
        let results = try run(
          parts.map { .init(sql: table.selectRows, parameters: array($0.lazy.map(\.id), table.keyForm)) })
        for (part, result) in zip(parts, results) {
          for key in part { preparedRows[key] = .some(nil) }
          let source = PostgreSQLRowSource(result, 0, table, self)
          for row in 0..<result.count {
            source.move(to: row, of: result)
            preparedRows[EntityKey(entity, source.key)] = try StoredRow(reading: source, of: entity)
          }
        }
      }
    }

    /// The rows of a collection of the rows of a result, by their owners.
    func collections(
      _ index: Int, of table: PostgreSQLTable, _ result: PostgreSQLResult
    ) throws -> [StoredValue: [[StoredValue]]] {
      if let found = fetchedCollections.rows(index, with: result) { return found }
      let collection = table.collections[index]
      let owners = (0..<result.count).map { table.keyForm.read(result, $0, table.keyPosition) }
      var found: [StoredValue: [[StoredValue]]] = [:]
      for part in inParts(owners) {
        let elements = try query(collection.selectMany, array(part, table.keyForm))
        let ownerPosition = collection.forms.count
        for row in 0..<elements.count {
          found[table.keyForm.read(elements, row, ownerPosition), default: []]
            .append(Self.element(elements, row, collection.forms))
        }
      }
      fetchedCollections.set(found, index, with: result)
      return found
    }

    // MARK: Writing

    func insertNewest(_ rows: [KeyedRow]) throws -> [Bool] {
      var isWritten = [Bool](repeating: false, count: rows.count)
      for (entity, positions) in Dictionary(grouping: rows.indices, by: { rows[$0].key.entity }) {
        let table = try table(entity)
        // What has collections or unique values is compared first.
        let isPlain = table.collections.isEmpty && table.uniqueColumns.isEmpty
        guard isPlain, Set(positions.lazy.map { rows[$0].key.id }).count == positions.count else {
          for position in positions { isWritten[position] = try insertNewest(rows[position]) }
          continue
        }
        let parts = inParts(positions)
        let results = try write(try parts.map { try insertNewestCommand($0.lazy.map { rows[$0] }, table) })
        for (part, result) in zip(parts, results) {
          let isWhole = result.count == part.count
          let written =
            isWhole ? [] : Set((0..<result.count).map { table.keyForm.read(result, $0, 0) })
          for position in part where isWhole || written.contains(rows[position].key.id) {
            isWritten[position] = true
            willWrite(rows[position].key)
          }
        }
      }
      return isWritten
    }

    /// A statement that inserts rows, or replaces older ones, except those whose deletion is as new.
    private func insertNewestCommand(
      _ rows: some Collection<KeyedRow>, _ table: PostgreSQLTable
    ) throws -> PostgreSQLConnection.Command {
      var parameterRows = ParameterRows(table.writtenTypes + [.text])
      for (key, row) in rows {
        try parameterRows.append { parameters in
          try appendRow(row, key, table, to: &parameters)
          _ = ColumnForm.any.append(key.id, to: &parameters)
        }
      }
      let isOne = rows.count == 1
      var parameters = isOne ? parameterRows.single : parameterRows.arrays
      parameters.append(PostgreSQLText.encode(table.entity.name))
      return .init(sql: isOne ? table.insertNewest : table.insertNewestRows, parameters: parameters)
    }
  }
#endif
