import Concord
import ConcordPersistence
import Dispatch
import Foundation

/// The state of an outbox, guarded by one lock.
struct OutboxState {
  // MARK: Stored actions

  var stores: [StoreAttachment: Store] = [:]
  /// The pending actions and the dead letters.
  var items: [OutboxID: Item] = [:]
  var lanes = OutboxLanes()
  /// Whether the last reading failed. What is known then may be sent already, so that nothing is sent.
  var isUnread = false
  /// The number of the loop that reads again.
  var rereading: Int?

  /// An attached store.
  struct Store {
    /// The version up to which the outbox was read; `nil` if all rows are to be read.
    var version: OutboxVersion?
    /// Whether the outbox was ever read.
    var wasRead = false
    /// The hold that keeps other processes from sending the store's actions.
    var hold: OutboxHold?
    /// The number of the store's ``items``.
    var count = 0

    /// Whether this process may send the store's actions.
    var isHeld: Bool { hold?.isHeld ?? false }
  }

  struct Item {
    let id: OutboxID
    let row: OutboxRow
    /// `nil` if its type is not known.
    let action: (any ForwardAction)?

    var lane: OutboxLanes.Key { .init(entity: row.entity, id: row.id) }
  }

  // MARK: Sending

  var policy = OutboxPolicy()
  var transport: (any Transport)?
  var carrier: CarrierReference?
  var isStarted = false
  /// Whether the ``Connect`` was released.
  var hasEnded = false
  /// Whether a stop detaches the stores.
  var isDetaching = false
  /// The reasons for which nothing is sent.
  var holds: Set<ActionScheduler.Hold> = []
  var isReachable = false
  /// The stores that are about to be detached, whose actions are no longer sent.
  var leaving: Set<StoreAttachment> = []
  /// The number of the loop that waits for other processes to stop sending, and whether it has to look again.
  var holding: Int?
  var mustHold = false
  /// The number of pauses that delay all sending.
  var pauses = 0
  var running = RunningSends()
  /// The threads that wait for the end of a store's sending.
  var leavers: [StoreAttachment: [DispatchSemaphore]] = [:]
  /// The waiting tasks that a stop cancels; `nil` until the task is known.
  var waits: [Int: Task<Void, Never>?] = [:]
  var failures: [OutboxID: Failure] = [:]
  /// The actions that are being withdrawn, which are not sent.
  var withdrawing: Set<OutboxID> = []
  /// The actions that steps can take back, by their keys.
  var followed = FollowedActions()
  var nextNumber = 0

  struct Failure {
    var count = 0
    var error = ""
    /// The number of successive responses whose result was elsewhere and unavailable.
    var lostResults = 0
  }

  // MARK: Streams and waiting tasks

  let events = EventStreams<OutboxEvent>(keepingNewest: 1024)
  var waiting: [Int: CheckedContinuation<Void, Never>] = [:]

  var canSend: Bool { isStarted && holds.isEmpty && isReachable && pauses == 0 && !isUnread }
  var isIdle: Bool { running.isEmpty && lanes.isIdle }

  /// The stores whose actions this process may send.
  var sentStores: Set<StoreAttachment> { Set(stores.filter(\.value.isHeld).keys).subtracting(leaving) }

  /// Releases the holds that were lost.
  ///
  /// - Returns: whether there were any.
  mutating func releaseLostHolds() -> Bool {
    let lost = stores.filter { $1.hold != nil && !$1.isHeld }.map(\.key)
    for attachment in lost { stores[attachment]?.hold = nil }
    return !lost.isEmpty
  }

  mutating func takeNumber() -> Int {
    nextNumber += 1
    return nextNumber
  }

  func entry(_ item: Item) -> OutboxEntry {
    let failure = failures[item.id]
    return OutboxEntry(
      key: IdempotencyKey(rawValue: item.row.key), name: item.row.action, action: item.action,
      entity: "\(item.row.entity) \(item.row.id)", forwarded: .init(timeIntervalSince1970: item.row.forwarded),
      attempts: failure?.count ?? 0, lastError: failure?.error, isSending: running.contains(item.id), row: item.id)
  }

  func letter(_ item: Item) -> DeadLetter { DeadLetter(entry: entry(item), reason: item.row.reason ?? "") }

  func tell(_ event: OutboxEvent) { events.send(event) }

  /// Removes and returns the tasks that wait for an empty outbox, if it is empty or has ended.
  mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] {
    guard isIdle || hasEnded else { return [] }
    defer { waiting = [:] }
    return Array(waiting.values)
  }
}
