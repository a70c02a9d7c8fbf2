public import Concord
public import Logging

/// A logger of stores that writes to a swift-log `Logger`.
///
/// ```swift
/// let store = EntityStore(logger: SwiftLogLogger(Logger(label: "shop.books")))
/// ```
///
/// The lines have a fixed message and further values as metadata (`entity`, `id`, `alias`, `stamp`, `storedStamp`, `clock`,
/// `newID`, `reason`, `duration`, `path`, `advice`), so that a backend can search them. An event below the logger's own level
/// costs one comparison.
public struct SwiftLogLogger: EntityStoreLogger {
  private let logger: Logger
  private let level: Logger.Level
  private let refusals: Logger.Level

  /// Creates a logger of stores.
  ///
  /// - Parameters:
  ///   - logger: Where the lines go.
  ///   - level: The level of what happens all the time: an entity stored, discarded or released, an alias set or removed.
  ///   - refusals: The level of what is most often a mistake in the calling code: a write that was refused, a stamp that
  ///     cannot be right, a write that waits long for another thread's transaction and, in debug builds, an entity in no
  ///     relation.
  public init(_ logger: Logger, level: Logger.Level = .debug, refusals: Logger.Level = .warning) {
    self.logger = logger
    self.level = level
    self.refusals = refusals
  }

  public func didStore<T: Identifiable>(_ type: T.Type, id: T.ID) {
    logger.log(level: level, "stored", metadata: ["entity": "\(type)", "id": "\(id)"])
  }

  public func didDiscard<T: Identifiable>(_ type: T.Type, id: T.ID, stamp: Stamp, storedStamp: Stamp) {
    logger.log(
      level: level, "discarded as stale",
      metadata: ["entity": "\(type)", "id": "\(id)", "stamp": "\(stamp)", "storedStamp": "\(storedStamp)"])
  }

  public func didRefuseIDChange<T: Identifiable>(_ type: T.Type, id: T.ID, to newID: T.ID) {
    logger.log(
      level: refusals, "refused an update that changes the id",
      metadata: ["entity": "\(type)", "id": "\(id)", "newID": "\(newID)"])
  }

  public func didFindUnrelatedEntity<T: Identifiable>(in type: T.Type, at path: String, advice: String) {
    logger.log(
      level: refusals, "holds an entity that is not followed",
      metadata: ["entity": "\(type)", "path": "\(path)", "advice": "\(advice)"])
  }

  public func didRefuse<T: Identifiable>(_ type: T.Type, id: T.ID, reason: RefusalReason) {
    logger.log(
      level: refusals, "refused a write, or a part of it",
      metadata: ["entity": "\(type)", "id": "\(id)", "reason": "\(reason)"])
  }

  public func didRefuseUpdate<T>(_ alias: AliasKey<T>) {
    logger.log(
      level: refusals, "refused an update of an alias that names nothing",
      metadata: ["entity": "\(T.self)", "alias": "\(alias.name)"])
  }

  public func didMeetStampAheadOfClock<T: Identifiable>(_ type: T.Type, id: T.ID, stamp: Stamp, clock: Stamp) {
    logger.log(
      level: refusals, "discarded a write without a stamp: the stored stamp is ahead of the clock",
      metadata: ["entity": "\(type)", "id": "\(id)", "storedStamp": "\(stamp)", "clock": "\(clock)"])
  }

  public func didReceiveImpreciseStamp<T: Identifiable>(_ type: T.Type, id: T.ID, stamp: Stamp) {
    logger.log(
      level: refusals, "received a stamp too large to be exact",
      metadata: ["entity": "\(type)", "id": "\(id)", "stamp": "\(stamp)"])
  }

  public func didStall(for duration: Duration) {
    logger.log(
      level: refusals, "waits for another thread's transaction",
      metadata: ["duration": "\(duration)"])
  }

  public func didDropOptimisticLayer(_ error: any Error) {
    logger.log(
      level: refusals, "dropped an optimistic layer that does not apply any longer", metadata: ["reason": "\(error)"])
  }

  public func didRegisterAlias<T>(_ alias: AliasKey<T>) {
    logger.log(level: level, "registered an alias", metadata: ["entity": "\(T.self)", "alias": "\(alias.name)"])
  }

  public func didUnregisterAlias<T>(_ alias: AliasKey<T>) {
    logger.log(level: level, "unregistered an alias", metadata: ["entity": "\(T.self)", "alias": "\(alias.name)"])
  }

  public func didRelease<T: Identifiable>(_ type: T.Type, id: T.ID) {
    logger.log(level: level, "released", metadata: ["entity": "\(type)", "id": "\(id)"])
  }
}
