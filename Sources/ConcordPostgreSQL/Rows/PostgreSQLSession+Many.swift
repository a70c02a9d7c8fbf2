#if PostgreSQL
  import Concord
  import ConcordModel
  import ConcordPersistence

  // Many rows at once, since each statement costs a round trip.
  extension PostgreSQLSession {
    /// The number of rows in a statement.
    private static let most = 4096

    func inParts<Element>(_ elements: [Element]) -> [ArraySlice<Element>] {
      stride(from: 0, to: elements.count, by: Self.most).map {
        elements[$0..<min($0 + Self.most, elements.count)]
      }
    }

    /// The keys as an array; those that no row can have are left out.
    func array(_ keys: some Sequence<StoredValue>, _ form: ColumnForm) -> PostgreSQLParameters {
      var rows = ParameterRows([form.type])
      for key in keys {
        if let parameter = keyParameter(key, form) { rows.append { $0.append(from: parameter, at: 0) } }
      }
      return rows.arrays
    }

    // MARK: Reading

    func prepare(_ keys: [EntityKey]) throws { if keys.count > 1 { try prepare(keys, behind: []) } }

    /// Prepares rows, in one round trip with other statements before and after.
    ///
    /// - Returns: the results of those before.
    @discardableResult
    func prepare(
      _ keys: [EntityKey], behind earlier: [PostgreSQLConnection.Command],
      before later: [PostgreSQLConnection.Command] = []
    ) throws -> ArraySlice<PostgreSQLResult> {
      let groups = try Dictionary(grouping: keys, by: \.entity).flatMap { entity, keys in
        let table = try table(entity)
        return inParts(keys).map { (table: table, keys: $0) }
      }
      let results = try run(
        earlier
          + groups.map { table, keys in
            .init(sql: table.selectRows, parameters: array(keys.lazy.map(\.id), table.keyForm))
          } + later, areByKey: true)
      for ((table, keys), result) in zip(groups, results.dropFirst(earlier.count)) { try keep(result, table, keys) }
      return results.prefix(earlier.count)
    }

    /// Prepares rows of the state up to which commits are being told.
    func prepareTold(_ keys: [EntityKey], _ state: ToldState) throws {
      if keys.isEmpty { return }
      let tables = try Set(keys.map(\.entity)).map(table)
      let wanted = Set(keys)
      for rows in state.rows(reading: tables) {
        try keep(rows.result, rows.table, rows.keys.filter(wanted.contains), only: wanted)
      }
      let missing = keys.filter { preparedRows[$0] == nil }
      if !missing.isEmpty { try prepare(missing, behind: []) }
    }

    /// Keeps the rows of a result as prepared ones.
    ///
    /// - Parameters:
    ///   - keys: those that were looked for.
    ///   - wanted: those of which rows are kept; all of the result if `nil`.
    private func keep(
      _ result: PostgreSQLResult, _ table: PostgreSQLTable, _ keys: some Sequence<EntityKey>,
      only wanted: Set<EntityKey>? = nil
    ) throws {
      for key in keys { preparedRows[key] = .some(nil) }
      let source = PostgreSQLRowSource(result, 0, table, self)
      for row in 0..<result.count {
        source.move(to: row, of: result)
        let key = EntityKey(table.entity, source.key)
        // One that nobody has asked for may be damaged.
        if wanted?.contains(key) == false { continue }
        preparedRows[key] = try StoredRow(reading: source, of: table.entity)
      }
    }

    /// The elements of a collection of the rows of a result, by their owners.
    func collections(
      _ index: Int, of table: PostgreSQLTable, _ result: PostgreSQLResult
    ) throws -> [StoredValue: StoredElements] {
      if let found = fetchedCollections.elements(index, with: result) { return found }
      let collection = table.collections[index]
      let owners = (0..<result.count).map { table.keyForm.read(result, $0, table.keyPosition) }
      var found: [StoredValue: StoredElements] = [:]
      for part in inParts(owners) {
        let elements = try query(collection.selectMany, array(part, table.keyForm))
        let ownerPosition = collection.forms.count
        for row in 0..<elements.count {
          found[
            table.keyForm.read(elements, row, ownerPosition), default: StoredElements(width: collection.forms.count)
          ].append { Self.value(elements, row, $0, collection.forms) }
        }
      }
      fetchedCollections.set(found, index, with: result)
      return found
    }

    func deletions(of keys: [EntityKey]) throws -> [EntityKey: Stamp] {
      var found: [EntityKey: Stamp] = [:]
      for (entity, keys) in Dictionary(grouping: keys, by: \.entity) {
        let byText = Dictionary(keys.map { (AnyValue.text($0.id), $0) }) { $1 }
        let results = try run(
          inParts(Array(byText.keys)).map { texts in
            var (rows, parameters) = (ParameterRows([.text]), PostgreSQLParameters())
            for text in texts { rows.append { $0.append(PostgreSQLText.encode(text)) } }
            parameters.append(PostgreSQLText.encode(entity.name))
            parameters.append(from: rows.arrays, at: 0)
            return .init(
              sql: "SELECT \"key\", stamp FROM concord_deletions WHERE \"table\" = $1 AND \"key\" = ANY($2)",
              parameters: parameters)
          })
        for result in results {
          for row in 0..<result.count {
            guard let key = byText[PostgreSQLText.decode(result.bytes(row, 0))] else { continue }
            found[key] = Double(bitPattern: result.bits(row, 1))
          }
        }
      }
      return found
    }

    // MARK: Writing

    /// The statement that inserts a row or replaces an older one, and writes its words if it does.
    private func insertionOfNewest(
      _ key: EntityKey, _ row: StoredRow, _ table: PostgreSQLTable
    ) throws -> PostgreSQLConnection.Command {
      var (_, parameters) = try parameters([(key, row)], table)
      guard let index = search.folded[key.entity] else {
        return .init(sql: table.insertNewest, parameters: parameters)
      }
      let sql = index.write(beside: table.insertNewest, parameters.count)
      index.append(key.id, index.vector(row.values), to: &parameters)
      return .init(sql: sql, parameters: parameters)
    }

    func insertNewest(_ rows: [KeyedRow]) throws -> [Bool] {
      if rows.count == 1, let (key, row) = rows.first {
        let table = try table(key.entity)
        if table.collections.isEmpty, table.uniqueColumns.isEmpty, assume(try insertionOfNewest(key, row, table)) {
          try willWrite(key, .unchanged)
          return [true]
        }
      }
      return try insert(rows) { table in
        // What has collections is compared with the stored ones.
        table.collections.isEmpty && table.uniqueColumns.isEmpty ? (table.insertNewest, table.insertNewestRows) : nil
      } others: { rows in
        var isWritten = try insertMissing(rows)
        let left = rows.indices.filter { !isWritten[$0] }
        if left.isEmpty { return isWritten }
        let keys = left.map { rows[$0].key }
        try prepare(keys)
        let deletions = try deletions(of: keys)
        for position in left {
          let (key, row) = rows[position]
          if let deletion = deletions[key], deletion >= row.stamp { continue }
          isWritten[position] = try insertOrReplaceOlder(row, for: key)
        }
        return isWritten
      }
    }

    func insertMissing(_ rows: [KeyedRow]) throws -> [Bool] {
      try insert(rows) {
        ($0.insertMissing, $0.insertMissingRows)
      } others: { rows in
        let deletions = try deletions(of: rows.map(\.key))
        return try rows.map { key, row in
          if let deletion = deletions[key], deletion >= row.stamp { return false }
          do { return try insert(row, for: key) } catch StoreError.notUnique { return false }
        }
      }
    }

    /// Inserts rows of several types.
    ///
    /// - Parameters:
    ///   - sql: the statements for one row and for many of a type; `nil` if there is more to be done.
    ///   - others: inserts rows of a type without such statements, or of which one is there twice, or whose unique values are compared.
    private func insert(
      _ rows: [KeyedRow], _ sql: (PostgreSQLTable) -> (one: String, many: String)?,
      others: ([KeyedRow]) throws -> [Bool]
    ) throws -> [Bool] {
      var isWritten = [Bool](repeating: false, count: rows.count)
      // In one order everywhere, since two that write the same rows in different orders wait for each other.
      let groups = Dictionary(grouping: rows.indices) { rows[$0].key.entity }.sorted { $0.key.name < $1.key.name }
      for (entity, given) in groups {
        let table = try table(entity)
        if !freeValues.isEmpty { for position in given { noteTaken(by: rows[position].row, of: table) } }
        func insertOthers(_ positions: [Int]) throws {
          for (position, isThis) in zip(positions, try others(positions.map { rows[$0] })) {
            isWritten[position] = isThis
          }
        }
        guard let sql = sql(table), let positions = inOrder(given, rows) else {
          let areDifferent = Set(given.lazy.map { rows[$0].key.id }).count == given.count
          for part in areDifferent ? [given] : given.map({ [$0] }) { try insertOthers(part) }
          continue
        }
        let together = try withoutEntries(positions, rows, table)
        var (parts, commands): ([ArraySlice<Int>], [PostgreSQLConnection.Command]) = ([], [])
        var rest = together[...]
        while !rest.isEmpty {
          let (count, parameters) = try parameters(rest.lazy.map { rows[$0] }, table)
          parts.append(rest.prefix(count))
          commands.append(.init(sql: count == 1 ? sql.one : sql.many, parameters: parameters))
          rest = rest.dropFirst(count)
        }
        let results = commands.isEmpty ? [] : try write(commands)
        for (part, result) in zip(parts, results) {
          let isWhole = result.count == part.count
          let written =
            isWhole ? [] : Set((0..<result.count).map { table.keyForm.read(result, $0, 0) })
          for position in part where isWhole || written.contains(rows[position].key.id) {
            isWritten[position] = true
            try willWrite(rows[position].key, .values(rows[position].row.values))
          }
        }
        // The elements of each collection follow each other, so that they are written together.
        for index in table.collections.indices {
          for position in positions where isWritten[position] {
            try insertLater(index, rows[position].row.collections[index], from: 0, rows[position].key, table)
          }
        }
        if together.count < positions.count {
          let left = Set(together)
          try insertOthers(positions.filter { !left.contains($0) })
        }
      }
      return isWritten
    }

    /// Positions in the order of their keys; `nil` if some keys are equal.
    private func inOrder(_ positions: [Int], _ rows: [KeyedRow]) -> [Int]? {
      func precedes(_ a: Int, _ b: Int) -> Bool { StoredValue.precedes(rows[a].key.id, rows[b].key.id) }
      func isAscending(_ positions: [Int]) -> Bool {
        zip(positions, positions.dropFirst()).allSatisfy { precedes($0, $1) }
      }
      if isAscending(positions) { return positions }
      let sorted = positions.sorted(by: precedes)
      return isAscending(sorted) ? sorted : nil
    }

    /// Returns the parameters of a statement that inserts rows, or replaces older ones, except those whose deletion is as new.
    ///
    /// - Returns: the number of the first rows that the statement has, and its parameters.
    private func parameters(
      _ rows: some Sequence<KeyedRow>, _ table: PostgreSQLTable
    ) throws -> (count: Int, PostgreSQLParameters) {
      var parameterRows = ParameterRows(table.writtenTypes + [.text])
      for (key, row) in rows {
        if parameterRows.count == Self.most || parameterRows.bytes >= ParameterRows.mostBytes { break }
        try parameterRows.append { parameters in
          try appendRow(row, key, table, to: &parameters)
          _ = ColumnForm.any.append(key.id, to: &parameters)
        }
      }
      var parameters = parameterRows.count == 1 ? parameterRows.single : parameterRows.arrays
      parameters.append(PostgreSQLText.encode(table.entity.name))
      return (parameterRows.count, parameters)
    }
  }
#endif
