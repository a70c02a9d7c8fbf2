#if Persistence
  import ConcordModel
  import GRDB

  /// The feed of changes by positions: what a reading sees, and what has changed between a position and that.
  extension SQLiteSession {
    func startFeed() throws { try SQLiteFeed(db: db, entities: Array(tables.keys)).start() }

    func forget(_ limits: FeedLimits) throws -> Bool {
      try SQLiteFeed(db: db, entities: Array(tables.keys)).forget(limits)
    }

    func position() throws -> StorePosition {
      let state = try feedState()
      return StorePosition(rawValue: "\(state.epoch).\(state.number)")
    }

    func changes(since position: StorePosition, of entities: Set<EntityDescription>?, limit: Int) throws -> RowChanges?
    {
      // Where rows as they were are forgotten, no change is read.
      guard let (number, state) = try number(of: position), number >= state.forgotten else { return nil }
      // Entities that other programs keep in the file are not told.
      let names = Set(tables.keys.filter { entities?.contains($0) ?? true }.map(\.name))
      // All of these are kept.
      guard state.number - number <= Int64(RowChanges.mostLooked(for: limit)) else { return nil }
      let followed = try followedColumns()
      // A program with another model follows some entities meanwhile.
      let isReadable = Dictionary(
        tables.keys.map { ($0.name, followed[$0.name] == SQLiteFeed.columns(of: $0)) }
      ) { first, _ in first }
      let known = Dictionary(tables.keys.map { ($0.name, $0) }) { first, _ in first }
      let statement = SQLiteStatement(
        try db.cachedStatement(
          sql: "SELECT entity, \"key\", before, target, added FROM concord_changes WHERE number > ? ORDER BY number"))
      defer { statement.reset() }
      try statement.bind(.integer(number), at: 1)
      var changes = MergedChanges()
      var count = 0
      while try statement.step() {
        guard let name = statement.text(at: 0), names.contains(name), let entity = known[name] else { continue }
        count += 1
        guard count <= limit else { return nil }
        let key = EntityKey(entity, statement.value(at: 1))
        switch statement.text(at: 2) {
        case nil: changes.add(key, before: nil)
        case SQLiteFeed.unchanged: changes.add(key)
        case .some(let image):
          // What another program has written there says nothing of the row as it was.
          guard isReadable[name] == true, let values = try? SQLImage.values(image),
            values.count == entity.columns.count
          else { return nil }
          changes.add(key, before: values)
        }
        if let target = statement.text(at: 3), !statement.isNull(at: 4), let entity = known[target] {
          changes.add(EntityKey(entity, statement.value(at: 4)), to: key)
        }
      }
      statement.reset()
      return try changes.changes { try row(of: $0)?.values }
    }

    func changed(_ keys: [EntityKey], since position: StorePosition) throws -> Set<EntityKey>? {
      guard let (number, _) = try number(of: position) else { return nil }
      let statement = SQLiteStatement(try db.cachedStatement(sql: SQLiteFeed.isChanged))
      defer { statement.reset() }
      var found: Set<EntityKey> = []
      for key in keys {
        try statement.bind(.text(key.entity.name), at: 1)
        try statement.bind(key.id, at: 2)
        try statement.bind(.integer(number), at: 3)
        if try statement.step() { found.insert(key) }
        statement.reset()
      }
      return found
    }

    /// The number of changes that a position sees, and the state of the feed; `nil` if the position is not one of this feed, or older than what
    /// the feed keeps.
    private func number(of position: StorePosition) throws -> (number: Int64, state: FeedState)? {
      let state = try feedState()
      let parts = position.rawValue.split(separator: ".")
      guard parts.count == 2, parts[0] == "\(state.epoch)", let number = Int64(parts[1]), number <= state.number,
        number >= state.begun
      else { return nil }
      return (number, state)
    }

    /// By entity, the columns in the order of the rows as they were.
    private func followedColumns() throws -> [String: String] {
      let statement = SQLiteStatement(try db.cachedStatement(sql: "SELECT entity, columns FROM concord_feed_columns"))
      defer { statement.reset() }
      var found: [String: String] = [:]
      while try statement.step() {
        if let entity = statement.text(at: 0) { found[entity] = statement.text(at: 1) }
      }
      return found
    }

    private struct FeedState {
      var epoch: Int64
      var number: Int64
      /// The number up to which rows as they were are forgotten, and that up to which changes are.
      var forgotten: Int64
      var begun: Int64
    }

    private func feedState() throws -> FeedState {
      guard try db.tableExists("concord_feed") else { throw StoreError.withoutFeed("SQLite") }
      let statement = SQLiteStatement(
        try db.cachedStatement(
          sql: """
            SELECT epoch, (SELECT seq FROM sqlite_sequence WHERE name = 'concord_changes'), forgotten, begun FROM concord_feed
            """))
      defer { statement.reset() }
      guard try statement.step(), let epoch = statement.integer(at: 0) else { throw StoreError.withoutFeed("SQLite") }
      return FeedState(
        epoch: epoch, number: statement.integer(at: 1) ?? 0, forgotten: statement.integer(at: 2) ?? 0,
        begun: statement.integer(at: 3) ?? 0)
    }
  }
#endif
