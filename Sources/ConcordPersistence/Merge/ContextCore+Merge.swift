import Concord
import ConcordModel

extension ContextCore {
  /// Makes the stored entities equal to the given ones, as unsaved changes.
  ///
  /// - Returns: the number of stored entities that were compared.
  func merge<T: PersistentEntity>(_ request: MergeRequest<T>) throws -> Int {
    let entity = try model.entity(T.self)
    let stamp = MergeStamp(request.stamp, parent)
    let (rows, nested) = try rows(of: request, entity, stamp.value)
    let subset: RowFilter =
      // Only the rows that were given are looked at, so that no other is missing.
      request.keepsMissing
      ? RowFilter(keys: rows.map(\.key)) : try RowFilter(request.subset, entity, self)
    var merge = RowMerge(
      entity, uniqueness: request.uniqueness, ignored: request.ignored, subset: subset,
      condition: try RowFilter(request.condition, entity, self),
      stamp: stamp, keepsMissing: request.keepsMissing, model: model)
    try read(model.contained(in: entity)) { reading in
      try entity.evaluating { try merge.run(rows, nested: nested, reading) }
    }
    let before = pending
    do {
      for key in merge.order {
        if let write = merge.writes[key] { put(write.row, key, base: write.base, isUnstamped: stamp.isUnstamped) }
      }
      if !merge.removals.isEmpty {
        try parent.read(model.connected(with: [entity])) { try remove(merge.removals, $0) { stamp.over($0) ?? $0 } }
      }
    } catch {
      pending = before
      throw error
    }
    return merge.compared
  }

  /// Returns the rows of the objects, and of the entities inside of them.
  private func rows<T: PersistentEntity>(
    of request: MergeRequest<T>, _ entity: EntityDescription, _ stamp: Stamp
  ) throws -> (rows: [IncomingRow], nested: [EntityKey: StoredRow]) {
    var rows: [IncomingRow] = []
    var nested: [EntityKey: (row: StoredRow, depth: Int)] = [:]
    rows.reserveCapacity(request.objects.count)
    for object in request.objects {
      let key = try Occurrences.key(of: object, entity)
      if entity.targets.isEmpty {
        rows.append(IncomingRow(key.id, try entity.row(of: object, stamp: stamp), request.uniqueness))
        continue
      }
      let occurrences = try Occurrences(in: object, model: model, stamp: stamp)
      for found in occurrences.keys {
        guard let winner = occurrences.winner(of: found) else { continue }
        if winner.depth == 0 {
          let omitted = model.omittedProperties(of: winner, entity).map(\.name)
          rows.append(IncomingRow(found.id, winner.row, request.uniqueness, omitted: omitted))
        } else if winner.depth <= nested[found]?.depth ?? .max {
          nested[found] = (winner.row, winner.depth)
        }
      }
    }
    // An object that is given on its own takes precedence over its copies inside of other objects.
    for row in rows { nested[EntityKey(entity, row.key)] = nil }
    return (rows, nested.mapValues(\.row))
  }

  /// Returns the numbers of insertions, updates and deletions of a save at this moment.
  func pendingCounts() throws -> PendingCounts {
    var counts = PendingCounts()
    var unknown: [PendingChanges.Entry] = []
    for entry in pending.all {
      switch entry.change.base {
      case .row where entry.change.row == nil: counts.deletes += 1
      case .row: counts.updates += 1
      case .absent: counts.inserts += entry.change.row == nil ? 0 : 1
      case .unknown: unknown.append(entry)
      }
    }
    if unknown.isEmpty { return counts }
    try parent.read(Set(unknown.map(\.key.entity))) { base in
      for entry in unknown {
        let isStored = try base.withRow(of: entry.key) { _ in true } ?? false
        switch (isStored, entry.change.row == nil) {
        case (true, true): counts.deletes += 1
        case (true, false): counts.updates += 1
        case (false, true): break
        case (false, false): counts.inserts += 1
        }
      }
    }
    return counts
  }
}
