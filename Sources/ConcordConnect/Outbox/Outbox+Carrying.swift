package import ConcordPersistence

extension Outbox {
  /// The outbox whose action is being sent by this task.
  package static var sending: Outbox? { current }

  /// The carrier of actions that have no request of their own. It is not retained.
  package var carrier: (any ActionCarrier)? {
    get { state.withLock { $0.carrier?.carrier } }
    set {
      state.withLock { $0.carrier = newValue.map { CarrierReference(carrier: $0) } }
      sendNext()
    }
  }

  /// The carrier can carry what it could not carry before.
  package func carrierIsReady() {
    state.withLock { $0.lanes.wakeAll() }
    sendNext()
  }

  /// Whether the ``Connect`` is started, and sends.
  package var isSending: Bool { state.withLock { $0.isStarted && $0.holds.isEmpty } }

  /// The entities that pending actions name, except for some actions, as a transaction finds them.
  package func pendingKeys(without keys: Set<String> = [], in writing: NotesWriting) throws -> Set<EntityKey> {
    try entityKeys(in: writing.outboxes.mapValues { $0 }) { $0.state == .pending && !keys.contains($0.key) }
  }

  /// The keys of the actions that are pending or dead letters, as a transaction finds them.
  package func unfinishedKeys(in writing: NotesWriting) throws -> Set<String> {
    try writing.outboxes.values.reduce(into: []) { keys, outbox in
      keys.formUnion(try outbox.outbox(after: nil).rows.lazy.filter { !$0.state.isFinished }.map(\.key))
    }
  }

  /// The entities that some actions name, also those that another process has forwarded, and nobody has told yet.
  ///
  /// - Parameter outboxes: the stores within a transaction.
  func entityKeys(
    in outboxes: [StoreAttachment: any RowReading], where isMeant: (OutboxRow) -> Bool
  ) throws -> Set<EntityKey> {
    // First, so that none is missed that is told meanwhile.
    let known = state.withLock { $0.stores.compactMapValues(\.version) }
    let untold = try outboxes.flatMap { try $1.outbox(after: known[$0]).rows }
    let told = state.withLock { state in state.items.values.filter { isMeant($0.row) } }
    var keys: Set<EntityKey> = []
    for item in told { keys.formUnion(entityKeys(item.row, item.action)) }
    for row in untold where isMeant(row) { keys.formUnion(entityKeys(row, registry.action(row))) }
    return keys
  }

  /// The entities that an action names.
  private func entityKeys(_ row: OutboxRow, _ action: (any ForwardAction)?) -> Set<EntityKey> {
    // Another release of the program may not know all of them.
    let references = action.map { [$0.entity] + $0.touches } ?? []
    var keys = Set(references.compactMap { try? $0.key(in: coordinator.model) })
    // Of an action whose type is not registered at least the entity is known that it keeps its order with.
    if let entity = coordinator.model.entity(named: row.entity) { keys.insert(EntityKey(entity, row.id)) }
    return keys
  }

  /// Writes to the stores, with the notes and the outbox of one, and shows the result. No other writer of the outbox runs meanwhile.
  package func writeNotes<R: Sendable>(
    _ body: @escaping @Sendable (NotesWriting) throws -> R
  ) async throws -> R {
    try await working { [self] in try writeNow(body) }
  }

  /// Begins to write as ``writeNotes(_:)``: before all that is written later, and before a stop that comes after it.
  ///
  /// - Returns: the task that has the result.
  package func beginWritingNotes<R: Sendable>(
    _ body: @escaping @Sendable (NotesWriting) throws -> R
  ) -> Task<R, any Error> {
    let (results, continuation) = AsyncStream<Result<R, any Error>>.makeStream()
    work.async { [self] in continuation.yield(Result { try writeNow(body) }) }
    return Task {
      for await result in results { return try result.get() }
      throw CancellationError()
    }
  }

  private func writeNow<R>(_ body: (NotesWriting) throws -> R) throws -> R {
    guard let home = coordinator.homeAttachment else { throw Errors.notStarted("no store is attached") }
    // What the view has saved lies below.
    try writePendingChanges()
    let result = try coordinator.write(notesOf: home) { writing, _ in
      try body(NotesWriting(rows: writing, home: home))
    }
    view.showOverlay()
    readChanges()
    return result
  }

  /// Ends actions whose effects are written in the same transaction, or in that of another file: also dead letters, of which it was not known whether
  /// they had their effects. What takes these back is sent now.
  ///
  /// - Parameter changed: the entities that the transaction changes.
  package func end(_ keys: Set<String>, changed: Set<EntityKey>, _ writing: NotesWriting) throws {
    if keys.isEmpty { return }
    // An action stays in the store in which it was forwarded, also if another one is the home by now.
    for (attachment, rows) in writing.outboxes {
      let changes = try rows.outbox(after: nil)
      for row in changes.rows where !row.state.isFinished && keys.contains(row.key) {
        // Of a dead letter nothing is shown.
        if row.state == .pending {
          overlay.willWrite(
            changed, for: OutboxID(attachment: attachment, epoch: changes.version.epoch, number: row.number))
        }
        try rows.writeOutbox(row.sent)
        if row.state == .refused { try changeInverses(of: row, in: attachment, rows) { $0.retry() } }
      }
    }
  }

  /// Makes dead letters of pending actions of which it is not known whether they had their effects. Their layers go with the transaction, and those of
  /// what takes them back.
  package func refuse(_ keys: Set<String>, reason: String, _ writing: NotesWriting) throws {
    if keys.isEmpty { return }
    for (attachment, rows) in writing.outboxes {
      for var row in try rows.outbox(after: nil).rows where row.state == .pending && keys.contains(row.key) {
        (row.state, row.reason) = (.refused, reason)
        try rows.writeOutbox(row)
        try changeInverses(of: row, in: attachment, rows) { $0.waitForOrigin() }
      }
    }
  }
}

/// A transaction that writes to the stores, with the notes and the outbox of one.
package struct NotesWriting {
  package let rows: any RowWriting
  /// The store with the notes, which may be detached before the transaction ends.
  let home: StoreAttachment
  /// The sessions of the stores that have outboxes.
  var outboxes: [StoreAttachment: any RowWriting] { (rows as? any OutboxesWriting)?.outboxes ?? [home: rows] }
}
