/// An index of queries by the ranges that they demand a property to be in, so that a change costs only the queries that it concerns.
final class RangeIndex<T: Identifiable & Sendable> {
  private let key: (T) -> RangeKey?
  private var queries = IntervalTree<RangeKey, QueryHub<T>>()
  /// The property of each entity.
  private var keys = KeptRangeKeys()

  init(_ key: @escaping (T) -> RangeKey?) { self.key = key }

  var isEmpty: Bool { queries.isEmpty }

  func add(_ query: QueryHub<T>, _ interval: ValueInterval<RangeKey>) { queries.insert(query, interval) }

  func remove(_ query: QueryHub<T>, _ interval: ValueInterval<RangeKey>) { queries.remove(query, interval) }

  /// Notes what became of an entity, and calls a closure with the queries that may have found it before, or find it now: whether they may find
  /// it now.
  func note(_ number: UInt64, became value: T?, _ body: (_ query: QueryHub<T>, _ mayFind: Bool) -> Void) {
    func found(_ query: QueryHub<T>) { body(query, true) }
    func lost(_ query: QueryHub<T>) { body(query, false) }
    let new = value.map { KeptRangeKeys.State(key($0)) } ?? .absent
    switch (keys.replace(number, by: new), new) {
    case (.absent, .absent): break
    // Nothing is known of what is not ordered.
    case (_, .unordered): queries.forEach(found)
    case (.unordered, .absent): queries.forEach(lost)
    case (.unordered, .key(let new)):
      queries.forEach(lost)
      queries.forEach(around: new, found)
    case (.key(let old), .absent): queries.forEach(around: old, lost)
    case (.absent, .key(let new)): queries.forEach(around: new, found)
    case (.key(let old), .key(let new)):
      queries.forEach(around: new, found)
      if old != new { queries.forEach(around: old, butNot: new, lost) }
    }
  }
}
