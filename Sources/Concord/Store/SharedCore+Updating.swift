extension SharedCore {
  /// Changes a stored entity with a closure. Returns whether the entity exists and the write was taken. The lock is held.
  @inlinable func update<T: Identifiable & Sendable>(
    _ core: StoreCore, _ node: EntityNode<T>, in table: Table<T>, modifiedAt stamp: Stamp?,
    onOtherID: ((T, T) -> Bool)? = nil, _ change: (inout T) -> Void
  ) -> Bool {
    // The previous value of a flat entity need not be copied: the node has it, or the journal if the closure itself writes to
    // the entity.
    guard !table.isAggregate, node.journalIndex < 0 else {
      return updateCopied(core, node, in: table, modifiedAt: stamp, onOtherID: onOtherID, change)
    }
    guard core.isWritable(node, stamp), var result = node.value else { return false }
    let mark = core.mark()
    unlocked { change(&result) }
    guard core.isUntouched(node, since: mark), node.hasID(result.id) else {
      return core.finishUpdate(node, in: table, result: result, mark: mark, stamp, onOtherID)
    }
    guard core.accept(node, stamp) else { return false }
    if node.replaceValue(with: consume result, unless: table.isSame) { core.graph.didWrite(node) }
    return true
  }
}

// Not specialised for the type, to limit code size.
extension SharedCore {
  /// Changes a stored entity whose node is not known yet.
  @inline(never) @_semantics("optimize.sil.specialize.generic.never")
  @usableFromInline func update<T: Identifiable & Sendable>(
    _ core: StoreCore, _ id: T.ID, in table: Table<T>, modifiedAt stamp: Stamp?, _ change: (inout T) -> Void
  ) -> Bool {
    guard let node = table.find(id) else { return core.refuseUnknown(T.self, id) }
    return update(core, node, in: table, modifiedAt: stamp, change)
  }

  /// Changes a stored entity whose new value is compared with a copy of the value that the closure received.
  @inline(never) @_semantics("optimize.sil.specialize.generic.never")
  @usableFromInline func updateCopied<T: Identifiable & Sendable>(
    _ core: StoreCore, _ node: EntityNode<T>, in table: Table<T>, modifiedAt stamp: Stamp?,
    onOtherID: ((T, T) -> Bool)?, _ change: (inout T) -> Void
  ) -> Bool {
    guard core.isWritable(node, stamp), let given = node.value else { return false }
    var result = given
    let mark = core.mark()
    unlocked { change(&result) }
    guard node.exists else { return core.refuseRemoved(node) }
    let isAlone = core.isUnwritten(since: mark)
    return core.finishUpdate(
      node, in: table, result: result, given: given, stamp, isAlone: isAlone, onOtherID)
  }
}

/// A position in the journal and in the count of writes.
@usableFromInline struct WriteMark {
  let writes: UInt64
  let entries: Int
}

extension StoreCore {
  @usableFromInline func mark() -> WriteMark {
    WriteMark(writes: graph.journal.writeCount, entries: graph.journal.count)
  }

  func isUnwritten(since mark: WriteMark) -> Bool { graph.journal.writeCount == mark.writes }

  /// Whether nothing was written since a mark, and the node's entity still exists.
  @usableFromInline func isUntouched(_ node: Node, since mark: WriteMark) -> Bool {
    node.exists && isUnwritten(since: mark)
  }

  /// Brings a value up to date. Returns whether an `update` is to call its closure: the entity exists, and the write is not
  /// known to be stale.
  @usableFromInline func isWritable(_ node: Node, _ stamp: Stamp?) -> Bool {
    guard node.exists else { return refuseRemoved(node) }
    // A stamp of the clock is taken after the closure, since that may write.
    if let stamp = clock.notNewer(stamp, than: node.stamp) {
      merge.logDiscarded(node, stamp)
      return false
    }
    refresh(node)
    return true
  }

  /// Finishes an `update` of a flat entity whose closure wrote to the store, changed the id, or released the entity.
  @usableFromInline func finishUpdate<T: Identifiable & Sendable>(
    _ node: EntityNode<T>, in table: Table<T>, result: T, mark: WriteMark, _ stamp: Stamp?,
    _ onOtherID: ((T, T) -> Bool)?
  ) -> Bool {
    guard node.exists else { return refuseRemoved(node) }
    let isAlone = isUnwritten(since: mark)
    prepare()
    guard let given = valueBefore(mark, of: node) else { return false }
    return finishUpdate(
      node, in: table, result: result, given: given, stamp, isAlone: isAlone, onOtherID)
  }

  /// Finishes any `update`.
  func finishUpdate<T: Identifiable & Sendable>(
    _ node: EntityNode<T>, in table: Table<T>, result: T, given: T, _ stamp: Stamp?, isAlone: Bool,
    _ onOtherID: ((T, T) -> Bool)?
  ) -> Bool {
    prepare()
    guard result.id == given.id else {
      if let onOtherID { return onOtherID(result, given) }
      return refuseIDChange(of: given, to: result.id, in: table)
    }
    let stamp = clock.effective(stamp)
    guard merge.accept(node, stamp) else { return false }
    // An unchanged value does not undo other writes.
    if haveSameBits(given, result) { return true }
    guard table.isAggregate else {
      if !table.isEquatable || !table.isEqual(given, result) {
        node.value = result
        graph.didWrite(node)
      }
      return true
    }
    merge.update(
      node, pending: table.addPending(result), given: table.addPending(given), stamp: stamp, isAlone: isAlone
    ) { visitor.visit(given, in: table) }
    return true
  }

  /// Returns the value that a node had at a mark.
  private func valueBefore<T>(_ mark: WriteMark, of node: EntityNode<T>) -> T? {
    let state = graph.journal.firstState(of: node, since: mark.entries) as? SavedValue<T>
    if let state { return state.value }
    return node.value
  }

  /// Stores a value with all it contains, and returns its node.
  func store<T: Identifiable & Sendable>(_ value: T, in table: Table<T>, _ stamp: Stamp?) -> EntityNode<T> {
    (table.isAggregate ? storeAggregate(value, in: table, stamp) : nil) ?? storeFlat(value, in: table, stamp)
  }

  /// Stores an aggregate with all it contains, and returns its node; `nil` if the value was refused.
  func storeAggregate<T: Identifiable & Sendable>(_ value: T, in table: Table<T>, _ stamp: Stamp?) -> EntityNode<T>? {
    merge.store(stamp: clock.effective(stamp)) { visitor.visit(value, in: table) }?.typed(T.self)
  }

  /// Stores an aggregate that a closure made of an incoming value, and returns its node; `nil` if the value was refused.
  func storeAggregate<T: Identifiable & Sendable>(
    _ value: T, in table: Table<T>, _ stamp: Stamp?, changedFrom given: T
  ) -> EntityNode<T>? {
    let stamp = clock.effective(stamp)
    let node = merge.store(
      stamp: stamp, { visitor.visit(value, in: table) }, given: { visitor.visit(given, in: table) })
    return node?.typed(T.self)
  }

  /// Stores a value that a closure made of another entity's by changing the id. Only its changes are written.
  func store<T: Identifiable & Sendable>(_ value: T, madeOf given: T, _ stamp: Stamp?) -> EntityNode<T>? {
    let table = graph.table(T.self)
    guard table.isAggregate else { return storeFlat(value, in: table, stamp) }
    let node = merge.storeEdited(
      stamp: clock.effective(stamp), given: table.addPending(given), { visitor.visit(value, in: table) },
      visitGiven: { visitor.visit(given, in: table) })
    return node?.typed(T.self)
  }
}
