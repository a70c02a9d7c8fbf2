import ConcordModel

/// The feed of changes of a memory store.
struct MemoryFeed {
  private let epoch = Int64.random(in: 1 ... .max)
  private let limit: Int
  /// The last changes, with the number of those before them, which are forgotten.
  private var changes: [RowChange] = []
  private var forgotten = 0
  /// The number of the last change of each row, of the changes that are kept.
  private var last: [EntityKey: Int] = [:]

  init(_ limits: FeedLimits) { limit = min(max(0, limits.changes), Int.max / 2 - 16) }

  var position: StorePosition { StorePosition(rawValue: "\(epoch).\(forgotten + changes.count)") }

  /// Adds the changes of a commit, and forgets the oldest ones. Those that a position needs are kept at least until ``FeedLimits/changes``
  /// further changes have followed.
  mutating func add(_ commit: [RowChange]) {
    for change in commit {
      changes.append(change)
      last[change.key] = forgotten + changes.count
    }
    // Seldom, since all others are moved.
    guard changes.count > limit + limit / 4 + 16 else { return }
    let count = changes.count - limit
    changes.removeFirst(count)
    forgotten += count
    last = last.filter { $0.value > forgotten }
  }

  /// The number of changes that a position sees; `nil` if it is not one of this feed, or older than the changes that are kept.
  private func number(of position: StorePosition) -> Int? {
    let parts = position.rawValue.split(separator: ".")
    guard parts.count == 2, parts[0] == "\(epoch)", let number = Int(parts[1]), number >= forgotten,
      number - forgotten <= changes.count
    else { return nil }
    return number
  }

  func changes(since position: StorePosition, of entities: Set<EntityDescription>?, limit: Int) throws -> RowChanges? {
    guard let number = number(of: position) else { return nil }
    let later = changes[(number - forgotten)...]
    guard later.count <= RowChanges.mostLooked(for: limit) else { return nil }
    var merged = MergedChanges()
    var count = 0
    for change in later where entities?.contains(change.key.entity) ?? true {
      count += 1
      guard count <= limit else { return nil }
      merged.add(change.key, before: change.before)
      for added in change.added { merged.add(added, to: change.key) }
    }
    return try merged.changes { _ in nil }
  }

  func changed(_ keys: [EntityKey], since position: StorePosition) -> Set<EntityKey>? {
    guard let number = number(of: position) else { return nil }
    return Set(keys.filter { last[$0].map { $0 > number } ?? false })
  }
}
