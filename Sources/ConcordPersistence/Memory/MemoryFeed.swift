import ConcordModel

/// The feed of changes of a memory store.
struct MemoryFeed {
  private let epoch = Int64.random(in: 1 ... .max)
  /// The changes of all commits since the feed was started.
  private var changes: [RowChange] = []

  var position: StorePosition { StorePosition(rawValue: "\(epoch).\(changes.count)") }

  /// Adds the changes of a commit.
  mutating func add(_ commit: [RowChange]) { changes += commit }

  func changes(since position: StorePosition) -> RowChanges? {
    let parts = position.rawValue.split(separator: ".")
    guard parts.count == 2, parts[0] == "\(epoch)", let count = Int(parts[1]), count <= changes.count, count >= 0 else {
      return nil
    }
    return RowChanges(merging: changes[count...], hasBefore: true)
  }
}

extension RowChanges {
  /// Merges the changes of each row, in their order.
  init(merging changes: some Sequence<RowChange>, hasBefore: Bool) {
    var positions: [EntityKey: Int] = [:]
    var rows: [RowChange] = []
    for change in changes {
      if let position = positions[change.key] {
        rows[position].added.formUnion(change.added)
      } else {
        positions[change.key] = rows.count
        rows.append(change)
      }
    }
    self.init(rows: rows, hasBefore: hasBefore)
  }
}
