import Concord
import ConcordConnect
import Foundation
public import Observation

/// The synchronisation of a ``/ConcordConnect/Connect`` with a server.
///
/// ```swift
/// let sync = connect.sync(with: url, token: { try await login.token() })
/// let orders = sync.subscribe("orders", ["since": .date(start)])
/// try await orders.ready()
/// ```
///
/// It works while the connect is started and the object is retained. What it shows is, at every moment, the server's committed state at
/// one position, for what it subscribes to, with the pending actions above.
public final class Sync: Sendable, Observable {
  let outbox: Outbox
  let model: Model
  let transport: any Transport
  let token: @Sendable () async throws -> String?
  let settings: SyncSettings
  let state = Locked(SyncState())
  let fingerprint: String
  /// The name of this process for the server. A copy of the file, on another device, has the same name of the device.
  let process = UUID().uuidString.lowercased()
  let registrar = ObservationRegistrar()
  private let streams = EventStreams<SyncStatus>(keepingNewest: 1)

  init(
    outbox: Outbox, model: Model, transport: any Transport, settings: SyncSettings,
    token: @escaping @Sendable () async throws -> String?
  ) {
    (self.outbox, self.model, self.transport, self.settings) = (outbox, model, transport, settings)
    self.token = token
    fingerprint = WireSchema(model.entities).fingerprint
    outbox.carrier = self
    let task = Task { [weak self] in
      while !Task.isCancelled {
        guard let next = await self?.step() else { return }
        await next()
      }
    }
    state.withLock { $0.loop = task }
  }

  deinit {
    let (loop, waiting) = state.withLock { ($0.loop, $0.takeAllWaiting()) }
    streams.end()
    loop?.cancel()
    for continuation in waiting { continuation.resume(throwing: CancellationError()) }
  }

  // MARK: Status

  /// The state of synchronisation. Observation follows it.
  public var status: SyncStatus {
    registrar.access(self, keyPath: \.status)
    return state.withLock { $0.status }
  }

  /// The status now and from now on. A slow reader gets the newest one.
  public var statuses: AsyncStream<SyncStatus> {
    state.withLock { streams.stream(beginningWith: $0.status) }
  }

  func set(_ status: SyncStatus) {
    guard state.withLock({ $0.status != status }) else { return }
    registrar.withMutation(of: self, keyPath: \.status) {
      state.withLock { state in
        state.status = status
        streams.send(status)
      }
    }
  }

  // MARK: Subscriptions

  /// Subscribes to a publication of the server. A subscription with the same name and parameters is the same.
  ///
  /// It is noted in the file, before the connect stops and before the server is asked; without a store, or if the file cannot be written, as soon as
  /// that is possible. ``SyncSubscription/ready()`` throws if it is not.
  ///
  /// - Parameters:
  ///   - name: the name of the publication.
  ///   - parameters: the parameters, from which the server makes the predicate.
  /// - Returns: the subscription. It stays until ``SyncSubscription/cancel()``, also if the result is released, and in later runs of the
  ///   program.
  @discardableResult
  public func subscribe(_ name: String, _ parameters: SyncParameters = [:]) -> SyncSubscription {
    let id = SubscriptionID(name: name, parameters: parameters)
    let writing = state.withLock { state in
      let writing = note(id)
      state.beginnings[id] = writing
      state.isPoked = true
      return writing
    }
    Task { [weak self] in
      _ = await writing.result
      self?.poke()
    }
    return SyncSubscription(id, self)
  }

  /// Begins to note a subscription.
  private func note(_ id: SubscriptionID) -> Task<Void, any Error> {
    outbox.beginWritingNotes { transaction in
      let writing = transaction.rows
      let note = SyncNotes.subscription(id.text)
      let present = try writing.note(note).map(SubscriptionState.init(note:))
      // What is on its way, or in the file, stays so.
      if let present, !present.isRefused { return }
      try writing.setNote(SubscriptionState.beginning(wasRefused: present != nil).note, for: note)
    }
  }

  /// Returns once a new subscription is noted. It is tried again if that has failed: there may have been no store.
  func noted(_ id: SubscriptionID) async throws {
    guard let beginning = state.withLock({ $0.beginnings[id] }) else { return }
    if case .success = await beginning.result { return }
    // Unless it was cancelled meanwhile, or somebody else has tried it again.
    let again = state.withLock { state in
      if state.beginnings[id] == beginning { state.beginnings[id] = note(id) }
      return state.beginnings[id]
    }
    try await again?.value
  }

  /// The subscriptions that the file has.
  ///
  /// - Throws: ``/ConcordModel/StoreError``.
  public func subscriptions() async throws -> [SyncSubscription] {
    try await outbox.writeNotes { try DeviceState.subscriptions($0.rows).map(\.id) }.map { SyncSubscription($0, self) }
  }

  func ready(_ id: SubscriptionID) async throws {
    try await noted(id)
    while true {
      let generation = state.withLock { $0.pages }
      let (found, isTorn) = try await outbox.writeNotes { [model] transaction in
        (
          try transaction.rows.note(SyncNotes.subscription(id.text)),
          try Self.isTorn(id, model, transaction.rows)
        )
      }
      guard let found else { throw SyncError.cancelled(subscription: id.name) }
      switch SubscriptionState(note: found) {
      case .known where !isTorn: return
      case .refused(let reason): throw SyncError.refused(subscription: id.name, reason: reason)
      case .known, .new: try await nextPage(after: generation)
      }
    }
  }

  /// Whether rows of a subscription, or what these contain, may be in a store that does not have those of the position.
  private static func isTorn(_ id: SubscriptionID, _ model: Model, _ writing: any RowWriting) throws -> Bool {
    let torn = try RowNotes(writing, model).torn()
    if torn.isEmpty { return false }
    var root: EntityDescription?
    try writing.notes(in: SyncNotes.roots(of: id.text), after: nil) { name, _ in
      root = EntityKey(noteName: name, in: model)?.entity
      return root == nil
    }
    // All roots are of one type. Where there are none, nothing can be missing.
    return root.map { !torn.isDisjoint(with: model.contained(in: $0)) } ?? false
  }

  func cancel(_ id: SubscriptionID) async throws {
    _ = await state.withLock { $0.beginnings.removeValue(forKey: id) }?.result
    try await outbox.writeNotes { [model, outbox] transaction in
      let writing = transaction.rows
      let held = try outbox.pendingKeys(in: transaction)
      var roots: [EntityKey] = []
      let space = SyncNotes.roots(of: id.text)
      try writing.notes(in: space, after: nil) { name, _ in
        if let key = EntityKey(noteName: name, in: model) { roots.append(key) }
        return true
      }
      try writing.clearNotes(in: space)
      try writing.setNote(nil, for: SyncNotes.subscription(id.text))
      var removal = try RowsLeaving(model: model, writing: writing, held: held)
      removal.candidates = roots
      _ = try removal.run()
    }
    poke()
    // Who waits for it looks again.
    for continuation in state.withLock({ $0.takeAllWaiting() }) { continuation.resume() }
  }

  // MARK: Checkpoint

  /// Returns once all actions that were forwarded before and can be sent have been decided, and the device has what the server had by then.
  ///
  /// Actions that wait behind a dead letter, and those of types that were not passed to the `Connect`, stay in the outbox undecided, and are not
  /// waited for. Waits without a network, and as long as the `Connect` is not started.
  ///
  /// - Throws: `CancellationError` if the task is cancelled.
  public func checkpoint() async throws {
    await outbox.idle()
    try Task.checkCancellation()
    let request = state.withLock { state in
      state.asked += 1
      return state.asked
    }
    poke()
    while true {
      let (generation, isDone) = state.withLock { ($0.pages, $0.answered >= request) }
      if isDone { return }
      try await nextPage(after: generation)
    }
  }
}
