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

  /// The entities that pending actions name, except for some actions, as a transaction finds them, and those that the view has saved and that are not
  /// written yet, with what they contain.
  package func pendingKeys(without keys: Set<String> = [], in writing: NotesWriting) throws -> Set<EntityKey> {
    let named = try entityKeys(in: writing.outboxes.mapValues { $0 }) {
      $0.state == .pending && !keys.contains($0.key)
    }
    return named.union(coordinator.unwrittenKeys())
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
    let untold = Dictionary(
      uniqueKeysWithValues: try outboxes.map { ($0, try $1.outbox(after: known[$0])) })
    let told = state.withLock { state in state.items.values.filter { isMeant($0.row) } }
    var keys: Set<EntityKey> = []
    // What the transaction itself has changed is not told yet.
    let changed = untold.mapValues { Set($0.rows.map(\.number)) }
    for item in told {
      let store = item.id.attachment
      if untold[store]?.isWhole == true || changed[store]?.contains(item.id.number) == true { continue }
      keys.formUnion(entityKeys(item.row, item.action))
    }
    for row in untold.values.lazy.flatMap(\.rows) where isMeant(row) {
      keys.formUnion(entityKeys(row, registry.action(row)))
    }
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
}

/// A transaction that writes to the stores, with the notes and the outbox of one.
package struct NotesWriting {
  package let rows: any RowWriting
  /// The store with the notes, which may be detached before the transaction ends.
  let home: StoreAttachment
  /// The sessions of the stores that have outboxes.
  var outboxes: [StoreAttachment: any RowWriting] { (rows as? any OutboxesWriting)?.outboxes ?? [home: rows] }
}
