import Foundation

/// One value of an entity, as a query looks at it. It never changes: a new value is a new entry.
// Unchecked, because its superclass is; what it adds never changes.
final class QueryEntry<T: Sendable>: AnyEntry, @unchecked Sendable {
  let value: T

  init(_ value: T, number: UInt64) {
    self.value = value
    super.init(number: number)
  }
}

/// The order of a query: that of the sort descriptors, then of the ids, then of arrival. So no two entities are equal.
// Unchecked, because the closures of Foundation's sort descriptors, which are sendable, are not marked so; nothing ever changes.
package final class EntryOrder<T: Identifiable & Sendable>: @unchecked Sendable {
  private let order: TotalOrder<T>
  private let compareIDs: ((T.ID, T.ID) -> ComparisonResult)?
  private let rank: ((T) -> UInt64?)?

  init(_ descriptors: [SortDescriptor<T>]) {
    order = TotalOrder(descriptors)
    compareIDs = IDOrder.comparison(of: T.ID.self)
    let rankOfID = order.isTrivial ? IDOrder.rank(of: T.ID.self) : nil
    rank = rankOfID.map { rank in { rank($0.id) } } ?? order.rank
  }

  /// Creates an order in which entities that the descriptors do not tell apart are in another order than that of their ids.
  package init(_ descriptors: [SortDescriptor<T>], ties: @escaping @Sendable (T.ID, T.ID) -> ComparisonResult) {
    order = TotalOrder(descriptors)
    compareIDs = ties
    rank = order.rank
  }

  /// The number of descriptors.
  var count: Int { order.count }

  func rank(of value: T) -> SortRank {
    guard let number = rank?(value) else { return SortRank() }
    return SortRank(number: number, isKnown: true)
  }

  func compare(_ a: AnyEntry, _ b: AnyEntry) -> Precedence {
    if a === b { return .same }
    if a.rank.isKnown, b.rank.isKnown, a.rank.number != b.rank.number {
      return a.rank.number < b.rank.number ? .before : .after
    }
    return compareValues(a.known(as: QueryEntry<T>.self), b.known(as: QueryEntry<T>.self))
  }

  private func compareValues(_ a: QueryEntry<T>, _ b: QueryEntry<T>) -> Precedence {
    var result = order.compare(a.value, b.value)
    if result == .orderedSame, let compareIDs { result = compareIDs(a.value.id, b.value.id) }
    return switch result {
    case .orderedAscending: .before
    case .orderedDescending: .after
    case .orderedSame: a.number == b.number ? .same : a.number < b.number ? .before : .after
    }
  }

  func precedes(_ a: AnyEntry, _ b: AnyEntry) -> Bool { compare(a, b) == .before }

  /// Sorts entries.
  func sort(_ entries: ContiguousArray<AnyEntry>) -> ContiguousArray<AnyEntry> {
    sortByRank(entries, precedes) ?? ContiguousArray(entries.sorted(by: precedes))
  }
}

/// Sorts entries by their ranks, and those of one rank by `precedes`; `nil` if some have none.
private func sortByRank(
  _ entries: ContiguousArray<AnyEntry>, _ precedes: (AnyEntry, AnyEntry) -> Bool
) -> ContiguousArray<AnyEntry>? {
  var places = ContiguousArray<RankedPlace>()
  places.reserveCapacity(entries.count)
  for index in entries.indices {
    let rank = entries[index].rank
    guard rank.isKnown else { return nil }
    places.append(RankedPlace(rank: rank.number, index: index))
  }
  places.sort { $0.rank < $1.rank }
  var sorted = ContiguousArray<AnyEntry>()
  sorted.reserveCapacity(places.count)
  for place in places { sorted.append(entries[place.index]) }
  var start = 0
  while start < places.count {
    var end = start + 1
    while end < places.count, places[end].rank == places[start].rank { end += 1 }
    if end - start > 1 { sorted[start..<end].sort(by: precedes) }
    start = end
  }
  return sorted
}

private struct RankedPlace {
  let rank: UInt64
  let index: Int
}
