extension EntityNode {
  @inlinable func decide(_ item: inout WriteCall.Item, in call: WriteCall) {
    guard item.staged >= 0 else {
      item.isTaken = true
      return
    }
    var incoming = typedTable.staged[Int(item.staged)]
    if item.isNew {
      // A later value on the level that also brought the entity.
      if !isAggregate { value = incoming }
      item.isTaken = true
      return
    }
    guard self === call.target || call.withEngine({ take(stamp: call.stamp, in: $0) }) else { return }
    item.isTaken = true
    if isDirty, typedTable.isEqual != nil { call.engine.refresh(self) }
    if isEqual(to: incoming) {
      item.keepsValue = true
      return
    }
    if item.given >= 0, call.restoresLeftOut, isSameEntity(asGivenAt: item.given) {
      item.restored = restoreLeftOut(in: &incoming, given: typedTable.staged[Int(item.given)])
      if item.restored != 0 {
        item.unrestored = item.staged
        item.staged = call.stage(incoming, in: typedTable)
      }
    }
    let isLookedAt = !subscribers.isEmpty || hasParents
    if isAggregate, typedTable.isEqual != nil, isLookedAt, let value {
      item.previous = call.stage(value, in: typedTable)
    }
    // An aggregate's value is replaced together with its occurrences, when they have been met.
    guard !isAggregate else { return }
    value = incoming
    call.withEngine { $0.changed(self) }
  }

  @inlinable func isSameEntity(asGivenAt index: Int32) -> Bool { typedTable.staged[Int(index)].id == value?.id }

  /// Raises the stamp, if the new one is newer; otherwise the write is discarded.
  @inlinable func take(stamp newStamp: Stamp?, in engine: Engine) -> Bool {
    if let newStamp, !(newStamp > stamp) {
      if engine.isLogged, !table.isInternal, let id = value?.id {
        let stored = stamp
        engine.log { $0.didDiscard(T.self, id: id, stamp: newStamp, storedStamp: stored) }
      }
      return false
    }
    engine.journal(self)
    engine.writeCount &+= 1
    if let newStamp { stamp = newStamp }
    if engine.isLogged, !table.isInternal, let id = value?.id { engine.log { $0.didStore(T.self, id: id) } }
    return true
  }

  @inlinable func isEqual(to other: T) -> Bool {
    guard withTypedTable({ $0.isEqual != nil }) else { return false }
    return withUnsafePointer(to: other) { isSame(as: $0) }
  }

  @inlinable func isSame(asStagedAt index: Int32) -> Bool { isEqual(to: typedTable.staged[Int(index)]) }

  @inlinable func meetChildren(of item: WriteCall.Item, in call: WriteCall) {
    guard isAggregate else { return }
    guard let met = item.staged < 0 ? value : typedTable.staged[Int(item.staged)] else { return }
    withUnsafePointer(to: met) { call.walk($0, of: self, item: item) }
  }

  /// Where an update's closure was given the entity without its relations, because of a cycle, an edit is one of its own
  /// fields: the relations come from what is stored. Gives which did, a bit each.
  @inlinable func restoreLeftOut(in incoming: inout T, given: T) -> UInt64 {
    guard flags.contains(.rooted), let children, let schema = children.schema as? Schema<T>, let value,
      withUnsafePointer(to: incoming, { typedTable.schema(of: $0) }) === schema
    else { return 0 }
    let shown = withUnsafePointer(to: given) { schema.read($0, in: table.engine).ends }
    var restored: UInt64 = 0
    for k in schema.relations.indices where k < UInt64.bitWidth {
      let count = children.ends[k] - (k == 0 ? 0 : children.ends[k - 1])
      let shownCount = shown[k] - (k == 0 ? 0 : shown[k - 1])
      guard count != shownCount else { continue }
      withUnsafePointer(to: value) { schema.relations[k].copy($0, &incoming) }
      restored |= 1 << UInt64(k)
    }
    return restored
  }
}
