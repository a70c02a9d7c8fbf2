#if Server
  import ConcordSync

  /// Collects the rows of a page, each once.
  struct RowCollector {
    let reading: any RowReading
    let model: Model
    /// The changes since the state that the device has; `nil` if they are not known.
    private let changed: Set<EntityKey>
    private(set) var rows: [KeyedRow] = []
    /// The rows that are not there, and that others refer to.
    private(set) var gone: [Page.GoneRow] = []
    private var collected: Set<EntityKey> = []
    /// The rows that were looked at, with whether all they contain was wanted.
    private var seen: [EntityKey: Bool] = [:]

    /// Which rows are sent of one row and all it contains.
    enum Wanted {
      /// All.
      case all
      /// Those that have changed, and all inside of them: they may contain what the device does not have.
      case changed
    }

    init(reading: any RowReading, model: Model, changes: RowChanges?) {
      (self.reading, self.model) = (reading, model)
      changed = Set(changes?.rows.map(\.key) ?? [])
    }

    /// Adds a row, with what it contains.
    mutating func add(_ key: EntityKey, _ wanted: Wanted) throws {
      var open: [(key: EntityKey, isAll: Bool)] = [(key, wanted == .all)]
      while let (key, isAll) = open.popLast() {
        let isSent = isAll || changed.contains(key)
        if let known = seen[key], known || !isSent { continue }
        seen[key] = isSent
        // A row without relations that is not sent need not be read.
        guard isSent || !key.entity.targets.isEmpty else { continue }
        guard let row = try reading.row(of: key) else {
          if isSent { leaveOut(key) }
          continue
        }
        if isSent { collect(row, for: key) }
        for key in key.entity.referencedKeys(of: row, in: model) { open.append((key, isSent)) }
      }
    }

    /// Adds a changed row that the device has had, with what it has got since.
    mutating func add(_ change: RowChange) throws {
      guard let row = try reading.row(of: change.key) else { return leaveOut(change.key) }
      collect(row, for: change.key)
      var got = change.added
      for (position, column) in change.key.entity.columns.enumerated() {
        guard let target = column.target, let entity = model.entity(named: target), !row.values[position].isNull,
          change.before.map({ !$0.indices.contains(position) || $0[position] != row.values[position] }) ?? true
        else { continue }
        got.insert(EntityKey(entity, row.values[position]))
      }
      for key in got { try add(key, .all) }
    }

    private mutating func leaveOut(_ key: EntityKey) {
      if collected.insert(key).inserted { gone.append(Page.GoneRow(entity: key.entity.name, id: key.id)) }
    }

    private mutating func collect(_ row: StoredRow, for key: EntityKey) {
      if collected.insert(key).inserted { rows.append((key, row)) }
    }
  }
#endif
