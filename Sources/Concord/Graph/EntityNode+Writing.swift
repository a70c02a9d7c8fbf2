extension EntityNode {
  @inlinable func decide(_ item: inout WriteCall.Item, in call: WriteCall) {
    guard item.staged >= 0 else {
      item.isTaken = true
      return
    }
    let incoming = withTypedTable { $0.staged[item.staged] }
    if item.isNew {
      // A later value on the level that also brought the entity.
      if !isAggregate { value = incoming.pointee }
      item.isTaken = true
      return
    }
    guard self === call.target || call.withEngine({ take(stamp: call.stamp, in: $0) }) else { return }
    item.isTaken = true
    let isEquatable = withTypedTable { $0.isEqual != nil }
    if isDirty, isEquatable { call.withEngine { $0.refresh(self) } }
    if isEquatable, isSame(as: incoming) {
      item.keepsValue = true
      return
    }
    if item.given >= 0, call.restoresLeftOut {
      let given = withTypedTable { $0.staged[item.given] }
      var restored = incoming.pointee
      if hasID(given.pointee.id), call.rootedGivens.contains(ObjectIdentifier(self)) {
        item.restored = restoreLeftOut(in: &restored, given: given)
      }
      if item.restored != 0 {
        item.unrestored = item.staged
        item.staged = withTypedTable { call.stage(&restored, in: $0) }
      }
    }
    if isAggregate {
      // The value is replaced together with its occurrences, when they have been met.
      if isEquatable, !subscribers.isEmpty || hasParents { item.previous = item.staged }
    } else {
      value = incoming.pointee
      call.withEngine { $0.changed(self) }
    }
  }

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

  /// Whether the type is `Equatable`, and the value equal to the one held.
  @inlinable func isEqual(to other: UnsafePointer<T>) -> Bool {
    withTypedTable { $0.isEqual != nil } && isSame(as: other)
  }

  @inlinable func isEqual(asStagedAt index: Int32) -> Bool { isEqual(to: withTypedTable { $0.staged[index] }) }

  @inlinable func meetChildren(of item: WriteCall.Item, in call: WriteCall) {
    guard isAggregate else { return }
    if item.staged >= 0 {
      call.walk(withTypedTable { $0.staged[item.staged] }, of: self, item: item)
    } else if value != nil {
      withUnsafeMutablePointer(to: &value) { call.walk($0.at(0, as: T.self), of: self, item: item) }
    }
  }

  /// Where an update's closure was given the entity without its relations, because of a cycle, an edit is one of its own
  /// fields: the relations come from what is stored. Gives which did, a bit each.
  @inlinable func restoreLeftOut(in incoming: inout T, given: UnsafePointer<T>) -> UInt64 {
    guard let children, let schema = children.schema as? Schema<T>, let value,
      withUnsafePointer(to: incoming, { typedTable.schema(of: $0) }) === schema
    else { return 0 }
    let shown = schema.read(given, in: table.engine).ends
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
