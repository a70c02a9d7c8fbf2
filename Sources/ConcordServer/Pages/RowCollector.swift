#if Server
  import ConcordSync

  /// Collects the rows of a page, each once.
  struct RowCollector {
    let reading: any RowReading
    let model: Model
    /// The changes since the state that the device has; `nil` if they are not known.
    private let changed: Set<EntityKey>
    private(set) var rows: [KeyedRow] = []
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
        guard isSent || !key.entity.targets.isEmpty, let row = try reading.row(of: key) else { continue }
        if isSent { collect(row, for: key) }
        for key in key.entity.referencedKeys(of: row, in: model) { open.append((key, isSent)) }
      }
    }

    /// Adds a changed row that the device has had, with what it has got since.
    mutating func add(_ change: RowChange) throws {
      guard let row = try reading.row(of: change.key) else { return }
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

    private mutating func collect(_ row: StoredRow, for key: EntityKey) {
      if collected.insert(key).inserted { rows.append((key, row)) }
    }
  }

  /// Looks for the rows that contain a row, at any depth.
  struct RowContainers {
    let reading: any RowReading
    let model: Model

    /// Whether a predicate holds for a row that contains the given one.
    ///
    /// - Complexity: the number of rows that contain it, up to the first for which it holds.
    func holds(_ predicate: RowPredicate, above key: EntityKey) throws -> Bool {
      var isFound = false
      try visit(above: key, below: predicate.entity) { container, row in
        isFound = try container.entity == predicate.entity && predicate.holds(row.values, key: container.id)
        return !isFound
      }
      return isFound
    }

    /// Calls a closure for each row that contains the given one, until it returns `false`.
    ///
    /// - Parameter root: the type of the outermost rows.
    func visit(
      above key: EntityKey, below root: EntityDescription, _ body: (EntityKey, StoredRow) throws -> Bool
    ) throws {
      let types = model.contained(in: root)
      var seen: Set<EntityKey> = [key]
      var open = [key]
      while let key = open.popLast() {
        for entity in types where entity.mayReferTo(key.entity) {
          for id in try reading.referrers(to: key, in: entity) {
            let container = EntityKey(entity, id)
            guard seen.insert(container).inserted, let row = try reading.row(of: container) else { continue }
            if try !body(container, row) { return }
            open.append(container)
          }
        }
      }
    }
  }
#endif
