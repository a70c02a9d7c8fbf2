/// A change that is shown above the base until it is committed or rolled back, made by ``EntityStore/optimistically(_:)``.
///
/// ```swift
/// let layer = store.optimistically { tx in tx.update(Book.self, id: "ACK") { $0.likes += 1 } }
/// do {
///   try await api.like("ACK")
///   layer.commit()
/// } catch {
///   layer.rollBack()
/// }
/// ```
///
/// The store retains the layer, whether or not this object is retained: a layer that is neither committed nor rolled back is
/// shown for as long as the store exists. See <doc:OptimisticChanges>.
public final class OptimisticLayer: Sendable {
  /// The states of a layer.
  public enum State: Sendable {
    /// The layer is shown.
    case pending
    /// The layer's change is a part of the base.
    case committed
    /// The layer was undone. This is also the state of a layer made in a transaction that threw.
    case rolledBack
    /// The layer's closure no longer applied: it threw the error, or an update in it found nothing (``NothingToUpdate``).
    case dropped(any Error)

    /// Whether the layer is shown.
    public var isPending: Bool { if case .pending = self { true } else { false } }
  }

  let record: LayerRecord
  let shared: SharedCore

  init(_ record: LayerRecord, _ shared: SharedCore) {
    self.record = record
    self.shared = shared
  }

  /// The state of the layer, as last committed.
  public var state: State { record.state }

  /// Makes the layer's change a part of the base: calls the closure on the base alone, whatever layers are below or above.
  ///
  /// The writes are taken also if a stored value has a newer stamp, which is then kept. Inside an open transaction the commit
  /// is a part of that. A layer that has ended is left as it is. Called from a closure of a layer, the commit happens when
  /// that has returned.
  ///
  /// - Returns: whether the base has the change. If the closure does not apply to the base, the layer is dropped.
  /// - Complexity: that of the closure, if no lower layer changes what it depends on, and it changes no relations of entities that can
  ///   contain their own type. Otherwise that of all pending closures, and of what they change.
  @discardableResult
  public func commit() -> Bool { shared.end(record, by: .committing) }

  /// Undoes the layer's change: the store shows what it would show if the layer had never been made.
  ///
  /// Inside an open transaction the rollback is a part of that. A layer that has ended is left as it is. Called from a
  /// closure of a layer, the rollback happens when that has returned.
  ///
  /// - Complexity: what the layer changed, if no layer above depends on that, and it changes no relations of entities that can contain
  ///   their own type. Otherwise that of the other pending closures, and of what all change; of those that change the same entities, if
  ///   these contain none.
  public func rollBack() { _ = shared.end(record, by: .rollingBack) }

  /// Calls a closure once when the layer has ended, after observers were notified; at once if it has already ended.
  ///
  /// ```swift
  /// layer.onEnd { state in
  ///   if case .dropped(let error) = state { print("no longer applies:", error) }
  /// }
  /// ```
  ///
  /// - Parameter body: a closure that receives the final state. It is called on the thread that ended the layer, outside of the
  ///   transaction, or on the calling thread.
  public func onEnd(_ body: @escaping @Sendable (State) -> Void) { record.onEnd(body) }

  /// Waits until the layer has ended, and returns its state. If the task is cancelled meanwhile, returns ``State/pending``.
  ///
  /// ```swift
  /// if case .dropped(let error) = await layer.ended() { print("no longer applies:", error) }
  /// ```
  public func ended() async -> State { await record.ended() }
}

extension OptimisticLayer: Identifiable, Hashable {
  public var id: ObjectIdentifier { ObjectIdentifier(record) }

  public static func == (a: OptimisticLayer, b: OptimisticLayer) -> Bool { a.record === b.record }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(record)) }
}
