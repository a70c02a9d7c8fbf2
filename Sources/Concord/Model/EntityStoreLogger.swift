/// A receiver of what a store does, for debugging. Every method has an empty default.
///
/// The methods are called after the transaction, outside the store's lock, on the writing thread; they may use the store. Only
/// ``didStall(for:)`` is called during a transaction.
public protocol EntityStoreLogger: Sendable {
  /// Reports that a value was stored.
  func didStore<T: Identifiable>(_ type: T.Type, id: T.ID)
  /// Reports that a value was discarded, because its stamp is not newer than the stored one.
  func didDiscard<T: Identifiable>(_ type: T.Type, id: T.ID, stamp: Stamp, storedStamp: Stamp)
  /// Reports that a write without a stamp was taken although the stored stamp is ahead of the store's clock.
  ///
  /// The entity has the next stamp after that now. Dates that are given lose to it until the clock gets there: for years, if the stamp was
  /// made with `timeIntervalSince1970` (see ``Stamp``).
  func didMeetStampAheadOfClock<T: Identifiable>(_ type: T.Type, id: T.ID, stamp: Stamp, clock: Stamp)
  /// Reports that an `update` tried to change the id, and that nothing was changed.
  func didRefuseIDChange<T: Identifiable>(_ type: T.Type, id: T.ID, to newID: T.ID)
  /// Reports that a write, or a part of it, was refused for another reason.
  func didRefuse<T: Identifiable>(_ type: T.Type, id: T.ID, reason: RefusalReason)
  /// Reports an `update` of an alias that names nothing.
  func didRefuseUpdate<T>(_ alias: AliasKey<T>)
  /// Reports that a write was discarded or refused, under CohesionKit's name.
  ///
  /// Called by the default implementations of ``didDiscard(_:id:stamp:storedStamp:)``, with a ``StampError``, and of
  /// ``didRefuse(_:id:reason:)`` and ``didRefuseIDChange(_:id:to:)``, with a ``RefusalReason``.
  func didFailedToStore<T: Identifiable>(_ type: T.Type, id: T.ID, error: any Error)
  /// Reports a stamp so large (above 2^53) that a `Double` cannot distinguish neighbouring integers; see ``Stamp``.
  func didReceiveImpreciseStamp<T: Identifiable>(_ type: T.Type, id: T.ID, stamp: Stamp)
  /// Reports, in debug builds, a stored value with an entity that stands in no relation, and so is never brought up to date;
  /// also if a relation of the value holds the same entity.
  ///
  /// Called once for each place in a type. An entity is a value of an ``Aggregate`` type, or of another `Identifiable` type of which
  /// the store has or had entities. Values are searched when they are written: the first 16 of each type, then the 32nd, the
  /// 64th and so on, since an optional that is `nil` in one value need not be in the next. A store without a logger searches
  /// nothing.
  ///
  /// - Parameters:
  ///   - type: the type of the value.
  ///   - path: the way from the value to the entity, as in `edition.translators[]`.
  ///   - advice: the code to write there.
  func didFindUnrelatedEntity<T: Identifiable>(in type: T.Type, at path: String, advice: String)
  /// Reports that an optimistic layer was dropped, because its closure no longer applied: it threw the error, or an update in
  /// it found nothing (``NothingToUpdate``). See ``EntityStore/optimistically(_:)``.
  func didDropOptimisticLayer(_ error: any Error)
  /// Reports that an alias began to name an entity or a collection.
  func didRegisterAlias<T>(_ alias: AliasKey<T>)
  /// Reports that an alias was removed, or lost its entity.
  func didUnregisterAlias<T>(_ alias: AliasKey<T>)
  /// Reports that an entity was released, since nothing retained it any longer, or removed.
  func didRelease<T: Identifiable>(_ type: T.Type, id: T.ID)
  /// Reports that a write has waited longer than 5 seconds for another thread's transaction or `update` closure, and still
  /// waits.
  ///
  /// Either that closure is slow, or it waits for this thread, and then both wait for ever: see <doc:WholeTransactions>.
  /// The method is called on the waiting thread, once for each such write, and may read the store; a write would wait,
  /// too. A store without a logger writes a line to the standard error instead, once.
  func didStall(for duration: Duration)
}

extension EntityStoreLogger {
  public func didStore<T: Identifiable>(_ type: T.Type, id: T.ID) {}
  public func didDiscard<T: Identifiable>(_ type: T.Type, id: T.ID, stamp: Stamp, storedStamp: Stamp) {
    didFailedToStore(type, id: id, error: StampError.tooOld(current: storedStamp, received: stamp))
  }
  public func didMeetStampAheadOfClock<T: Identifiable>(_ type: T.Type, id: T.ID, stamp: Stamp, clock: Stamp) {}
  public func didRefuseIDChange<T: Identifiable>(_ type: T.Type, id: T.ID, to newID: T.ID) {
    didFailedToStore(type, id: id, error: RefusalReason.changedID)
  }
  public func didRefuse<T: Identifiable>(_ type: T.Type, id: T.ID, reason: RefusalReason) {
    didFailedToStore(type, id: id, error: reason)
  }
  public func didRefuseUpdate<T>(_ alias: AliasKey<T>) {}
  public func didFailedToStore<T: Identifiable>(_ type: T.Type, id: T.ID, error: any Error) {}
  public func didReceiveImpreciseStamp<T: Identifiable>(_ type: T.Type, id: T.ID, stamp: Stamp) {}
  public func didFindUnrelatedEntity<T: Identifiable>(in type: T.Type, at path: String, advice: String) {}
  public func didDropOptimisticLayer(_ error: any Error) {}
  public func didRegisterAlias<T>(_ alias: AliasKey<T>) {}
  public func didUnregisterAlias<T>(_ alias: AliasKey<T>) {}
  public func didRelease<T: Identifiable>(_ type: T.Type, id: T.ID) {}
  public func didStall(for duration: Duration) {}
}
