/// Is told what a store does, for debugging. Every method has an empty default.
///
/// The methods are called after the transaction, outside the store's lock, on the thread that wrote; they may use the store.
/// Only ``didStall(for:)`` is called in the middle of it.
public protocol EntityStoreLogger: Sendable {
  /// A value was taken.
  func didStore<T: Identifiable>(_ type: T.Type, id: T.ID)
  /// A value was not taken, because its stamp is not newer than the stored one.
  func didDiscard<T: Identifiable>(_ type: T.Type, id: T.ID, stamp: Stamp, storedStamp: Stamp)
  /// A write without a stamp was taken, and the stored stamp is ahead of the store's clock. The entity has the next stamp after
  /// that now. Dates that are given lose to it until the clock gets there: for years, if the stamp was made with
  /// `timeIntervalSince1970` (see ``Stamp``).
  func didMeetStampAheadOfClock<T: Identifiable>(_ type: T.Type, id: T.ID, stamp: Stamp, clock: Stamp)
  /// An `update` tried to change the id, and nothing was changed.
  func didRefuseIDChange<T: Identifiable>(_ type: T.Type, id: T.ID, to newID: T.ID)
  /// A write, or a part of it, was refused for another reason.
  func didRefuse<T: Identifiable>(_ type: T.Type, id: T.ID, reason: RefusalReason)
  /// An `update` was about an alias that names nothing.
  func didRefuseUpdate<T>(_ alias: AliasKey<T>)
  /// CohesionKit's name for what is discarded or refused. Called unless the method that tells it apart is there:
  /// ``didDiscard(_:id:stamp:storedStamp:)`` (the error is a ``StampError``), ``didRefuse(_:id:reason:)`` or
  /// ``didRefuseIDChange(_:id:to:)`` (a ``RefusalReason``).
  func didFailedToStore<T: Identifiable>(_ type: T.Type, id: T.ID, error: any Error)
  /// A stamp is so large (above 2^53) that its neighbours are the same number; see ``Stamp``.
  func didReceiveImpreciseStamp<T: Identifiable>(_ type: T.Type, id: T.ID, stamp: Stamp)
  /// In a debug build: a stored value holds an entity that stands in no relation, so that it is never brought up to date.
  ///
  /// Told once for each place in a type. `path` leads from the value to the entity, as in `edition.translators[]`; `advice` is
  /// what to write there. What counts is an ``Aggregate`` and, of other `Identifiable` types, one that the store has or had
  /// entities of. Values are searched when they are written: the first 16 of each type, and then the 32nd, the 64th and so on,
  /// since an optional that is `nil` in one value need not be in the next. A store without a logger searches nothing.
  func didFindUnrelatedEntity<T: Identifiable>(in type: T.Type, at path: String, advice: String)
  /// A layer was dropped, because its closure did not apply any longer: it threw the error, or an update in it found nothing
  /// (``NothingToUpdate``). See ``EntityStore/optimistically(_:)``.
  func didDropOptimisticLayer(_ error: any Error)
  /// An alias was pointed at an entity or a collection.
  func didRegisterAlias<T>(_ alias: AliasKey<T>)
  /// An alias was removed, or lost its entity.
  func didUnregisterAlias<T>(_ alias: AliasKey<T>)
  /// The entity is gone: nobody kept it any longer, or it was removed.
  func didRelease<T: Identifiable>(_ type: T.Type, id: T.ID)
  /// A write has waited for another thread's transaction or `update` closure for longer than 5 seconds, and goes on waiting.
  ///
  /// Either that closure is slow, or it waits for this thread, and then both wait for ever: see <doc:WholeTransactions>. It is
  /// called on the waiting thread, once for each such write, and may read the store; a write would wait, too. A store without
  /// a logger writes a line to the standard error instead, once.
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
