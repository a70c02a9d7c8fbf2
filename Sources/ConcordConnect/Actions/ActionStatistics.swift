public import Foundation

/// A snapshot of the time and work that an action has used.
public protocol ActionStatistics: Sendable, CustomStringConvertible {
  /// The date at which the action began; `nil` if it has not.
  var startTime: Date? { get }
  /// The date at which the action finished; `nil` if it has not, or never began.
  var finishTime: Date? { get }
  /// The time that the action has run, in seconds, without the completion block.
  var executionTime: TimeInterval { get }
  /// The operations of its ``ActionContext``; `nil` for a ``GenericAction``.
  var contextStatistics: (any ContextStatistics)? { get }
}

/// A snapshot of the operations of an ``ActionContext``. Times are in seconds.
public protocol ContextStatistics: Sendable, CustomStringConvertible {
  /// Entities that saves added.
  var inserts: Int { get }
  /// Entities that saves changed.
  var updates: Int { get }
  /// Entities that saves removed.
  var deletes: Int { get }
  /// Entities that were read: fetched, found, or compared by a merge.
  var fetches: Int { get }
  /// Time in blocks, and in reading and saving outside of blocks.
  var contextBlockTime: TimeInterval { get }
  /// The part of the time spent in reading.
  var fetchTime: TimeInterval { get }
  /// The part of the time spent in saving.
  var saveTime: TimeInterval { get }
}

extension ContextStatistics {
  /// The rest of ``contextBlockTime``.
  public var otherTime: TimeInterval { contextBlockTime - fetchTime - saveTime }
}

extension ActionStatistics {
  /// The time, and what the context did: `0.012 s; 2 inserted, 0 updated, 1 deleted, 3 read, in 0.010 s (…)`.
  public var description: String {
    executionTime.inSeconds + (contextStatistics.map { "; \($0)" } ?? "")
  }
}

extension ContextStatistics {
  /// The operations and their times: `2 inserted, 0 updated, 1 deleted, 3 read, in 0.010 s (0.004 s reading, 0.005 s
  /// saving)`.
  public var description: String {
    "\(inserts) inserted, \(updates) updated, \(deletes) deleted, \(fetches) read, in \(contextBlockTime.inSeconds) "
      + "(\(fetchTime.inSeconds) reading, \(saveTime.inSeconds) saving)"
  }
}

extension TimeInterval {
  /// A text in seconds, to the millisecond.
  fileprivate var inSeconds: String {
    formatted(.number.precision(.fractionLength(3)).grouping(.never).locale(Locale(identifier: "en_US_POSIX"))) + " s"
  }
}

struct ActionSnapshot: ActionStatistics {
  var startTime: Date?
  var finishTime: Date?
  var executionTime: TimeInterval = 0
  var contextStatistics: (any ContextStatistics)?
}

struct ContextSnapshot: ContextStatistics, Equatable {
  var inserts = 0
  var updates = 0
  var deletes = 0
  var fetches = 0
  var contextBlockTime: TimeInterval = 0
  var fetchTime: TimeInterval = 0
  var saveTime: TimeInterval = 0
}

extension Duration {
  var seconds: TimeInterval { TimeInterval(components.seconds) + TimeInterval(components.attoseconds) * 1e-18 }
}
