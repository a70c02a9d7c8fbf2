/// What became of an update; see ``EntityStore/updateOutcome(_:id:modifiedAt:update:)``.
public enum UpdateOutcome: Sendable, Hashable {
  /// The write was taken, also if it changed nothing.
  case taken
  /// The entity is not stored, or was removed by the closure.
  case missing
  /// The write is not newer than the stored value, whose stamp this is. The closure was not called, or what it did was
  /// discarded.
  case stale(stored: Stamp)
  /// The closure did what is not allowed: it changed the id.
  case refused(RefusalReason)
}

extension EntityStore {
  /// Changes a stored entity as `update` does, and tells what became of it.
  ///
  /// ```swift
  /// switch store.updateOutcome(Book.self, id: "ACK", update: { $0.title = "The Ackerman File" }) {
  /// case .taken: break
  /// case .missing: fetch("ACK")
  /// case .stale(let stored): print("the store has \(stored)")
  /// case .refused(let reason): print(reason)
  /// }
  /// ```
  ///
  /// If the closure throws, nothing is changed, also of what it did to the store by other calls.
  ///
  /// - Throws: what the closure throws.
  /// - Complexity: what the closure changed.
  public func updateOutcome<T: Identifiable & Sendable, Failure: Error>(
    _ type: T.Type, id: T.ID, modifiedAt stamp: Stamp? = nil, update: (inout T) throws(Failure) -> Void
  ) throws(Failure) -> UpdateOutcome {
    var thrown: Failure?
    let outcome = try? transaction { store in
      let outcome = store.shared.write(store.token) { core in
        shared.updateOutcome(core, type, id: id, modifiedAt: stamp) { value in
          var changed = value
          do throws(Failure) {
            try update(&changed)
            value = changed
          } catch {
            thrown = error
          }
        }
      }
      // So that the transaction undoes what the closure did.
      if let thrown { throw thrown }
      return outcome
    }
    if let thrown { throw thrown }
    return outcome ?? .missing
  }

  /// Changes a stored entity with a closure that may throw: then nothing is changed, also of what the closure did to the store
  /// by other calls.
  ///
  /// ```swift
  /// try store.update(Account.self, id: from) { account in
  ///   guard account.balance >= 10 else { throw Overdrawn() }
  ///   account.balance -= 10
  /// }
  /// ```
  ///
  /// - Returns: whether the entity exists and the write was taken.
  /// - Throws: what the closure throws.
  /// - Complexity: what the closure changed.
  @_disfavoredOverload
  @discardableResult
  public func update<T: Identifiable & Sendable, Failure: Error>(
    _ type: T.Type, id: T.ID, modifiedAt stamp: Stamp? = nil, update: (inout T) throws(Failure) -> Void
  ) throws(Failure) -> Bool {
    let outcome = try updateOutcome(type, id: id, modifiedAt: stamp, update: update)
    if outcome == .missing { shared.inspect(token) { $0.noteMissing(NothingToUpdate(type, id: id)) } }
    return outcome == .taken
  }
}

extension SharedCore {
  /// The same as `update`, slower, for those who want to know more. The lock is held.
  fileprivate func updateOutcome<T: Identifiable & Sendable>(
    _ core: StoreCore, _ type: T.Type, id: T.ID, modifiedAt stamp: Stamp?, _ change: (inout T) -> Void
  ) -> UpdateOutcome {
    core.prepare()
    let table = core.graph.table(type)
    // Who asks for the outcome sees to what is missing.
    let missing = core.layers.missing
    defer { core.layers.missing = missing }
    guard let node = table.find(id), node.exists else {
      _ = core.refuseUnknown(type, id)
      return .missing
    }
    guard core.isWritable(node, stamp), let given = node.value else { return .stale(stored: node.stamp) }
    var result = given
    let mark = core.mark()
    unlocked { change(&result) }
    guard node.exists else {
      _ = core.refuseRemoved(node)
      return .missing
    }
    let isTaken = core.finishUpdate(
      node, in: table, result: result, given: given, stamp, isAlone: core.isUnwritten(since: mark), nil)
    if isTaken { return .taken }
    return result.id == given.id ? .stale(stored: node.stamp) : .refused(.changedID)
  }
}
