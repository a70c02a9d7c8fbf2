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
      call.start(inside: value, given: given, in: table)
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
    if let node = table.node(for: id, hash: hash), node.exists {
      if node.take(stamp: stamp, in: self), !node.isEqual(to: value) {
        node.value = value
        changed(node)
      }
      return node
    }
    let node = table.node(for: id, hash: hash) ?? table.awaitedNode(for: id) ?? EntityNode(table: table, value: nil)
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
    refresh(node)
    guard let given = node.value else { return false }
    var result = given
    let before = writeCount
    unlocked { change(&result) }
    guard node.exists else { return false }
    guard result.id == given.id else {
      if let onOtherID { return onOtherID(result, given) }
      refuse(from: given.id, to: result.id, of: T.self)
      return false
    }
    return write(result, given: given, to: node, stamp, isAlone: writeCount == before)
  }

  @inlinable func write<T: Identifiable & Sendable>(
    _ result: consuming T, given: T, to node: EntityNode<T>, _ stamp: Stamp?, isAlone: Bool
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
    call.keepsRelations = table.haveSameRelations(result, given)
    call.usesGiven = !isAlone || (table.reachesRecursion && !call.keepsRelations)
    call.start(with: result, given: given, of: node)
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
