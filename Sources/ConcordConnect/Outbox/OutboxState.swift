import Concord
import ConcordPersistence
import Foundation

/// What an outbox knows, and what it does now. One lock guards it.
struct OutboxState {
  // MARK: What is in the store

  var version: OutboxVersion?
  /// Whether a store was read.
  var hasRead = false
  /// Those that are pending, and dead letters.
  var items: [Int64: Item] = [:]
  var lanes = OutboxLanes()

  struct Item {
    let row: OutboxRow
    /// `nil` if its type is not known.
    let action: (any ForwardAction)?

    var lane: OutboxLanes.Key { .init(entity: row.entity, id: row.id) }
  }

  // MARK: Sending

  var policy = OutboxPolicy()
  var transport: (any Transport)?
  var isStarted = false
  /// Why nothing is sent.
  var holds: Set<ActionScheduler.Hold> = []
  var isReachable = false
  /// Says that no other process sends, and for which store.
  var hold: OutboxHold?
  var heldHome: PersistentStore?
  /// How many wait until the service wants to be asked again, or until nothing is sent.
  var pauses = 0
  /// What is being sent; `nil` until its task is known.
  var running: [Int64: Task<Void, Never>?] = [:]
  /// What waits until a stop; `nil` until its task is known.
  var waits: [Int: Task<Void, Never>?] = [:]
  var failures: [Int64: Failure] = [:]
  var nextNumber = 0

  struct Failure {
    var count: Int
    var error: String
  }

  // MARK: Those who follow

  var streams: [Int: AsyncStream<OutboxEvent>.Continuation] = [:]
  var waiting: [Int: CheckedContinuation<Void, Never>] = [:]

  var canSend: Bool { isStarted && holds.isEmpty && isReachable && hold != nil && pauses == 0 }
  var isIdle: Bool { running.isEmpty && lanes.isIdle }

  mutating func takeNumber() -> Int {
    nextNumber += 1
    return nextNumber
  }

  func entry(_ item: Item) -> OutboxEntry {
    let failure = failures[item.row.number]
    return OutboxEntry(
      key: IdempotencyKey(rawValue: item.row.key), name: item.row.action, action: item.action,
      entity: "\(item.row.entity) \(item.row.id)", forwarded: .init(timeIntervalSince1970: item.row.forwarded),
      attempts: failure?.count ?? 0, lastError: failure?.error, isSending: running[item.row.number] != nil,
      number: item.row.number)
  }

  func letter(_ item: Item) -> DeadLetter { DeadLetter(entry: entry(item), reason: item.row.reason ?? "") }

  func tell(_ event: OutboxEvent) { for number in streams.keys.sorted() { streams[number]?.yield(event) } }

  /// Those who wait until nothing is left, if nothing is.
  mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] {
    guard isIdle else { return [] }
    defer { waiting = [:] }
    return Array(waiting.values)
  }
}
