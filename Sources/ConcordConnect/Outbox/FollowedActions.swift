import Concord
import ConcordPersistence

/// An action that a step has forwarded. Immutable.
struct ForwardedChange: UndoableChange {
  /// The change that the action takes back, and that is to be taken back again if the action is withdrawn; `nil` if there is none.
  var origin: (any UndoableChange)?
  /// The row of the action, which may still be withdrawn; `nil` if it was withdrawn.
  let handle: FollowedAction?
  /// The action that was forwarded, or whose inverse was withdrawn; `nil` if it has none.
  let action: (any ForwardAction)?
  /// The action that takes it back; `nil` if it has none.
  let inverse: (any ForwardAction)?
  /// The number of the outbox that it was forwarded to, which differs from file to file; `nil` if that could not be read.
  let epoch: Int64?

  /// The change without the one that it takes back, which is over.
  var alone: Self { Self(handle: handle, action: action, inverse: inverse, epoch: epoch) }
}

/// The key of a row that is followed for as long as a step has this object.
final class FollowedAction: Sendable {
  let key: String
  init(_ key: String) { self.key = key }
}

/// The rows that steps can take back, as far as their events tell. Guarded by the lock of the outbox' state.
struct FollowedActions {
  /// The fate of an action.
  enum Fate {
    /// The action is to be sent.
    case pending
    case accepted
    /// The service has refused the action, which is a dead letter, or was given up.
    case refused
    /// The store of the action was detached.
    case detached
  }

  struct Followed {
    weak var handle: FollowedAction?
    /// `nil` until the row is read.
    var id: OutboxID?
    /// The right to send under which it was written, until an attempt to send it begins. Nobody else may have sent it while that is held.
    weak var hold: OutboxHold?
    var fate = Fate.pending
  }

  private var known: [String: Followed] = [:]
  private var nextPurge = 64

  subscript(handle: FollowedAction) -> Followed? { known[handle.key] }

  /// Follows a row that is about to be written.
  mutating func follow(_ handle: FollowedAction, _ hold: OutboxHold?) {
    if known.count >= nextPurge {
      known = known.filter { $0.value.handle != nil }
      nextPurge = max(64, 2 * known.count)
    }
    known[handle.key] = Followed(handle: handle, hold: hold)
  }

  /// An attempt to send it begins.
  mutating func didBegin(_ key: String) { known[key]?.hold = nil }

  mutating func take(_ row: OutboxRow, as id: OutboxID) {
    guard known[row.key] != nil else { return }
    known[row.key]?.id = id
    known[row.key]?.fate =
      switch row.state {
      case .pending: .pending
      case .sent: .accepted
      case .refused, .dropped: .refused
      }
  }

  /// A row is gone, and nobody remembers what has become of it.
  mutating func didVanish(_ item: OutboxState.Item) {
    if item.row.state == .pending { known[item.row.key]?.fate = .accepted }
  }

  mutating func didDetach(_ item: OutboxState.Item) { known[item.row.key]?.fate = .detached }

  /// All rows of a store that may have been detached were read.
  mutating func didReadAll(_ rows: [OutboxRow], epoch: Int64) {
    let present = Set(rows.map(\.key))
    for (key, followed) in known
    where followed.fate == .detached && followed.id?.epoch == epoch && !present.contains(key) {
      known[key]?.fate = .accepted
    }
  }
}
