#if Server
  import ConcordSync

  /// Collects the rows of a page, each once.
  struct RowCollector {
    let reading: any RowReading
    let model: Model
    /// The position of the state that the device has; `nil` if each row may have changed since.
    private let position: StorePosition?
    /// The rows that were asked about, and whether they have changed.
    private var isChanged: [EntityKey: Bool] = [:]
    private(set) var rows: [KeyedRow] = []
    /// The rows that are not there, and that other rows refer to.
    private(set) var gone: [Page.GoneRow] = []
    /// The notes of what was done with each row.
    private var seen: [EntityKey: Seen] = [:]

    private struct Seen: OptionSet {
      let rawValue: UInt8
      /// The contents of the row were looked at, or are sent.
      static let inside = Seen(rawValue: 1)
      static let all = Seen(rawValue: 2)
      /// The row is in the page, or left out.
      static let collected = Seen(rawValue: 4)

      /// - Returns: whether it is new.
      mutating func add(_ other: Seen) -> Bool {
        defer { formUnion(other) }
        return !isSuperset(of: other)
      }
    }

    /// The choice of what is sent of one row and all it contains.
    enum Wanted {
      /// All.
      case all
      /// The rows that have changed, and all inside of them: they may contain what the device does not have.
      case changed
    }

    init(reading: any RowReading, model: Model, since position: StorePosition?) {
      (self.reading, self.model, self.position) = (reading, model, position)
    }

    /// The number of rows that are read at once.
    private static let batch = 1000

    /// Adds rows, with what they contain.
    mutating func add(_ keys: [EntityKey], _ wanted: Wanted) throws {
      var open = keys.reversed().map { (key: $0, isAll: wanted == .all) }
      while !open.isEmpty {
        let next = Array(open.suffix(Self.batch))
        open.removeLast(next.count)
        try ask(next.filter { !$0.isAll }.map(\.key))
        var batch: [(key: EntityKey, isSent: Bool)] = []
        for (key, isAll) in next.reversed() {
          let isSent = isAll || isChanged[key] ?? true
          guard seen[key, default: []].add(isSent ? [.inside, .all] : .inside) else { continue }
          // A row without relations that is not sent need not be read.
          if isSent || !key.entity.targets.isEmpty { batch.append((key, isSent)) }
        }
        try reading.prepare(batch.map(\.key))
        for (key, isSent) in batch {
          guard let row = try reading.row(of: key) else {
            if isSent { leaveOut(key) }
            continue
          }
          if isSent { try collect(row, for: key) }
          for key in key.entity.referencedKeys(of: row, in: model) { open.append((key, isSent)) }
        }
      }
    }

    /// Finds out which rows have changed. Each is asked about once.
    private mutating func ask(_ keys: [EntityKey]) throws {
      let keys = keys.filter { isChanged[$0] == nil }
      guard !keys.isEmpty, let position, let changed = try reading.changed(keys, since: position) else { return }
      for key in keys { isChanged[key] = changed.contains(key) }
    }

    /// Adds what another one has collected, of all that it was given.
    mutating func add(_ other: RowCollector) {
      for row in other.rows where seen[row.key]?.contains(.collected) != true { rows.append(row) }
      let known = Set(gone)
      gone += other.gone.filter { !known.contains($0) }
      seen.merge(other.seen) { $0.union($1) }
    }

    /// Adds a changed row that the device has had, with what it has got since.
    mutating func add(_ change: RowChange) throws {
      guard let row = try reading.row(of: change.key) else { return leaveOut(change.key) }
      try collect(row, for: change.key)
      // It may have lost again what it got.
      var got =
        change.added.isEmpty ? [] : change.added.intersection(change.key.entity.referencedKeys(of: row, in: model))
      for (position, column) in change.key.entity.columns.enumerated() {
        guard let target = column.target, let entity = model.entity(named: target), !row.values[position].isNull,
          change.before.map({ !$0.indices.contains(position) || $0[position] != row.values[position] }) ?? true
        else { continue }
        got.insert(EntityKey(entity, row.values[position]))
      }
      if !got.isEmpty { try add(Array(got), .all) }
    }

    private mutating func leaveOut(_ key: EntityKey) {
      if seen[key, default: []].add(.collected) { gone.append(Page.GoneRow(entity: key.entity.name, id: key.id)) }
    }

    /// - Throws: ``/ConcordModel/StoreError/unreadableColumn(entity:id:column:reason:)`` if another program has written what no device may get.
    private mutating func collect(_ row: StoredRow, for key: EntityKey) throws {
      guard seen[key, default: []].add(.collected) else { return }
      try key.entity.check(row, key: key.id)
      rows.append((key, row))
    }
  }
#endif
