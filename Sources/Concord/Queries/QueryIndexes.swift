/// All queries about a type, by what they demand of its properties.
struct QueryIndexes<T: Identifiable & Sendable> {
  /// The queries that every change may concern.
  private var others: [ObjectIdentifier: QueryHub<T>] = [:]
  private var equalities: [PropertyPath: EqualityIndex<T>] = [:]
  private var ranges: [PropertyPath: RangeIndex<T>] = [:]

  var isEmpty: Bool { others.isEmpty && !haveKeys }

  /// Whether there are queries that are found by properties.
  var haveKeys: Bool { !equalities.isEmpty || !ranges.isEmpty }

  /// - Parameter entities: calls a closure with each entity and its number, for a property by which no query was found yet.
  mutating func add(_ query: QueryHub<T>, _ entities: ((UInt64, T?) -> Void) -> Void) {
    guard let demand = query.demand else {
      others[ObjectIdentifier(query)] = query
      return
    }
    switch demand.condition {
    case .value(let value, let key):
      let index = equalities[demand.property] ?? EqualityIndex(key)
      if index.isEmpty { entities { index.note($0, became: $1) { _ in } } }
      index.add(query, value)
      equalities[demand.property] = index
    case .interval(let interval, let key):
      let index = ranges[demand.property] ?? RangeIndex(key)
      if index.isEmpty { entities { index.note($0, became: $1) { _ in } } }
      index.add(query, interval)
      ranges[demand.property] = index
    }
  }

  mutating func remove(_ query: QueryHub<T>) {
    others[ObjectIdentifier(query)] = nil
    guard let demand = query.demand else { return }
    switch demand.condition {
    case .value(let value, _):
      equalities[demand.property]?.remove(query, value)
      if equalities[demand.property]?.isEmpty ?? false { equalities[demand.property] = nil }
    case .interval(let interval, _):
      ranges[demand.property]?.remove(query, interval)
      if ranges[demand.property]?.isEmpty ?? false { ranges[demand.property] = nil }
    }
  }

  /// Notes what became of an entity, and calls a closure with each query that it may concern.
  func note(_ number: UInt64, became value: T?, _ body: (QueryHub<T>) -> Void) {
    others.values.forEach(body)
    for index in equalities.values { index.note(number, became: value, body) }
    for index in ranges.values { index.note(number, became: value, body) }
  }
}
