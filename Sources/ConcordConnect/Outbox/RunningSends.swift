/// The actions that are being sent, with the tasks that send them.
///
/// Whoever begins to send an action makes its task afterwards, and without the lock. Meanwhile the task may have failed, and another one have
/// begun to send the action again: each beginning has a number, so that the task of one is not taken for that of another.
struct RunningSends {
  private struct Send {
    let number: Int
    /// `nil` until it is made.
    var task: Task<Void, Never>?
  }

  private var sends: [OutboxID: Send] = [:]
  private var lastNumber = 0

  var count: Int { sends.count }
  var isEmpty: Bool { sends.isEmpty }
  /// The tasks that are known.
  var tasks: [Task<Void, Never>] { sends.values.compactMap(\.task) }

  func contains(_ id: OutboxID) -> Bool { sends[id] != nil }

  /// Whether an action of a store is being sent.
  func contains(of attachment: StoreAttachment) -> Bool { sends.keys.contains { $0.attachment == attachment } }

  /// Returns an action that meets a condition; `nil` if none does.
  func first(where isWanted: (OutboxID) -> Bool) -> OutboxID? { sends.keys.first(where: isWanted) }

  /// Returns the known tasks of the actions that meet a condition.
  func tasks(where isWanted: (OutboxID) -> Bool) -> [Task<Void, Never>] {
    sends.compactMap { isWanted($0) ? $1.task : nil }
  }

  /// Notes that an action begins to be sent.
  ///
  /// - Returns: the number of the beginning.
  mutating func begin(_ id: OutboxID) -> Int {
    lastNumber += 1
    sends[id] = Send(number: lastNumber)
    return lastNumber
  }

  /// Notes the task that sends an action, unless that has ended.
  ///
  /// - Parameter number: that of the beginning.
  mutating func didMake(_ task: Task<Void, Never>, for id: OutboxID, _ number: Int) {
    if sends[id]?.number == number { sends[id]?.task = task }
  }

  mutating func end(_ id: OutboxID) { sends[id] = nil }
}
