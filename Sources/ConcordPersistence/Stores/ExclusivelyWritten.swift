import ConcordModel
import Foundation

/// A store that one user at a time has for itself, which ``StoreClaims`` do not know of: another process, or who reads a store in memory. Who has
/// another store already must not wait for it for long, since that one may wait for the other store.
package protocol ExclusivelyWritten: RowStore {
  /// Writes as ``RowStore/write(origin:_:)``, but does not wait for long.
  ///
  /// - Throws: ``StoreIsTaken`` if somebody has the store; the closure was not called then.
  func writeSoon<R>(origin: ObjectIdentifier?, _ body: (any RowWriting) throws -> R) throws -> R
}

/// A store whose readers wait for other readers and writers, who may wait for what such a reader has.
package protocol BrieflyRead: RowStore {
  /// Reads as ``RowStore/read(_:)``, but does not wait for long.
  ///
  /// - Throws: ``StoreIsTaken`` if somebody has the store; the closure was not called then.
  func readSoon<R>(_ body: (any RowReading) throws -> R) throws -> R
}

/// A store is used by somebody else.
package struct StoreIsTaken: Error {
  /// The seconds after which a writer who has another store lets go of it. Most other writers are ready by then.
  package static let wait: TimeInterval = 0.01

  let store: String
  /// The seconds after which waiting is given up; `nil` if the other one is in this process, and is waited for.
  let patience: TimeInterval?

  package init(store: String, patience: TimeInterval? = nil) { (self.store, self.patience) = (store, patience) }

  /// Runs a closure that writes to several stores, again and again while somebody has one of them.
  ///
  /// - Throws: ``/ConcordModel/StoreError/locked(store:)`` after the patience of a store.
  static func retrying<R>(_ body: () throws -> R) throws -> R {
    let start = ContinuousClock.now
    while true {
      do { return try body() } catch let taken as StoreIsTaken {
        if let patience = taken.patience, start.duration(to: .now) >= .seconds(patience) {
          throw StoreError.locked(store: taken.store)
        }
        // Other writers who have let go of their stores begin again at another time.
        Thread.sleep(forTimeInterval: .random(in: 0.001...0.02))
      }
    }
  }
}
