#if Persistence
  import ConcordModel
  import GRDB

  /// The table `concord_notes`: the notes, by their spaces and names. The first note makes it.
  extension SQLiteSession {
    func note(_ name: NoteName) throws -> String? {
      guard try findNotes() else { return nil }
      let statement = SQLiteStatement(
        try db.cachedStatement(sql: "SELECT value FROM concord_notes WHERE space = ? AND name = ?"))
      defer { statement.reset() }
      try statement.bind(.text(name.space), at: 1)
      try statement.bind(.text(name.name), at: 2)
      return try statement.step() ? statement.text(at: 0) : nil
    }

    func notes(in space: String, after name: String?, _ body: (String, String) throws -> Bool) throws {
      guard try findNotes() else { return }
      let statement = SQLiteStatement(
        try db.makeStatement(
          sql: """
            SELECT name, value FROM concord_notes WHERE space = ?\(name == nil ? "" : " AND name > ?") ORDER BY name
            """))
      defer { statement.reset() }
      try statement.bind(.text(space), at: 1)
      if let name { try statement.bind(.text(name), at: 2) }
      while try statement.step() { if try !body(statement.text(at: 0) ?? "", statement.text(at: 1) ?? "") { return } }
    }

    func setNote(_ value: String?, for name: NoteName) throws {
      guard let value else {
        guard try findNotes() else { return }
        return try run("DELETE FROM concord_notes WHERE space = ? AND name = ?", [name.space, name.name])
      }
      if try !findNotes() {
        try db.execute(
          sql: """
            CREATE TABLE IF NOT EXISTS concord_notes (
              space TEXT NOT NULL,
              name TEXT NOT NULL,
              value TEXT NOT NULL,
              PRIMARY KEY (space, name)
            ) WITHOUT ROWID
            """)
        hasNotes = true
      }
      try run(
        """
        INSERT INTO concord_notes (space, name, value) VALUES (?, ?, ?)
        ON CONFLICT (space, name) DO UPDATE SET value = excluded.value
        """, [name.space, name.name, value])
    }

    func clearNotes(in space: String) throws {
      if try findNotes() { try run("DELETE FROM concord_notes WHERE space = ?", [space]) }
    }

    private func run(_ sql: String, _ texts: [String]) throws {
      let statement = SQLiteStatement(try db.cachedStatement(sql: sql))
      defer { statement.reset() }
      for (index, text) in texts.enumerated() { try statement.bind(.text(text), at: Int32(index + 1)) }
      try run(statement)
    }

    private func findNotes() throws -> Bool {
      if let hasNotes { return hasNotes }
      let statement = SQLiteStatement(
        try db.cachedStatement(sql: "SELECT 1 FROM sqlite_master WHERE name = 'concord_notes'"))
      defer { statement.reset() }
      let isFound = try statement.step()
      hasNotes = isFound
      return isFound
    }
  }
#endif
