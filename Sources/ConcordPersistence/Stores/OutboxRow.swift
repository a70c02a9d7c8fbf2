public import ConcordModel

/// A forwarded action, as a store keeps it beside the rows of entities.
public struct OutboxRow: Sendable, Hashable {
  /// Gives the order in which actions were forwarded; 0 until the store has given one.
  public var number: Int64 = 0
  /// By which the web service recognises the request: the same however often it is sent.
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
  /// Why it was refused.
  public var reason: String?
  /// When it was forwarded, in seconds since 1970.
  public var forwarded: Double

  /// The states of a forwarded action.
  public enum State: String, Sendable, CaseIterable {
    /// It is to be sent.
    case pending
    /// The service refused it for good: a dead letter.
    case refused
    /// The service has accepted it, and what it changes is stored.
    case sent
    /// It was given up.
    case dropped

    /// Whether nothing is left to be done. Such rows only tell others what became of an action, and go after a while.
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

/// How far an outbox has been read.
public struct OutboxVersion: Sendable, Hashable {
  /// Differs from file to file.
  public var epoch: Int64
  /// Grows with each row that is written.
  public var number: Int64

  /// Creates a version from its parts.
  public init(epoch: Int64, number: Int64) { (self.epoch, self.number) = (epoch, number) }

  /// The version of an outbox that nothing was ever written to. What is written later is all new to those who have read it.
  public static let empty = OutboxVersion(epoch: 0, number: 0)

  /// Whether those who have read up to here can be told what is new, or have to read all.
  ///
  /// - Parameter forgotten: up to where finished rows may be missing.
  func isFollowed(by version: OutboxVersion, forgotten: Int64) -> Bool {
    (epoch == version.epoch || self == .empty) && number >= forgotten
  }
}

/// What is new in an outbox.
public struct OutboxChanges: Sendable {
  /// The version up to which it was read.
  public var version: OutboxVersion
  /// Rows that came or changed, in order.
  public var rows: [OutboxRow]
  /// Whether these are all that are not finished, so that what was known before is void.
  public var isWhole: Bool
  /// Whether all that was there before was cleared.
  public var wasCleared: Bool

  /// Creates a list of changes.
  public init(
    version: OutboxVersion = .empty, rows: [OutboxRow] = [], isWhole: Bool = true, wasCleared: Bool = false
  ) {
    (self.version, self.rows, self.isWhole, self.wasCleared) = (version, rows, isWhole, wasCleared)
  }
}

/// Says that this process sends what is in an outbox, as long as it is retained, and no other does.
public final class OutboxHold: Sendable {
  private let end: @Sendable () -> Void

  /// Creates a hold; `end` is called once when it is released.
  public init(_ end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }
}
