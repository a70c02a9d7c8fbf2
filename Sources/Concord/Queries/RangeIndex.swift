/// An index of queries by the ranges that they demand a property to be in, so that a change costs only the queries that it concerns.
final class RangeIndex<T: Identifiable & Sendable> {
  private let key: (T) -> RangeKey?
  private var queries = IntervalTree<RangeKey, QueryHub<T>>()
  /// The property of each entity, by the number of the entity; `nil` where `<` does not order it.
  private var keys: [UInt64: RangeKey?] = [:]

  init(_ key: @escaping (T) -> RangeKey?) { self.key = key }

  var isEmpty: Bool { queries.isEmpty }

  func add(_ query: QueryHub<T>, _ interval: ValueInterval<RangeKey>) { queries.insert(query, interval) }

  func remove(_ query: QueryHub<T>, _ interval: ValueInterval<RangeKey>) { queries.remove(query, interval) }

  /// Notes what became of an entity, and calls a closure with the queries that may have found it before, or find it now.
  func note(_ number: UInt64, became value: T?, _ body: (QueryHub<T>) -> Void) {
    let new = value.map(key)
    let old = new.map { keys.updateValue($0, forKey: number) } ?? keys.removeValue(forKey: number)
    switch (old, new) {
    case (nil, nil): break
    // Nothing is known of what is not ordered.
    case (.some(nil), _), (_, .some(nil)): queries.forEach(body)
    case (.some(let old?), nil): queries.forEach(around: old, body)
    case (nil, .some(let new?)): queries.forEach(around: new, body)
    case (.some(let old?), .some(let new?)):
      queries.forEach(around: new, body)
      if old != new { queries.forEach(around: old, butNot: new, body) }
    }
  }
}
