import ConcordModel
import Foundation

/// The forwarded actions of a memory store.
struct MemoryOutbox {
  private(set) var rows: [Int64: OutboxRow] = [:]
  /// The version at which each row was last written.
  private var written: [Int64: Int64] = [:]
  private var version: OutboxVersion?
  /// Finished rows up to this one may be missing.
  private var forgotten: Int64 = 0
  /// The version at which the outbox was last cleared.
  private var cleared: Int64 = 0

  func changes(after known: OutboxVersion?) -> OutboxChanges {
    guard let version else { return OutboxChanges(isWhole: known != .empty) }
    let isWhole = known.map { !$0.isFollowed(by: version, forgotten: forgotten) } ?? true
    let found = rows.values.filter { row in
      isWhole ? !row.state.isFinished : (written[row.number] ?? 0) > (known?.number ?? 0)
    }
    return OutboxChanges(
      version: version, rows: found.sorted { $0.number < $1.number }, isWhole: isWhole,
      wasCleared: known.map { $0.epoch == version.epoch && $0.number < cleared } ?? false)
  }

  mutating func write(_ row: OutboxRow) -> OutboxRow {
    let next = advance()
    var row = row
    if row.number == 0 { row.number = next }
    rows[row.number] = row
    written[row.number] = next
    if next.isMultiple(of: OutboxLimits.sweep) { forget(before: next - OutboxLimits.remembered) }
    return row
  }

  mutating func clear() {
    cleared = advance()
    forgotten = cleared
    rows = [:]
    written = [:]
  }

  private mutating func advance() -> Int64 {
    let next = OutboxVersion(epoch: version?.epoch ?? .random(in: 1 ... .max), number: (version?.number ?? 0) + 1)
    version = next
    return next.number
  }

  private mutating func forget(before limit: Int64) {
    guard limit > forgotten else { return }
    for row in rows.values where row.state.isFinished && (written[row.number] ?? 0) <= limit {
      rows[row.number] = nil
      written[row.number] = nil
    }
    forgotten = limit
  }
}

/// The limits on finished rows, which are kept for a while so that readers fetch only new rows.
enum OutboxLimits {
  /// The number of writes for which finished rows are kept.
  static let remembered: Int64 = 1024
  /// After how many writes they are looked for.
  static let sweep: Int64 = 256
}
