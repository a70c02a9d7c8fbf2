/// The outcome of an update; see ``EntityStore/updateOutcome(_:id:modifiedAt:update:)``.
public enum UpdateOutcome: Sendable, Hashable {
  /// The write was taken, also if it changed nothing.
  case taken
  /// The entity is not stored, or was removed by the closure.
  case missing
  /// The write is not newer than the stored value, whose stamp is given. The closure was not called, or its changes were
  /// discarded.
  case stale(stored: Stamp)
  /// The closure changed the id, which is not allowed.
  case refused(RefusalReason)
}

extension EntityStore {
  /// Changes a stored entity as `update` does, and returns the outcome.
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
  /// If the closure throws, nothing is changed: its other calls to the store are undone, too.
  ///
  /// - Parameters:
  ///   - type: the type of the entity.
  ///   - id: the id of the entity.
  ///   - stamp: the stamp of the change; if `nil`, the store's ``Stamping`` decides.
  ///   - update: a closure that receives the stored value and changes it, once, on the calling thread, within the
  ///     transaction.
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
      // Thrown so that the transaction undoes the closure's calls.
      if let thrown { throw thrown }
      return outcome
    }
    if let thrown { throw thrown }
    return outcome ?? .missing
  }

  /// Changes a stored entity with a closure that may throw. Then nothing is changed: the closure's other calls to the store
  /// are undone, too.
  ///
  /// ```swift
  /// try store.update(Account.self, id: from) { account in
  ///   guard account.balance >= 10 else { throw Overdrawn() }
  ///   account.balance -= 10
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - type: the type of the entity.
  ///   - id: the id of the entity.
  ///   - stamp: the stamp of the change; if `nil`, the store's ``Stamping`` decides.
  ///   - update: a closure that receives the stored value and changes it, once, on the calling thread, within the
  ///     transaction.
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
  /// Changes a stored entity with a closure, and returns the outcome. Slower than `update`. The lock is held.
  fileprivate func updateOutcome<T: Identifiable & Sendable>(
    _ core: StoreCore, _ type: T.Type, id: T.ID, modifiedAt stamp: Stamp?, _ change: (inout T) -> Void
  ) -> UpdateOutcome {
    core.prepare()
    let table = core.graph.table(type)
    // A caller that gets the outcome handles a missing entity itself.
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
