import ConcordModel
import Foundation

/// The forwarded actions of a memory store.
struct MemoryOutbox {
  private(set) var rows: [Int64: OutboxRow] = [:]
  /// The writes that readers may not have seen yet, oldest first.
  private var writes: [Write] = []
  private var version: OutboxVersion?
  /// Finished rows up to this one may be missing.
  private var forgotten: Int64 = 0
  /// The version at which the outbox was last cleared.
  private var cleared: Int64 = 0

  private struct Write {
    let version: Int64
    let number: Int64
  }

  /// The state before a change.
  enum Undo {
    case write(number: Int64, old: OutboxRow?, version: OutboxVersion?)
    case clear(MemoryOutbox)
  }

  /// - Complexity: the number of rows that were written since, unless all are to be read.
  func changes(after known: OutboxVersion?) -> OutboxChanges {
    guard let version else { return OutboxChanges(isWhole: known != .empty) }
    let isWhole = known.map { !$0.isFollowed(by: version, forgotten: forgotten) } ?? true
    let found =
      isWhole
      ? rows.values.filter { !$0.state.isFinished }
      : Set(writes[position(after: known?.number ?? 0)...].map(\.number)).compactMap { rows[$0] }
    return OutboxChanges(
      version: version, rows: found.sorted { $0.number < $1.number }, isWhole: isWhole,
      wasCleared: known.map { $0.epoch == version.epoch && $0.number < cleared } ?? false)
  }

  /// The position of the first write after a version.
  private func position(after version: Int64) -> Int {
    var (low, high) = (0, writes.count)
    while low < high {
      let middle = (low + high) / 2
      if writes[middle].version <= version { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Adds a row, or replaces one.
  mutating func write(_ row: OutboxRow) -> (row: OutboxRow, undo: Undo) {
    let before = version
    let next = advance()
    var row = row
    if row.number == 0 { row.number = next }
    let undo = Undo.write(number: row.number, old: rows.updateValue(row, forKey: row.number), version: before)
    writes.append(Write(version: next, number: row.number))
    if let limit = OutboxLimits.forgotten(at: next) { forget(before: limit) }
    return (row, undo)
  }

  mutating func clear() -> Undo {
    let undo = Undo.clear(self)
    cleared = advance()
    forgotten = cleared
    rows = [:]
    writes = []
    return undo
  }

  /// Undoes the last change. Finished rows that were forgotten since stay so.
  mutating func undo(_ change: Undo) {
    switch change {
    case .write(let number, let old, let version):
      rows[number] = old
      writes.removeLast()
      self.version = version
    case .clear(let before): self = before
    }
  }

  private mutating func advance() -> Int64 {
    let next = OutboxVersion(epoch: version?.epoch ?? .random(in: 1 ... .max), number: (version?.number ?? 0) + 1)
    version = next
    return next.number
  }

  /// Deletes finished rows, and the writes that no reader is given one by one any longer.
  private mutating func forget(before limit: Int64) {
    guard limit > forgotten else { return }
    let end = position(after: limit)
    let later = Set(writes[end...].map(\.number))
    for write in writes[..<end] where !later.contains(write.number) && rows[write.number]?.state.isFinished ?? false {
      rows[write.number] = nil
    }
    writes.removeFirst(end)
    forgotten = limit
  }
}

/// The limits on finished rows, which are kept for a while so that readers fetch only new rows.
package enum OutboxLimits {
  /// The number of writes for which finished rows are kept.
  private static let remembered: Int64 = 1024
  /// After how many writes they are looked for.
  private static let sweep: Int64 = 256

  /// Returns the version up to which finished rows are forgotten with a write; `nil` if they are not looked for.
  package static func forgotten(at version: Int64) -> Int64? {
    version > remembered && version.isMultiple(of: sweep) ? version - remembered : nil
  }
}
