import Concord
import ConcordModel

/// An index of the live queries of a view by the values that they compare for equality, so that a change costs only the
/// queries whose result it may change.
final class QueryIndex {
  private var queries: [Int: any ViewQuery] = [:]
  private var groups: [EntityDescription: Group] = [:]
  /// The queries that have to fetch.
  private var toFetch: Set<Int> = []
  /// The queries that have to find out anew what layers affect.
  private var toCheck: Set<Int> = []
  /// The entities that layers change, of the types that a query not about rows alone may contain.
  private(set) var layered: Set<EntityKey> = []
  /// The types of these.
  let wanted = Locked<Set<ObjectIdentifier>>([])
  /// The queries whose results were released.
  private let ended = Locked<[Int]>([])
  private var lastNumber = 0

  /// The queries for one type.
  private struct Group {
    /// The queries whose results depend on the rows of the type alone.
    var flat = QueryLookup()
    /// The queries whose results depend on the entities inside, too.
    var deep = QueryLookup()
    let contained: Set<EntityDescription>
    /// The number of entities that limited queries keep beyond the shown ones.
    var margin = 0

    func isConcerned(by types: Set<EntityDescription>, _ entity: EntityDescription) -> Bool {
      !deep.isEmpty && !contained.isDisjoint(with: types) || !flat.isEmpty && types.contains(entity)
    }

    mutating func change(_ query: any ViewQuery, _ body: (inout QueryLookup) -> Void) {
      if query.isFlat { body(&flat) } else { body(&deep) }
    }
  }

  var isEmpty: Bool { queries.isEmpty }

  /// The queries whose results are retained, in the order in which they were made.
  var running: [any ViewQuery] {
    let gone = Set(ended.withLock { $0 })
    return queries.values.filter { !gone.contains($0.number) }.sorted { $0.number < $1.number }
  }

  // MARK: Coming and going

  /// The number of the next query, and what ends with its result.
  func begin() -> (number: Int, life: QueryLife) {
    lastNumber += 1
    let (number, ended) = (lastNumber, ended)
    return (number, QueryLife { ended.withLock { $0.append(number) } })
  }

  func add(_ query: any ViewQuery) {
    queries[query.number] = query
    if query.isMerged, !query.isFlat {
      toCheck.insert(query.number)
      wanted.withLock { $0.formUnion(query.contained.map { ObjectIdentifier($0.type) }) }
    }
    groups[query.entity, default: Group(contained: query.contained)].change(query) { $0.add(query) }
  }

  /// Removes the queries that have ended.
  func removeEnded() {
    let numbers = ended.withLock { ended in
      defer { ended = [] }
      return ended
    }
    for number in numbers {
      toFetch.remove(number)
      toCheck.remove(number)
      guard let query = queries.removeValue(forKey: number) else { continue }
      groups[query.entity]?.change(query) { $0.remove(query) }
      if let group = groups[query.entity], group.flat.isEmpty, group.deep.isEmpty { groups[query.entity] = nil }
    }
    if !numbers.isEmpty, !wanted.withLock(\.isEmpty) {
      let deep = groups.values.filter { !$0.deep.isEmpty }.flatMap(\.contained)
      wanted.withLock { $0 = Set(deep.map { ObjectIdentifier($0.type) }) }
    }
  }

  /// The number of entities beyond the shown ones that limited queries for a type keep in the view.
  func margin(of entity: EntityDescription) -> Int { groups[entity]?.margin ?? 0 }

  /// Notes what layers change.
  ///
  /// - Returns: whether queries have to be updated for it.
  func follow(_ new: LayeredEntities, _ model: Model) -> Bool {
    for (entity, group) in groups where !group.flat.isEmpty {
      let margin = LayerMargin.of(new.count(of: entity.type), current: group.margin)
      if margin == group.margin { continue }
      groups[entity]?.margin = margin
      for query in queries.values where query.isMerged && query.isFlat && query.entity == entity {
        if query.setMargin(margin) { toFetch.insert(query.number) }
      }
    }
    let types = wanted.withLock { $0 }
    let found = model.entities.filter { types.contains(ObjectIdentifier($0.type)) }.reduce(into: Set<EntityKey>()) {
      $0.formUnion(keys(of: new.ids(of: $1.type), $1))
    }
    if found != layered {
      let changed = Set(found.symmetricDifference(layered).map(\.entity))
      layered = found
      for query in queries.values
      where query.isMerged && !query.isFlat && !query.contained.isDisjoint(with: changed) {
        toCheck.insert(query.number)
      }
    }
    return !toFetch.isEmpty || !toCheck.isEmpty
  }

  // MARK: Finding

  /// Lets the queries about some types fetch anew.
  func mustFetch(_ types: Set<EntityDescription>) {
    for query in queries.values where !query.contained.isDisjoint(with: types) {
      query.mustFetch = true
      toFetch.insert(query.number)
    }
  }

  /// Notes whether a query is to fetch.
  func didUpdate(_ query: any ViewQuery) {
    if query.mustFetch { toFetch.insert(query.number) } else { toFetch.remove(query.number) }
    toCheck.remove(query.number)
  }

  /// Whether the rows of a type are looked at to find the queries that a change concerns.
  func looks(at entity: EntityDescription) -> Bool { groups[entity].map { !$0.flat.isEmpty } ?? false }

  /// The types that are to be read for the queries that a change of entities may concern.
  func types(concernedBy keys: Set<EntityKey>) -> Set<EntityDescription> {
    if queries.isEmpty { return [] }
    let changed = Set(keys.map(\.entity))
    var types: Set<EntityDescription> = []
    for (entity, group) in groups where group.isConcerned(by: changed, entity) { types.formUnion(group.contained) }
    for number in toFetch.union(toCheck) { if let query = queries[number] { types.formUnion(query.contained) } }
    return types
  }

  /// Returns all queries that a change of entities may affect, without reading the entities.
  func all(concernedBy keys: Set<EntityKey>) -> [any ViewQuery] {
    let changed = Set(keys.map(\.entity))
    return queries.values.filter { query in
      query.mustFetch || toCheck.contains(query.number)
        || (groups[query.entity]?.isConcerned(by: changed, query.entity) ?? false)
    }
  }

  /// Returns the queries whose results a change may affect, each with the changed entities that it has to examine, and
  /// those that have to fetch.
  func concerned(by rows: ChangedRows) throws -> [(query: any ViewQuery, ids: [StoredValue])] {
    var found: [Int: [StoredValue]] = [:]
    for number in toFetch.union(toCheck) { found[number] = [] }
    for (entity, group) in groups {
      func find(_ ids: some Sequence<StoredValue>, in lookup: QueryLookup) throws {
        if lookup.isEmpty { return }
        for id in ids { lookup.find(id, try rows.row(of: EntityKey(entity, id))) { found[$0, default: []].append(id) } }
      }
      try find(rows.changed(entity), in: group.flat)
      if !group.deep.isEmpty { try find(rows.affected(entity, group.contained), in: group.deep) }
    }
    return found.sorted { $0.key < $1.key }.compactMap { number, ids in queries[number].map { ($0, ids) } }
  }
}

/// Returns the keys of entities with some ids.
private func keys(of ids: Set<AnyHashable>, _ entity: EntityDescription) -> Set<EntityKey> {
  func keys<T: PersistentEntity>(_ type: T.Type) -> Set<EntityKey> {
    Set(ids.lazy.compactMap { $0.base as? T.ID }.compactMap { try? T.storedKey(of: $0) }.map { EntityKey(entity, $0) })
  }
  return keys(entity.type)
}

/// Finds queries by the values that they compare for equality, and by the entities that they know.
private struct QueryLookup {
  /// For each set of columns that queries compare, the queries by the values there.
  private var byValues: [[StoredColumn]: [[StoredValue]: Set<Int>]] = [:]
  /// The queries here that know an entity, by key.
  private let members = QueryMembers()
  /// The queries that compare nothing for equality.
  private var others: [Int: any ViewQuery] = [:]
  private var count = 0

  var isEmpty: Bool { count == 0 }

  mutating func add(_ query: any ViewQuery) {
    count += 1
    guard let equalities = query.equalities else {
      others[query.number] = query
      return
    }
    query.members = members
    for equality in equalities {
      byValues[equality.columns, default: [:]][equality.values, default: []].insert(query.number)
    }
  }

  mutating func remove(_ query: any ViewQuery) {
    count -= 1
    others[query.number] = nil
    query.members = nil
    for equality in query.equalities ?? [] {
      byValues[equality.columns]?[equality.values]?.remove(query.number)
      if byValues[equality.columns]?[equality.values]?.isEmpty ?? false {
        byValues[equality.columns]?[equality.values] = nil
      }
      if byValues[equality.columns]?.isEmpty ?? false { byValues[equality.columns] = nil }
    }
  }

  /// Calls back with the queries that know an entity, or may find it as it is now.
  func find(_ id: StoredValue, _ row: StoredRow?, _ body: (Int) -> Void) {
    for query in others.values where query.mayConcern(id, row) { body(query.number) }
    if byValues.isEmpty { return }
    let known = members.queries[id] ?? []
    for number in known { body(number) }
    guard let row else { return }
    var seen = Set(known)
    for (columns, queries) in byValues {
      for number in queries[Equality.values(of: row, id, columns)] ?? [] where seen.insert(number).inserted {
        body(number)
      }
    }
  }
}

/// The queries that know an entity, by key.
final class QueryMembers {
  fileprivate(set) var queries: [StoredValue: [Int]] = [:]

  func insert(_ number: Int, _ id: StoredValue) { queries[id, default: []].append(number) }

  func remove(_ number: Int, _ id: StoredValue) {
    guard let position = queries[id]?.firstIndex(of: number) else { return }
    if queries[id]?.count == 1 { queries[id] = nil } else { queries[id]?.remove(at: position) }
  }
}
