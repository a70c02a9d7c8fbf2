// The effects of each kind of refused write, with its report to the logger. Not specialised, since refusals are rare.
extension StoreCore {
  /// Refuses an `update` of an entity that is not stored.
  @usableFromInline @inline(never) func refuseUnknown<T: Identifiable & Sendable>(_ type: T.Type, _ id: T.ID) -> Bool {
    noteMissing(NothingToUpdate(type, id: id))
    log.append { $0.didRefuse(type, id: id, reason: isMissing(id) ? .missingID : .notStored) }
    return false
  }

  /// Refuses an `update` of an entity that was removed.
  @usableFromInline @inline(never) func refuseRemoved(_ node: Node) -> Bool {
    noteMissing(NothingToUpdate(node))
    log.append(.refused(.notStored), node)
    return false
  }

  /// Refuses an `update` whose closure changed the id.
  func refuseIDChange<T>(of given: T, to newID: T.ID, in table: Table<T>) -> Bool {
    let id = given.id
    if !table.isInternal { log.append { $0.didRefuseIDChange(T.self, id: id, to: newID) } }
    return false
  }

  /// Refuses an `update` of an alias that names nothing.
  func refuseUpdate<T>(of type: T.Type, _ name: String) -> Bool {
    noteMissing(NothingToUpdate(AliasKey<T>(name)))
    log.append { $0.didRefuseUpdate(AliasKey<T>(name)) }
    return false
  }
}
