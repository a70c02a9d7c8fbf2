/// The operations of the store, each to be run inside `write` or `read`.
extension Engine {
  // MARK: Storing

  /// Stores a value; gives its node.
  @inlinable func store<T: Identifiable & Sendable>(
    _ value: T, modifiedAt stamp: Stamp?, ifPresent: ((inout T) -> Void)?
  ) -> EntityNode<T> {
    let table = self.table(T.self)
    guard let ifPresent, table.node(for: value.id)?.exists == true else {
      return store(value, in: table, stamp, given: nil)
    }
    var amended = value
    unlocked { ifPresent(&amended) }
    return store(amended, in: table, stamp, given: value)
  }

  @inlinable func store<T: Identifiable & Sendable>(
    _ value: T, in table: Table<T>, _ stamp: Stamp?, given: T?
  ) -> EntityNode<T> {
    guard table.isAggregate else { return storeAlone(value, in: table, stamp) }
    let call = beginCall(.store, stamp: stamp)
    if let given {
      // What the closure changed goes before what it was given.
      call.mode = .update
      withUnsafePointer(to: value) { value in
        withUnsafePointer(to: given) { call.start(inside: value, given: $0, in: table) }
      }
      call.run()
      call.continueStoring()
    }
    let node = call.start(with: value, in: table)
    call.run()
    call.settle()
    endCall(call)
    return unsafeDowncast(node, to: EntityNode<T>.self)
  }

  /// The short way for an entity that contains no others.
  @inlinable func storeAlone<T: Identifiable & Sendable>(
    _ value: T, in table: Table<T>, _ stamp: Stamp?
  ) -> EntityNode<T> {
    let stamp = effective(stamp)
    let id = value.id
    let hash = Table<T>.hash(id)
    let known = table.node(for: id, hash: hash)
    if let node = known, node.exists {
      if node.take(stamp: stamp, in: self), !withUnsafePointer(to: value, { node.isEqual(to: $0) }) {
        node.value = value
        changed(node)
      }
      return node
    }
    let node = known ?? table.awaitedNode(for: id) ?? EntityNode(table: table, value: nil)
    journal(node)
    node.value = value
    if !node.flags.contains(.tabled) { table.insert(node, id: id, hash: hash) }
    node.flags.insert(.exists)
    node.flags.remove(.unborn)
    node.stamp = firstStamp(stamp)
    suspect(node)
    changed(node)
    if isLogged { log { $0.didStore(T.self, id: id) } }
    return node
  }

  /// The stamp of an entity that is new to the store: below all others if it has none, or none to compare with.
  @inlinable func firstStamp(_ stamp: Stamp?) -> Stamp {
    guard let stamp, !stamp.isNaN else { return -.infinity }
    return stamp
  }

  /// The stamp to write with; `nil` if the write wins whatever the stored stamp, and leaves it alone.
  @usableFromInline func effective(_ stamp: Stamp?) -> Stamp? { stamp ?? (stamping == .clock ? tick() : nil) }

  // MARK: Updating

  /// Changes a stored entity with a closure; whether there is one, and it was taken.
  @inlinable func update<T: Identifiable & Sendable>(
    _ node: EntityNode<T>, modifiedAt stamp: Stamp?, onOtherID: ((T, T) -> Bool)? = nil, _ change: (inout T) -> Void
  ) -> Bool {
    guard node.exists else { return false }
    // Known to be stale: the closure is not called. The clock's own stamp is drawn afterwards, since the closure may write.
    guard isNewer(stamp, than: node) else { return false }
    if node.isDirty { refresh(node) }
    guard var result = node.value else { return false }
    // What a flat entity was need not be copied: the node has it, or the journal if the closure itself writes to the entity.
    let copy = node.isAggregate || node.journalMark == savepoint ? result : nil
    let (before, journalStart) = (writeCount, journal.count)
    unlocked { change(&result) }
    guard node.exists else { return false }
    let isAlone = writeCount == before
    if isAlone, copy == nil, node.hasID(result.id) { return write(&result, alone: node, stamp) }
    guard let given = copy ?? valueBefore(journalStart, of: node) else { return false }
    guard result.id == given.id else {
      if let onOtherID { return onOtherID(result, given) }
      refuse(from: given.id, to: result.id, of: T.self)
      return false
    }
    return write(result, given: given, to: node, stamp, isAlone: isAlone)
  }

  /// What a node's value was before the writes that the journal has from `start` on.
  @inlinable func valueBefore<T: Identifiable & Sendable>(_ start: Int, of node: EntityNode<T>) -> T? {
    let entry = journal[min(start, journal.count)...].first { $0.node === node }
    return entry.map { unsafeDowncast($0.state, to: EntityState<T>.self).value } ?? node.value
  }

  /// The short way for an entity that contains no others, and that nobody wrote to while the closure ran. Leaves the old value
  /// in `result`.
  @inlinable @inline(__always) func write<T: Identifiable & Sendable>(
    _ result: inout T, alone node: EntityNode<T>, _ stamp: Stamp?
  ) -> Bool {
    let isUnchanged = withUnsafeMutablePointer(to: &result) { node.isSame(as: UnsafePointer($0)) }
    guard node.take(stamp: effective(stamp), in: self) else { return false }
    if !isUnchanged {
      node.swapValue(with: &result)
      changed(node)
    }
    return true
  }

  @inlinable func write<T: Identifiable & Sendable>(
    _ result: T, given: T, to node: EntityNode<T>, _ stamp: Stamp?, isAlone: Bool
  ) -> Bool {
    let table = node.typedTable
    // What the closure left as it was does not undo what was written meanwhile.
    let isUnchanged = withUnsafePointer(to: given) { given in
      withUnsafePointer(to: result) {
        haveSameBits(given, $0) || (!table.isAggregate && table.isEqual?(given, $0) ?? false)
      }
    }
    if isUnchanged || !table.isAggregate {
      guard node.take(stamp: effective(stamp), in: self) else { return false }
      if !isUnchanged {
        node.value = result
        changed(node)
      }
      return true
    }
    let call = beginCall(.update, stamp: stamp)
    defer { endCall(call) }
    guard node.take(stamp: call.stamp, in: self) else { return false }
    withUnsafePointer(to: result) { result in
      withUnsafePointer(to: given) { given in
        call.keepsRelations = table.haveSameRelations(result, given)
        call.usesGiven = !isAlone || (table.reachesRecursion && !call.keepsRelations)
        call.start(with: result, given: given, of: node)
      }
    }
    call.run()
    call.settle()
    return true
  }

  /// Stores what a closure made of another entity's value by changing the id: only what it changed is written.
  @inlinable func store<T: Identifiable & Sendable>(
    _ value: T, madeOf given: T, modifiedAt stamp: Stamp?
  ) -> EntityNode<T> {
    let table = self.table(T.self)
    guard table.isAggregate else { return storeAlone(value, in: table, stamp) }
    let call = beginCall(.update, stamp: stamp)
    let node = call.start(with: value, madeOf: given, in: table)
    call.run()
    call.settle()
    endCall(call)
    return unsafeDowncast(node, to: EntityNode<T>.self)
  }

  @inlinable func isNewer<T>(_ stamp: Stamp?, than node: EntityNode<T>) -> Bool {
    // The next tick is later than the last, so the clock is only asked if the stamp is ahead of that.
    let isAhead = stamp == nil && stamping == .clock && node.stamp > lastTick
    guard let stamp = stamp ?? (isAhead ? tick() : nil), !(stamp > node.stamp) else { return true }
    if isLogged, let id = node.value?.id, !node.table.isInternal {
      let stored = node.stamp
      log { $0.didDiscard(T.self, id: id, stamp: stamp, storedStamp: stored) }
    }
    return false
  }

  @inlinable func refuse<T: Identifiable>(from id: T.ID, to newID: T.ID, of type: T.Type) {
    guard isLogged else { return }
    log { $0.didRefuseIDChange(type, id: id, to: newID) }
  }
}
