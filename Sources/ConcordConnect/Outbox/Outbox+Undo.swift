import Concord
import ConcordPersistence
import Foundation

extension Outbox {
  /// Forwards an action, and records it as a step: see ``Connect/forward(_:as:joining:)``.
  func forward<A: ForwardAction>(
    _ action: A, as actionName: String, joining group: UndoGroup?
  ) async throws -> OutboxEntry {
    register(A.self)
    return try await working { [self] in
      let (entry, change) = try atHome("none keeps '\(A.name)'") { try forward(action, to: $0, isStep: true) }
      let step = UndoStep(
        id: undoSteps.nextID(), actionName: actionName, context: nil, group: group,
        parts: change.map { [[$0]] } ?? [])
      undoSteps.append(step) { $0 + $1 }
      undoSteps.tell()
      return entry
    }
  }

  /// Follows a row that is about to be written to the home store.
  func follow(_ row: OutboxRow, _ home: StoreAttachment) -> FollowedAction {
    let handle = FollowedAction(row.key)
    state.withLock { $0.followed.follow(handle, $0.stores[home]?.hold) }
    return handle
  }

  // MARK: Taking back

  /// Undoes the last step, or redoes the one that was undone last.
  func revertStep(isRedo: Bool) async throws -> UndoResult {
    try await working { [self] in
      defer { undoSteps.tell() }
      return try undoSteps.revert(isRedo: isRedo) { step in
        let reversal = try atHome("none keeps what takes '\(step.actionName)' back") {
          try revert(step, isRedo, in: $0)
        }
        var inverse = step
        inverse.parts = reversal.changes.map { [$0] }
        return (reversal.conflicts, inverse)
      }.get()
    }
  }

  private struct Reversal {
    /// The changes that were made, in their order.
    var changes: [ForwardedChange] = []
    var conflicts: [UndoConflict] = []
  }

  /// Takes a step back: all in one commit of its store, or nothing.
  private func revert(_ step: UndoStep, _ isRedo: Bool, in home: StoreAttachment) throws -> Reversal {
    let changes = step.parts.reversed().flatMap { $0.reversed() }.compactMap { $0 as? ForwardedChange }
    for _ in 0..<8 {
      if let reversal = try revert(changes, isRedo, in: home, mayWithdraw: true) { return reversal }
      readChanges()
    }
    // What is not known here even then is not waited for: inverses are right in any case.
    if let reversal = try revert(changes, isRedo, in: home, mayWithdraw: false) { return reversal }
    throw StoreError.storeFailed(store: "with the outbox", reason: "what others have written to it cannot be read")
  }

  /// Takes changes back, or makes them again, by one write of the outbox.
  ///
  /// - Returns: `nil` if something is to be withdrawn, and other processes have written to the outbox what is not known here.
  private func revert(
    _ changes: [ForwardedChange], _ isRedo: Bool, in home: StoreAttachment, mayWithdraw: Bool
  ) throws -> Reversal? {
    let (known, plans) = plan(changes, in: home, mayWithdraw: mayWithdraw)
    let withdrawn = Set(plans.compactMap(\.withdrawn?.id))
    defer { endWithdrawing(withdrawn) }
    var reversal = Reversal()
    let tried = zip(changes, plans).flatMap { change, plan -> [any ForwardAction] in
      switch plan {
      case .conflict: []
      case .withdraw: [change.action, change.inverse].compactMap { $0 }
      case .forward: [change.inverse].compactMap { $0 }
      }
    }
    // Held until they are shown, as what is forwarded.
    let held = try view.holding(tried.flatMap { try $0.keys(in: coordinator.model) })
    defer { withExtendedLifetime(held) {} }
    var rows: [OutboxRow] = []
    let outcomes = try tryOut(changes, plans, isRedo)
    for (change, (plan, outcome)) in zip(changes, zip(plans, outcomes)) {
      switch plan {
      case .conflict(let reason): change.report(reason, &reversal.conflicts)
      case .withdraw:
        let again = (try? outcome.get()) ?? change.action
        reversal.changes.append(
          change.origin as? ForwardedChange
            ?? ForwardedChange(handle: nil, action: change.inverse, inverse: again, epoch: change.epoch))
      case .forward:
        guard let action = change.inverse else { continue }
        switch outcome {
        case .failure(let error): change.report(.doesNotApply("\(error)"), &reversal.conflicts)
        case .success(let inverse):
          let row = try row(action, takingBack: change.handle)
          rows.append(row)
          reversal.changes.append(
            ForwardedChange(
              origin: change.alone, handle: follow(row, home), action: action, inverse: inverse ?? change.action,
              epoch: change.epoch))
        }
      }
    }
    if reversal.changes.isEmpty { return reversal }
    let isWritten = try write(
      rows, withdrawing: plans.compactMap(\.withdrawn), behind: plans.compactMap(\.pending), in: home, after: known)
    guard isWritten else { return nil }
    view.showOverlay()
    readChanges()
    return reversal
  }

  /// The row of an action that is to be forwarded.
  private func row<A: ForwardAction>(_ action: A, takingBack other: FollowedAction?) throws -> OutboxRow {
    let idempotencyKey = other.map { IdempotencyKey(takingBack: $0.key) } ?? IdempotencyKey()
    let key = try action.entity.key(in: coordinator.model)
    return OutboxRow(
      key: idempotencyKey.rawValue, action: A.name, entity: key.entity.name, id: key.id,
      body: try encode(action).body, forwarded: Date().timeIntervalSince1970)
  }

  /// Tries out, one after the other, what takes changes back, on what the view shows.
  ///
  /// - Returns: for each change the action that is to make it again, or to take it back again, and that says itself where other writers have
  ///   changed what it needs; `nil` if it has none; or the error if it is not taken back, because that does not apply.
  private func tryOut(
    _ changes: [ForwardedChange], _ plans: [Plan], _ isRedo: Bool
  ) throws -> [Result<(any ForwardAction)?, any Error>] {
    if plans.allSatisfy(\.isConflict) { return plans.map { _ in .success(nil) } }
    return try trying { tx in
      zip(changes, plans).map { change, plan in
        switch plan {
        case .conflict: return .success(nil)
        case .withdraw(let item):
          for layer in overlay.layers(of: [item.id]) { layer.rollBack() }
          // What takes another one back is not needed again: that one is what was done.
          return .success(change.origin == nil ? change.action?.repetition(in: tx) : nil)
        case .forward:
          guard let action = change.inverse else { return .success(nil) }
          return Result {
            // What cannot be taken back is not done again. It is undone, and done again as it was done.
            let inverse = isRedo ? try action.orderedInverse(in: tx) : (try? action.orderedInverse(in: tx))
            _ = try tx.optimistically { try action.apply(to: $0) }
            return inverse
          }
        }
      }
    }
  }

  /// Withdraws rows, and writes new ones.
  ///
  /// - Parameter pending: the rows that are taken back by some of the new ones, and were not refused as far as is known here.
  /// - Returns: `false` if other processes have written to the outbox since a version; then nothing is written.
  private func write(
    _ rows: [OutboxRow], withdrawing items: [OutboxState.Item], behind pending: [OutboxRow],
    in home: StoreAttachment, after known: OutboxVersion?
  ) throws -> Bool {
    try writeEnds(of: home) { writing, _ in
      if !items.isEmpty {
        // What is not known here may depend on what is withdrawn.
        guard let known, try writing.outbox(after: known).version == known else { return false }
      }
      for item in items {
        guard var row = try writing.outboxRow(item.row.number), row.key == item.row.key, row.state == .pending else {
          return false
        }
        (row.state, row.body) = (.dropped, "")
        try writing.writeOutbox(row)
      }
      for row in pending {
        guard let stored = try writing.outboxRow(row.number), stored.key == row.key else { continue }
        if stored.state == .refused || stored.state == .dropped { return false }
      }
      for row in rows { try writing.writeOutbox(row) }
      return true
    }
  }

  // MARK: Withdrawing

  /// The way in which a change is taken back.
  private enum Plan {
    case withdraw(OutboxState.Item)
    /// To forward its inverse, behind the row that is still pending.
    case forward(behind: OutboxRow?)
    case conflict(UndoConflict.Reason)

    var withdrawn: OutboxState.Item? { if case .withdraw(let item) = self { item } else { nil } }
    var pending: OutboxRow? { if case .forward(let row) = self { row } else { nil } }
    var isConflict: Bool { if case .conflict = self { true } else { false } }
  }

  /// Decides how each change is taken back. What is to be withdrawn does not begin to be sent from now on.
  private func plan(
    _ changes: [ForwardedChange], in home: StoreAttachment, mayWithdraw: Bool
  ) -> (OutboxVersion?, [Plan]) {
    // The actions say themselves what they name, which is not asked under a lock.
    let (known, pending) = state.withLock { state in
      (state.stores[home]?.version, state.items.values.filter { $0.row.state == .pending })
    }
    var naming: [EntityKey: [OutboxID]] = [:]
    for item in pending { for key in keys(of: item) { naming[key, default: []].append(item.id) } }
    let named = Dictionary(pending.map { ($0.id, keys(of: $0)) }) { $1 }
    return state.withLock { state in
      var withdrawn: Set<OutboxID> = []
      let plans = changes.map { change -> Plan in
        // Another user's outbox may be at home by now.
        if let epoch = change.epoch, let present = state.stores[home]?.version?.epoch, epoch != present {
          return .conflict(.notAttached)
        }
        let inverse = change.inverse.map { _ in Plan.forward(behind: nil) } ?? .conflict(.irreversible)
        guard let handle = change.handle, let followed = state.followed[handle] else { return inverse }
        switch followed.fate {
        case .refused: return .conflict(.refused)
        case .detached: return .conflict(.notAttached)
        case .accepted: return inverse
        case .pending: break
        }
        guard let id = followed.id, let item = state.items[id] else { return inverse }
        guard id.attachment == home else { return .conflict(.notAttached) }
        guard mayWithdraw, state.stores[home]?.version == known, item.row.state == .pending,
          !state.running.contains(id),
          let hold = followed.hold, hold === state.stores[home]?.hold, hold.isHeld, let keys = named[id],
          !keys.contains(where: { key in naming[key]?.contains { $0 > id && !withdrawn.contains($0) } ?? false })
        else { return change.inverse == nil ? inverse : .forward(behind: item.row) }
        withdrawn.insert(id)
        return .withdraw(item)
      }
      state.withdrawing.formUnion(withdrawn)
      return (known, plans)
    }
  }

  /// The entities that an action names, as far as they are known.
  private func keys(of item: OutboxState.Item) -> Set<EntityKey> {
    var keys = Set((try? item.action?.keys(in: coordinator.model)) ?? [])
    if let entity = coordinator.model.entity(named: item.row.entity) { keys.insert(EntityKey(entity, item.row.id)) }
    return keys
  }

  /// Changes the actions that take back another one, and those that take back these, in the transaction that changes that one.
  ///
  /// - Parameter body: a closure that receives the row of each, and returns whether it has changed it.
  func changeInverses(
    of row: OutboxRow, in attachment: StoreAttachment, _ writing: any RowWriting, _ body: (inout OutboxRow) -> Bool
  ) throws {
    let (known, items) = state.withLock { state in
      (state.stores[attachment]?.version, state.items.values.filter { $0.id.attachment == attachment }.map(\.row))
    }
    var keys = [row.key]
    var candidates = (items + (try writing.outbox(after: known).rows)).filter { $0.number > row.number }
    while let key = keys.popLast(), !candidates.isEmpty {
      let prefix = IdempotencyKey.prefix(takingBack: key)
      for candidate in candidates where candidate.key.hasPrefix(prefix) {
        keys.append(candidate.key)
        guard var row = try writing.outboxRow(candidate.number), row.key == candidate.key, body(&row) else { continue }
        try writing.writeOutbox(row)
      }
      candidates.removeAll { keys.contains($0.key) }
    }
  }

  /// Sends what was not withdrawn after all.
  private func endWithdrawing(_ ids: Set<OutboxID>) {
    if ids.isEmpty { return }
    state.withLock { state in
      state.withdrawing.subtract(ids)
      for id in ids { if let item = state.items[id] { enqueue(item, &state) } }
    }
    sendNext()
  }
}

extension ForwardedChange {
  fileprivate func report(_ reason: UndoConflict.Reason, _ conflicts: inout [UndoConflict]) {
    guard let entity = (action ?? inverse)?.entity else { return }
    conflicts.append(UndoConflict(type: entity.type, id: entity.id, property: nil, reason: reason))
  }
}
