/// All queries about a type, by what they demand of its properties.
struct QueryIndexes<T: Identifiable & Sendable> {
  /// The queries that every change may concern.
  private var others: [ObjectIdentifier: QueryHub<T>] = [:]
  private var equalities: [PropertyPath: EqualityIndex<T>] = [:]
  private var ranges: [PropertyPath: RangeIndex<T>] = [:]

  var isEmpty: Bool { others.isEmpty && !haveKeys }

  /// Whether there are queries that are found by properties.
  var haveKeys: Bool { !equalities.isEmpty || !ranges.isEmpty }

  /// - Parameter forEachEntity: calls a closure with each entity and its number, for a property by which no query was found yet.
  mutating func add(_ query: QueryHub<T>, _ forEachEntity: ((UInt64, T?) -> Void) -> Void) {
    guard let demand = query.demand else {
      others[ObjectIdentifier(query)] = query
      return
    }
    switch demand.condition {
    case .hash(let hash, let hashOf):
      let index = equalities[demand.property] ?? EqualityIndex(hashOf)
      if index.isEmpty { forEachEntity { index.note($0, became: $1) { _, _ in } } }
      index.add(query, hash)
      equalities[demand.property] = index
    case .interval(let interval, let key):
      let index = ranges[demand.property] ?? RangeIndex(key)
      if index.isEmpty { forEachEntity { index.note($0, became: $1) { _, _ in } } }
      index.add(query, interval)
      ranges[demand.property] = index
    }
  }

  mutating func remove(_ query: QueryHub<T>) {
    others[ObjectIdentifier(query)] = nil
    guard let demand = query.demand else { return }
    switch demand.condition {
    case .hash(let hash, _):
      equalities[demand.property]?.remove(query, hash)
      if equalities[demand.property]?.isEmpty ?? false { equalities[demand.property] = nil }
    case .interval(let interval, _):
      ranges[demand.property]?.remove(query, interval)
      if ranges[demand.property]?.isEmpty ?? false { ranges[demand.property] = nil }
    }
  }

  /// Tells the queries that may find an entity of its new value, and of a loss those that may have found the former one, and cannot find this.
  /// So what a query has noted, and would find, is what it is told of when it goes.
  func didChange(_ node: EntityNode<T>, _ number: UInt64, _ core: StoreCore) {
    for query in others.values { query.didChange(node, number, core) }
    guard haveKeys else { return }
    // Only what is up to date has the property by which queries are found.
    note(number, became: core.presentValue(of: node)) { query, mayFind in
      if mayFind { query.didChange(node, number, core) } else { query.didLose(number, core) }
    }
  }

  /// Tells the queries that may have found an entity that it has gone.
  func didLose(_ number: UInt64, _ core: StoreCore) {
    for query in others.values { query.didLose(number, core) }
    note(number, became: nil) { query, _ in query.didLose(number, core) }
  }

  private func note(_ number: UInt64, became value: T?, _ body: (QueryHub<T>, Bool) -> Void) {
    for index in equalities.values { index.note(number, became: value, body) }
    for index in ranges.values { index.note(number, became: value, body) }
  }
}
