extension SharedCore {
  /// Changes a stored entity with a closure; whether there is one, and it was taken. The lock is held.
  @inlinable func update<T: Identifiable & Sendable>(
    _ core: StoreCore, _ node: EntityNode<T>, in table: Table<T>, modifiedAt stamp: Stamp?,
    onOtherID: ((T, T) -> Bool)? = nil, _ change: (inout T) -> Void
  ) -> Bool {
    // What a flat entity was need not be copied: the node has it, or the journal if the closure itself writes to the entity.
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

// Not specialised for the type: that would be much code.
extension SharedCore {
  /// The same for an entity whose node is not known.
  @inline(never) @_semantics("optimize.sil.specialize.generic.never")
  @usableFromInline func update<T: Identifiable & Sendable>(
    _ core: StoreCore, _ id: T.ID, in table: Table<T>, modifiedAt stamp: Stamp?, _ change: (inout T) -> Void
  ) -> Bool {
    guard let node = table.find(id) else { return core.refuseUnknown(T.self, id) }
    return update(core, node, in: table, modifiedAt: stamp, change)
  }

  /// The same for what is compared with a copy of what the closure was given.
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

/// How far the journal and the count of writes were.
@usableFromInline struct WriteMark {
  let writes: UInt64
  let entries: Int
}

extension StoreCore {
  @usableFromInline func mark() -> WriteMark {
    WriteMark(writes: graph.journal.writeCount, entries: graph.journal.count)
  }

  func isUnwritten(since mark: WriteMark) -> Bool { graph.journal.writeCount == mark.writes }

  /// Nothing was written since, and the node's entity still exists.
  @usableFromInline func isUntouched(_ node: Node, since mark: WriteMark) -> Bool {
    node.exists && isUnwritten(since: mark)
  }

  /// Whether an `update` is to call its closure: the entity exists, and the write is not known to be stale. Brings the value up
  /// to date.
  @usableFromInline func isWritable(_ node: Node, _ stamp: Stamp?) -> Bool {
    guard node.exists else { return refuseRemoved(node) }
    if let stamp, clock.isStale(stamp, than: node.stamp) {
      merge.logDiscarded(node, stamp)
      return false
    }
    refresh(node)
    return true
  }

  /// The rest of an `update` of a flat entity, where the closure wrote to the store, changed the id, or let go of the entity.
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

  /// The rest of any `update`.
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
    // What the closure left as it was does not undo what was written meanwhile.
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

  /// What a node's value was before the writes that the journal has since then.
  private func valueBefore<T>(_ mark: WriteMark, of node: EntityNode<T>) -> T? {
    let state = graph.journal.firstState(of: node, since: mark.entries) as? SavedValue<T>
    if let state { return state.value }
    return node.value
  }

  /// Stores a value with all it contains.
  func store<T: Identifiable & Sendable>(_ value: T, in table: Table<T>, _ stamp: Stamp?) -> EntityNode<T> {
    (table.isAggregate ? storeAggregate(value, in: table, stamp) : nil) ?? storeFlat(value, in: table, stamp)
  }

  /// The same of what can contain entities; `nil` if the value was refused.
  func storeAggregate<T: Identifiable & Sendable>(_ value: T, in table: Table<T>, _ stamp: Stamp?) -> EntityNode<T>? {
    merge.store(stamp: clock.effective(stamp)) { visitor.visit(value, in: table) }?.typed(T.self)
  }

  /// The same of what a closure made of an incoming value.
  func storeAggregate<T: Identifiable & Sendable>(
    _ value: T, in table: Table<T>, _ stamp: Stamp?, changedFrom given: T
  ) -> EntityNode<T>? {
    let stamp = clock.effective(stamp)
    let node = merge.store(
      stamp: stamp, { visitor.visit(value, in: table) }, given: { visitor.visit(given, in: table) })
    return node?.typed(T.self)
  }

  /// Stores what a closure made of another entity's value by changing the id: only what it changed is written.
  func store<T: Identifiable & Sendable>(_ value: T, madeOf given: T, _ stamp: Stamp?) -> EntityNode<T>? {
    let table = graph.table(T.self)
    guard table.isAggregate else { return storeFlat(value, in: table, stamp) }
    let node = merge.storeEdited(
      stamp: clock.effective(stamp), given: table.addPending(given), { visitor.visit(value, in: table) },
      visitGiven: { visitor.visit(given, in: table) })
    return node?.typed(T.self)
  }
}
