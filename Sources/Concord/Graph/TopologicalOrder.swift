/// A position in a topological order: of a cycle, or of a node in none.
final class Rank {
  /// A number that increases along the order; further ranks may be put between.
  fileprivate(set) var label = 0
  fileprivate var previous: Borrowed<Rank>?
  fileprivate var next: Borrowed<Rank>?
  /// Scratch for the search of components.
  var mark = 0

  /// Whether the position is in the order.
  var isRanked: Bool { previous != nil }
}

/// The order of components in which each comes before those that it leads to.
///
/// A list whose elements have labels, so that two are compared at once; where there is no room for a label, those that follow
/// get other ones (Dietz and Sleator, "Two algorithms for maintaining order in a list", 1987).
final class TopologicalOrder {
  // Neither is ever handed out.
  private let first = Rank()
  private let last = Rank()
  /// The distance between labels at the ends.
  private static let step = 1 << 20

  /// The number of ranks that got another label, which tests compare.
  private(set) var relabelled = 0

  init() {
    // Far apart, and near enough for their difference to be a number.
    (first.label, last.label) = (-1 << 61, 1 << 61)
    first.next = Borrowed(last)
    last.previous = Borrowed(first)
  }

  func append(_ rank: Rank) { last.previous?.use { insert(rank, after: $0) } }
  func prepend(_ rank: Rank) { insert(rank, after: first) }
  func insert(_ rank: Rank, before other: Rank) { other.previous?.use { insert(rank, after: $0) } }

  func insert(_ rank: Rank, after other: Rank) {
    guard !rank.isRanked, let next = other.next?.use({ $0 }) else { return }
    if next.label - other.label < 2 { makeRoom(after: other) }
    rank.label = label(between: other, next)
    (rank.previous, rank.next) = (Borrowed(other), Borrowed(next))
    other.next = Borrowed(rank)
    next.previous = Borrowed(rank)
  }

  private func label(between a: Rank, _ b: Rank) -> Int {
    if a === first, b === last { return 0 }
    // What grows at its ends is not to use up the labels.
    if b === last, b.label - a.label > 2 * Self.step { return a.label + Self.step }
    if a === first, b.label - a.label > 2 * Self.step { return b.label - Self.step }
    return a.label + (b.label - a.label) / 2
  }

  /// Takes a rank out. It keeps its label.
  func remove(_ rank: Rank) {
    guard let previous = rank.previous, let next = rank.next else { return }
    previous.use { $0.next = next }
    next.use { $0.previous = previous }
    (rank.previous, rank.next) = (nil, nil)
  }

  func move(_ rank: Rank, after other: Rank) {
    if rank === other { return }
    remove(rank)
    insert(rank, after: other)
  }

  func move(_ rank: Rank, before other: Rank) {
    if rank === other { return }
    remove(rank)
    insert(rank, before: other)
  }

  /// Gives those that follow other labels, as many as are needed to spread them.
  private func makeRoom(after rank: Rank) {
    var count = 1
    var end = rank
    while let next = end.next?.use({ $0 }) {
      end = next
      if end.label - rank.label > count * count { break }
      count += 1
    }
    let gap = (end.label - rank.label) / count
    var (current, label) = (rank, rank.label)
    for _ in 1..<max(1, count) {
      guard let next = current.next?.use({ $0 }), next !== last else { return }
      label += gap
      next.label = label
      current = next
      relabelled += 1
    }
  }

  /// All ranks, in order.
  var all: [Rank] {
    var found: [Rank] = []
    var rank = first.next
    while let next = rank?.use({ $0 }), next !== last {
      found.append(next)
      rank = next.next
    }
    return found
  }
}
