import ConcordModel

/// The feed of changes of a memory store.
struct MemoryFeed {
  private let epoch = Int64.random(in: 1 ... .max)
  private let limit: Int
  /// The last changes, with the number of those before them, which are forgotten.
  private var changes: [RowChange] = []
  private var forgotten = 0

  init(_ limits: FeedLimits) { limit = min(max(0, limits.changes), Int.max / 2 - 16) }

  var position: StorePosition { StorePosition(rawValue: "\(epoch).\(forgotten + changes.count)") }

  /// Adds the changes of a commit, and forgets the oldest ones. Those that a position needs are kept at least until ``FeedLimits/changes``
  /// others have followed.
  mutating func add(_ commit: [RowChange]) {
    changes += commit
    // Seldom, since all others are moved.
    guard changes.count > limit + limit / 4 + 16 else { return }
    let count = changes.count - limit
    changes.removeFirst(count)
    forgotten += count
  }

  func changes(since position: StorePosition, of entities: Set<EntityDescription>?, limit: Int) throws -> RowChanges? {
    let parts = position.rawValue.split(separator: ".")
    guard parts.count == 2, parts[0] == "\(epoch)", let number = Int(parts[1]), number >= forgotten,
      number - forgotten <= changes.count
    else { return nil }
    var merged = MergedChanges(hasBefore: true)
    var count = 0
    for change in changes[(number - forgotten)...] where entities?.contains(change.key.entity) ?? true {
      count += 1
      guard count <= limit else {
        var keys: Set<EntityKey> = []
        let most = RowChanges.mostKeys(for: limit)
        for change in changes[(number - forgotten)...] where entities?.contains(change.key.entity) ?? true {
          guard keys.count <= most else { return nil }
          keys.insert(change.key)
        }
        return keys.count > most ? nil : RowChanges(keys: Array(keys))
      }
      merged.add(change.key, before: change.before)
      for added in change.added { merged.add(added, to: change.key) }
    }
    return try merged.changes { _ in nil }
  }
}
