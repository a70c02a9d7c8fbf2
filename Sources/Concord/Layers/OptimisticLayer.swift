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
/// A layer lives in the store, and not through this object: one that is neither committed nor rolled back is shown for as long
/// as the store exists. See <doc:OptimisticChanges>.
public final class OptimisticLayer: Sendable {
  /// What became of a layer.
  public enum State: Sendable {
    /// It is shown.
    case pending
    /// Its change is a part of the base.
    case committed
    /// It is gone, and so is its change. Also that of a layer made in a transaction that threw.
    case rolledBack
    /// Its closure did not apply any longer: it threw this error, or an update in it found nothing (``NothingToUpdate``).
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

  /// What has become of it. Inside a transaction this is what was last committed.
  public var state: State { record.state }

  /// Makes its change a part of the base: the closure is called on the base alone, whatever layers are below or above it.
  ///
  /// Its writes are taken also if what is stored has a newer stamp, which then stays. Inside an open transaction this is a part
  /// of it. Of a layer that has ended nothing happens. Called from a closure of a layer, it waits until that has returned.
  ///
  /// - Returns: whether the base has the change. If the closure does not apply to the base, the layer is dropped.
  /// - Complexity: that of all pending closures, and of what they change.
  @discardableResult
  public func commit() -> Bool { shared.end(record, by: .committing) }

  /// Takes its change back: what is shown is what would be shown had the layer never been made.
  ///
  /// Inside an open transaction this is a part of it. Of a layer that has ended nothing happens. Called from a closure of a
  /// layer, it waits until that has returned.
  ///
  /// - Complexity: that of the other pending closures, and of what all change. Where this one changes nothing but entities that contain
  ///   none, that of the closures that change the same entities.
  public func rollBack() { _ = shared.end(record, by: .rollingBack) }

  /// Calls back once when the layer has ended, after observers were told; at once if it has ended already.
  ///
  /// ```swift
  /// layer.onEnd { state in
  ///   if case .dropped(let error) = state { print("no longer applies:", error) }
  /// }
  /// ```
  ///
  /// It is called on the thread that ended the layer, outside of the transaction.
  public func onEnd(_ body: @escaping @Sendable (State) -> Void) { record.onEnd(body) }

  /// Returns when the layer has ended, and how. If the task is cancelled meanwhile, returns ``State/pending``.
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
