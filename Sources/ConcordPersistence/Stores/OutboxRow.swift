public import ConcordModel

/// The stored form of a forwarded action, which a store keeps beside the rows of entities.
public struct OutboxRow: Sendable, Hashable {
  /// The number of the action, in the order of forwarding; 0 until the store has assigned one.
  public var number: Int64 = 0
  /// The idempotency key, by which the web service recognises a request that is sent again.
  public var key: String
  /// The name of the action's type.
  public var action: String
  /// The name of the entity's type with which the action keeps its order, and the entity's key.
  public var entity: String
  /// The stored form of the entity's id.
  public var id: StoredValue
  /// The action, encoded as JSON; empty once it is finished.
  public var body: String
  /// The state of the action.
  public var state: State = .pending
  /// The reason of a refusal.
  public var reason: String?
  /// The time of forwarding, in seconds since 1970.
  public var forwarded: Double

  /// The states of a forwarded action.
  public enum State: String, Sendable, CaseIterable {
    /// The action is to be sent.
    case pending
    /// The service has refused the action permanently: a dead letter.
    case refused
    /// The service has accepted the action, and its change is stored.
    case sent
    /// The action was dropped.
    case dropped

    /// Whether the action is finished. Such rows only tell other processes the outcome, and are removed after a while.
    public var isFinished: Bool { self == .sent || self == .dropped }
  }

  /// Creates a row for an action that is about to be forwarded.
  public init(
    key: String, action: String, entity: String, id: StoredValue, body: String, forwarded: Double
  ) {
    (self.key, self.action, self.entity, self.id, self.body) = (key, action, entity, id, body)
    self.forwarded = forwarded
  }
}

/// A position in an outbox, up to which it was read.
public struct OutboxVersion: Sendable, Hashable {
  /// A number that differs from file to file.
  public var epoch: Int64
  /// A number that grows with each written row.
  public var number: Int64

  /// Creates a version from its parts.
  public init(epoch: Int64, number: Int64) { (self.epoch, self.number) = (epoch, number) }

  /// The version of an outbox that was never written to.
  public static let empty = OutboxVersion(epoch: 0, number: 0)

  /// Whether a reader of this version can be given the later rows alone, instead of all rows.
  ///
  /// - Parameter forgotten: the version up to which finished rows may be missing.
  package func isFollowed(by version: OutboxVersion, forgotten: Int64) -> Bool {
    (epoch == version.epoch || self == .empty) && number >= forgotten
  }
}

/// The changes in an outbox since a version.
public struct OutboxChanges: Sendable {
  /// The version up to which the outbox was read.
  public var version: OutboxVersion
  /// The rows that were added or changed, in order.
  public var rows: [OutboxRow]
  /// Whether the rows are all unfinished ones of the outbox, and replace those that were known before.
  public var isWhole: Bool
  /// Whether all earlier rows of the outbox were cleared.
  public var wasCleared: Bool

  /// Creates a list of changes.
  public init(
    version: OutboxVersion = .empty, rows: [OutboxRow] = [], isWhole: Bool = true, wasCleared: Bool = false
  ) {
    (self.version, self.rows, self.isWhole, self.wasCleared) = (version, rows, isWhole, wasCleared)
  }
}

/// A token of the exclusive right to send the actions of an outbox, which ends when it is released.
public final class OutboxHold: Sendable {
  private let isKept: @Sendable () -> Bool
  private let end: @Sendable () -> Void

  /// Creates a hold that nothing but its release ends; `end` is called once when it is released.
  public convenience init(_ end: @escaping @Sendable () -> Void) { self.init(isHeld: { true }, end) }

  /// Creates a hold that may be lost before it is released, such as one that belongs to a connection.
  ///
  /// - Parameters:
  ///   - isHeld: returns `false` once the right is lost. It is called often, on any thread, and must not wait.
  ///   - end: called once when the hold is released.
  public init(isHeld: @escaping @Sendable () -> Bool, _ end: @escaping @Sendable () -> Void) {
    (isKept, self.end) = (isHeld, end)
  }

  /// Whether the right is not lost, as far as that is known here. Once it is lost, another process may have it.
  public var isHeld: Bool { isKept() }

  deinit { end() }
}
