#if PostgreSQL
  import ConcordModel
  import ConcordPersistence

  /// The table `concord_notes`: the notes, by their spaces and names. The first note makes it.
  extension PostgreSQLSession {
    func note(_ name: NoteName) throws -> String? {
      guard try findNotes() else { return nil }
      let result = try query("SELECT value FROM concord_notes WHERE space = $1 AND name = $2", Self.texts(name))
      return result.count > 0 ? PostgreSQLText.decode(result.bytes(0, 0)) : nil
    }

    func notes(in space: String, after name: String?, _ body: (String, String) throws -> Bool) throws {
      guard try findNotes() else { return }
      let result = try query(
        "SELECT name, value FROM concord_notes WHERE space = $1\(name == nil ? "" : " AND name > $2") ORDER BY name",
        Self.texts([space] + (name.map { [$0] } ?? [])))
      for row in 0..<result.count {
        let (name, value) = (result.bytes(row, 0), result.bytes(row, 1))
        if try !body(PostgreSQLText.decode(name), PostgreSQLText.decode(value)) { return }
      }
    }

    func setNote(_ value: String?, for name: NoteName) throws {
      guard let value else {
        guard try findNotes() else { return }
        return try writeLater([
          .init(sql: "DELETE FROM concord_notes WHERE space = $1 AND name = $2", parameters: Self.texts(name))
        ])
      }
      if try !findNotes() {
        try write([.once(HistoryTables.notes)])
        hasNotes = true
      }
      try writeLater([
        .init(
          sql: """
            INSERT INTO concord_notes (space, name, value) VALUES ($1, $2, $3)
            ON CONFLICT (space, name) DO UPDATE SET value = excluded.value
            """, parameters: Self.texts([name.space, name.name, value]))
      ])
    }

    func clearNotes(in space: String) throws {
      guard try findNotes() else { return }
      try writeLater([.init(sql: "DELETE FROM concord_notes WHERE space = $1", parameters: Self.texts([space]))])
    }

    private static func texts(_ name: NoteName) -> PostgreSQLParameters { texts([name.space, name.name]) }

    private static func texts(_ texts: [String]) -> PostgreSQLParameters {
      var parameters = PostgreSQLParameters()
      for text in texts { parameters.append(PostgreSQLText.encode(text)) }
      return parameters
    }

    private func findNotes() throws -> Bool {
      if let hasNotes { return hasNotes }
      let result = try run([.init(sql: "SELECT to_regclass('concord_notes') IS NOT NULL")])[0]
      let isFound = result.bool(0, 0)
      hasNotes = isFound
      return isFound
    }
  }
#endif
