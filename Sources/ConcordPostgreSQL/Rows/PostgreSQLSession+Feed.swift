#if PostgreSQL
  import ConcordModel
  import ConcordPersistence

  /// The feed of changes by positions: what a reading sees, and what has changed between a position and that.
  extension PostgreSQLSession {
    func position() throws -> StorePosition { try feedState().position.position }

    func position(reading entities: Set<EntityDescription>) throws -> StorePosition {
      let tables = tables.filter { entities.contains($0.key) }
      let names = tables.flatMap { entity, table in [entity.name] + table.collections.map(\.name) }
      // Before the snapshot, which is that of the first query: a table that is truncated after that is empty to who has not looked at it.
      let list = names.sorted().map(identifier).joined(separator: ", ")
      let locks = names.isEmpty ? [] : [PostgreSQLConnection.Command.once("LOCK TABLE \(list) IN ACCESS SHARE MODE")]
      return try feedState(after: locks).position.position
    }

    func changes(since position: StorePosition, of entities: Set<EntityDescription>?, limit: Int) throws -> RowChanges?
    {
      // Where rows as they were are forgotten, no change is read.
      guard let (old, state) = try known(position), old.sees(upTo: state.forgotten) else { return nil }
      // Entities that other programs keep in the schema are not told.
      let names = tables.keys.filter { entities?.contains($0) ?? true }.map(\.name)
      let known = Dictionary(tables.map { ($0.key.name, $0.value) }) { first, _ in first }
      let results = try run([old.count(limit: limit), old.changes(of: names, limit: limit)])
      let result = results[1]
      guard results[0].integer(0, 0) <= RowChanges.mostLooked(for: limit), result.count <= limit else { return nil }
      let columns = try followedColumns()
      var changes = MergedChanges()
      for row in 0..<result.count {
        guard let table = known[result.text(row, 0)] else { continue }
        let entity = table.entity
        let key = EntityKey(entity, table.keyForm.key(result.text(row, 1)))
        if !result.bool(row, 2) {
          changes.add(key)
        } else if result.isNull(row, 3) {
          changes.add(key, before: nil)
        } else {
          let texts = result.optionalTexts(row, 3)
          // A program with another model may follow the entity meanwhile, and another one write what says nothing of the row as it was.
          guard columns[entity.name] == HistoryTables.columns(of: entity), texts.count == table.forms.count else {
            return nil
          }
          changes.add(key, before: zip(table.forms, texts).map { form, text in text.map(form.key) ?? .null })
        }
        if let target = result.optionalText(row, 4), let added = result.optionalText(row, 5),
          let table = known[target]
        {
          changes.add(EntityKey(table.entity, table.keyForm.key(added)), to: key)
        }
      }
      try prepare(changes.unchanged)
      return try changes.changes { try self.row(of: $0)?.values }
    }

    func changed(_ keys: [EntityKey], since position: StorePosition) throws -> Set<EntityKey>? {
      guard let (old, _) = try known(position) else { return nil }
      // Those that no row can have have not changed.
      let parts = try Dictionary(grouping: keys, by: \.entity).flatMap { entity, keys in
        let form = try table(entity).keyForm
        return inParts(keys.filter { keyParameter($0.id, form) != nil }).map { (keys: $0, form: form) }
      }
      let results = try run(
        parts.compactMap { keys, form in
          keys.first.map { old.changed(array(keys.lazy.map(\.id), form), of: $0.entity, form) }
        })
      var found: Set<EntityKey> = []
      for ((keys, _), result) in zip(parts, results) {
        for row in 0..<result.count { found.insert(keys[keys.startIndex + Int(result.integer(row, 0)) - 1]) }
      }
      return found
    }

    /// A position as far as the feed knows it, and the state of the feed; `nil` if any row may have changed since.
    private func known(_ position: StorePosition) throws -> (position: HistoryPosition, state: FeedState)? {
      let state = try feedState()
      guard let old = HistoryPosition(position), old.scope == state.position.scope, old.end <= state.position.end,
        old.sees(upTo: state.begun),
        // Of what was being changed then, a key may be told by nothing but a change that was seen already.
        old.unseen.allSatisfy({ $0 > state.forgotten })
      else { return nil }
      return (old, state)
    }

    private struct FeedState {
      let position: HistoryPosition
      /// The last transaction of which rows as they were are forgotten, and the last one of which changes are.
      let forgotten: UInt64
      let begun: UInt64
    }

    private func feedState(after locks: [PostgreSQLConnection.Command] = []) throws -> FeedState {
      let result: PostgreSQLResult
      do {
        result = try run(locks + [.init(sql: Self.selectState)])[locks.count]
      } catch  where failure?.code == "42P01" {
        throw StoreError.withoutFeed(store)
      }
      guard result.count > 0, let snapshot = FeedPosition(result.text(0, 0)) else {
        throw StoreError.withoutFeed(store)
      }
      let (forgotten, begun) = (result.bits(0, 2), result.bits(0, 3))
      let last = max(forgotten, begun, result.isNull(0, 4) ? 0 : result.bits(0, 4))
      guard last < snapshot.xmax else {
        if transactionID != nil {
          throw StoreError.storeFailed(
            store: store, reason: "a position is one of a committed state, not of one that is being written")
        }
        watch?.noteForeign()
        throw StoreError.storeFailed(
          store: store, reason: "its feed of changes came with a copy of another cluster's; startFeed() begins it anew")
      }
      let isComplete = try watch?.isFeedComplete(result.text(0, 1), since: mark) {
        try TriggerCheck.history(tables.values).isComplete { try run($0) }
      }
      if isComplete == false {
        throw StoreError.storeFailed(
          store: store,
          reason: "its feed of changes is not complete: a copy is being restored, or triggers were removed")
      }
      return FeedState(
        position: HistoryPosition(scope: result.text(0, 1), snapshot, last: last), forgotten: forgotten, begun: begun)
    }

    /// The scope is of the feed, the cluster, how often another one took over from it, the database, and the table, which is another one in a
    /// database that was filled from a copy.
    private static let selectState = """
      SELECT pg_current_snapshot()::text, left(md5(concat(
          epoch, ' ', (SELECT system_identifier FROM pg_control_system()), ' ',
          CASE WHEN NOT pg_is_in_recovery() THEN substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END, ' ',
          (SELECT oid FROM pg_database WHERE datname = current_database()), ' ', 'concord_feed'::regclass::oid)), 16),
        forgotten, begun, (SELECT xid FROM concord_history ORDER BY xid DESC LIMIT 1)
      FROM concord_feed
      """

    /// By entity, the columns in the order of the rows as they were.
    private func followedColumns() throws -> [String: String] {
      let result = try run([.init(sql: "SELECT entity, columns FROM concord_feed_columns")])[0]
      return Dictionary((0..<result.count).map { (result.text($0, 0), result.text($0, 1)) }) { first, _ in first }
    }
  }

  extension PostgreSQLResult {
    /// The elements of an array of texts.
    func optionalTexts(_ row: Int, _ column: Int) -> [String?] {
      let bytes = bytes(row, column)
      func number(_ offset: Int) -> Int {
        offset + 4 <= bytes.count
          ? Int(Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self))) : 0
      }
      guard number(0) == 1 else { return [] }
      var found: [String?] = []
      var offset = 20
      for _ in 0..<max(0, number(12)) {
        let length = number(offset)
        offset += 4
        guard length >= 0 else {
          found.append(nil)
          continue
        }
        guard offset + length <= bytes.count else { break }
        found.append(String(decoding: bytes[offset..<offset + length], as: UTF8.self))
        offset += length
      }
      return found
    }
  }
#endif
