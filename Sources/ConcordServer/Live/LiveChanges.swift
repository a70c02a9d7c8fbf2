#if Server
  import ConcordSync

  /// The rows that decide which subscriptions some changes concern: the changed ones, as they were and as they are, and those that
  /// contain them.
  struct LiveChanges {
    struct Row {
      let key: EntityKey
      let values: [StoredValue]
    }

    /// Whether anything has changed.
    let isEmpty: Bool
    private(set) var rows: [Row] = []
    /// The types of which so many rows contain a changed one that they are not told one by one.
    private(set) var wholeTypes: Set<EntityDescription> = []

    /// - Parameter types: the types of the rows that somebody subscribes to.
    init(
      _ changes: [RowChange], _ types: Set<EntityDescription>, _ reading: any RowReading, _ model: Model
    ) throws {
      isEmpty = changes.isEmpty
      var containers = RowContainers(reading: reading, model: model)
      try reading.prepare(changes.map(\.key).filter { types.contains($0.entity) })
      for change in changes {
        if types.contains(change.key.entity) {
          if let before = change.before { rows.append(Row(key: change.key, values: before)) }
          if let row = try reading.row(of: change.key) { rows.append(Row(key: change.key, values: row.values)) }
        }
        for type in types where !wholeTypes.contains(type) && model.contained(in: type).contains(change.key.entity) {
          let isComplete = try containers.visit(
            above: change.key, below: type, limit: RowContainers.limit
          ) { key, row in
            if key.entity == type { rows.append(Row(key: key, values: row.values)) }
            return true
          }
          if !isComplete { wholeTypes.insert(type) }
        }
      }
    }
  }
#endif
