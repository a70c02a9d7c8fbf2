import Concord
import ConcordModel
import Foundation

/// Keeps the result of a fetch up to date, by what changed.
///
/// It knows the first entities that the query finds, in order: those shown, those before them, and some after, which enter when
/// others leave. Only when all of these have gone it fetches again.
final class LiveQuery<T: PersistentEntity>: ViewQuery {
  private let number: Int
  private let plan: FetchPlan<T>
  private let entity: EntityDescription
  private let model: Model
  let contained: Set<EntityDescription>
  /// Whether the result depends on nothing but the rows of the type.
  private let isFlat: Bool

  /// The first that the query finds.
  private var entries: [Entry] = []
  private var values: [StoredValue: T] = [:]
  /// Whether the query finds no more.
  private var isComplete = false
  /// Whether others are known, or in another order, than when it was last shown.
  private var isMoved = false
  /// What is shown now.
  private var shown: [StoredValue] = []
  var mustFetch = true
  /// Why the last fetch gave nothing.
  private var failure: String?
  /// Of which entities the values known here are as new as what is shown.
  private var fresh: Set<StoredValue> = []
  /// What the store has found, if it was asked again.
  private var fetched: Result<FetchPlan<T>.Found, any Error>?

  private struct Entry {
    let key: StoredValue
    let value: T
  }

  init(_ number: Int, _ descriptor: FetchDescriptor<T>, model: Model) throws {
    self.number = number
    self.model = model
    entity = try model.entity(T.self)
    plan = FetchPlan(descriptor, entity, model)
    contained = model.contained(in: entity)
    let entity = entity
    isFlat =
      plan.isExact && plan.condition.isOfRow
      && descriptor.sortBy.allSatisfy { descriptor in
        guard let position = descriptor.keyPath.flatMap({ entity.position(of: $0) }) else { return false }
        return entity.columns[position].role == .value
      }
  }

  // MARK: The part that is shown

  private var start: Int { max(0, plan.descriptor.fetchOffset ?? 0) }
  private var end: Int? {
    plan.descriptor.fetchLimit.map { limit in
      let end = start.addingReportingOverflow(max(0, limit))
      return end.overflow ? .max : end.partialValue
    }
  }
  /// How many more than those that are shown are known after a fetch; twice as many at most.
  private var spare: Int { min(100, max(10, (plan.descriptor.fetchLimit ?? 0) / 2)) }

  private var window: ArraySlice<Entry> { entries.dropFirst(start).prefix((end ?? .max) - start) }

  // MARK: Changes

  func isObserved(in store: EntityStore) -> Bool { store.isKnown(QueryResult<T>.self, id: number) }

  func concerns(_ keys: Set<EntityKey>) -> Bool {
    keys.contains { isFlat ? $0.entity == entity : contained.contains($0.entity) }
  }

  func update(_ keys: Set<EntityKey>, _ reading: any RowReading, _ loader: EntityLoader) -> StoreError? {
    fresh = []
    fetched = nil
    do {
      if !mustFetch { try patch(keys, reading, loader) }
      if !mustFetch { try refresh(reading, loader) }
    } catch {
      // Its predicate may throw. Then it fetches, which says so.
      mustFetch = true
    }
    if mustFetch { fetched = Result { try fetchPlan.load(reading, loader) } }
    guard case .failure(let error as StoreError) = fetched, case .danglingReference = error else { return nil }
    return error
  }

  /// What is shown stays until it can be read, unless it was to be fetched anew.
  func fail(_ error: any Error) {
    fetched = mustFetch ? .failure(error) : nil
    mustFetch = true
  }

  /// Changes what is known by what changed in the stores.
  private func patch(_ keys: Set<EntityKey>, _ reading: any RowReading, _ loader: EntityLoader) throws {
    for key in try affected(keys, reading) {
      if let row = try reading.row(of: EntityKey(entity, key)), let value = try loader.find(T.self, key: key),
        try matches(value, row, key, reading)
      {
        if !stays(Entry(key: key, value: value)) {
          leave(key)
          enter(Entry(key: key, value: value))
        }
      } else {
        leave(key)
      }
    }
    if !isComplete, let end, entries.count < end { mustFetch = true }
    if let end, end < .max - 2 * spare, entries.count > end + 2 * spare {
      for entry in entries[(end + spare)...] { values[entry.key] = nil }
      entries.removeSubrange((end + spare)...)
      isComplete = false
    }
  }

  /// Which entities of the type may be in the result, or not, since these changed.
  private func affected(_ keys: Set<EntityKey>, _ reading: any RowReading) throws -> [StoredValue] {
    var found = Set(keys.filter { $0.entity == entity })
    if !isFlat {
      // Up along the references, as far as the type.
      var open = Array(keys.filter { contained.contains($0.entity) })
      var seen = Set(open)
      while let key = open.popLast() {
        for owner in contained where owner.targets.contains(where: { $0 == key.entity.type }) {
          for id in try reading.referrers(to: key, in: owner) {
            let ownerKey = EntityKey(owner, id)
            guard seen.insert(ownerKey).inserted else { continue }
            open.append(ownerKey)
            if owner == entity { found.insert(ownerKey) }
          }
        }
      }
    }
    return found.map(\.id)
  }

  private func matches(_ value: T, _ row: StoredRow, _ key: StoredValue, _ reading: any RowReading) throws -> Bool {
    if plan.isExact { return try RowQuery(entity, where: plan.condition).holds(row, key: key, reading) }
    return try plan.descriptor.predicate?.evaluate(value) ?? true
  }

  private func precedes(_ a: Entry, _ b: Entry) -> Bool {
    switch plan.descriptor.sortBy.compare(a.value, b.value) {
    case .orderedAscending: true
    case .orderedDescending: false
    case .orderedSame: StoredValue.precedes(a.key, b.key)
    }
  }

  /// The first position whose entry does not precede another one.
  private func position(of entry: Entry) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if precedes(entries[middle], entry) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Puts a new value in the place of the one that is known, if it belongs there.
  private func stays(_ entry: Entry) -> Bool {
    guard let value = values[entry.key] else { return false }
    let position = position(of: Entry(key: entry.key, value: value))
    guard entries.indices.contains(position), entries[position].key == entry.key else { return false }
    // What comes last may come after others that are not known.
    guard isComplete || position + 1 < entries.count else { return false }
    guard position == 0 || precedes(entries[position - 1], entry),
      position + 1 == entries.count || precedes(entry, entries[position + 1])
    else { return false }
    entries[position] = entry
    values[entry.key] = entry.value
    fresh.insert(entry.key)
    return true
  }

  private func leave(_ key: StoredValue) {
    guard let value = values.removeValue(forKey: key) else { return }
    isMoved = true
    let position = position(of: Entry(key: key, value: value))
    if entries.indices.contains(position), entries[position].key == key {
      entries.remove(at: position)
    } else {
      // Values that are not ordered at all, such as NaN.
      entries.removeAll { $0.key == key }
    }
  }

  private func enter(_ entry: Entry) {
    let position = position(of: entry)
    // What comes after all that are known may come after others, too.
    guard position < entries.count || isComplete else { return }
    isMoved = true
    entries.insert(entry, at: position)
    values[entry.key] = entry.value
    fresh.insert(entry.key)
  }

  // MARK: The result

  /// The query, with some more than those that are shown.
  private var fetchPlan: FetchPlan<T> {
    var descriptor = plan.descriptor
    descriptor.fetchOffset = nil
    descriptor.fetchLimit = limit
    return FetchPlan(descriptor, entity, model)
  }

  private var limit: Int? { end.map { $0 > .max - spare ? .max : $0 + spare } }

  /// Fetches for the first time.
  func fetch(_ core: ContextCore) throws { try take(fetchPlan.fetch(core)) }

  private func take(_ found: [T]) throws {
    entries = try found.map { Entry(key: try T.storedKey(of: $0.id), value: $0) }
    values = Dictionary(entries.map { ($0.key, $0.value) }) { first, _ in first }
    isComplete = limit.map { found.count < $0 } ?? true
    mustFetch = false
    isMoved = true
    fresh = Set(values.keys)
  }

  func finish(_ store: EntityStore) throws {
    if mustFetch {
      guard let fetched else { return }
      self.fetched = nil
      do { try take(fetchPlan.finish(fetched.get())) } catch {
        // A store that is gone leaves nothing to show.
        (entries, values, isComplete, isMoved) = ([], [:], false, true)
        show(store)
        if StoreError.isOfDetachedStore(error) { return }
        // It is tried again with each save, and told once.
        let isKnown = failure == "\(error)"
        failure = "\(error)"
        if isKnown { return }
        throw error
      }
    }
    failure = nil
    show(store)
  }

  /// Shows it for the first time.
  func observer(in store: EntityStore) -> EntityObserver<[T]> {
    shown = window.map(\.key)
    isMoved = false
    let observer = store.store(QueryResult(id: number, items: window.map(\.value)))
    return observer.map(\.items)
  }

  /// What is to be shown, and how much at its beginning and at its end is shown already.
  private var difference: (keys: [StoredValue], first: Int, last: Int) {
    let keys = window.map(\.key)
    let first = zip(shown, keys).prefix { $0 == $1 }.count
    let last = zip(shown.dropFirst(first).reversed(), keys.dropFirst(first).reversed()).prefix { $0 == $1 }.count
    return (keys, first, last)
  }

  /// Reads again what enters from those that were known but not shown: it may hold older values of the entities inside.
  private func refresh(_ reading: any RowReading, _ loader: EntityLoader) throws {
    guard isMoved else { return }
    let (keys, first, last) = difference
    let present = Set(shown.dropFirst(first).dropLast(last))
    for key in keys.dropFirst(first).dropLast(last) where !fresh.contains(key) && !present.contains(key) {
      if let value = try loader.find(T.self, key: key) { values[key] = value }
    }
  }

  private func show(_ store: EntityStore) {
    guard isMoved else { return }
    isMoved = false
    let (keys, first, last) = difference
    let old = shown
    guard keys != old else { return }
    shown = keys
    store.update(QueryResult<T>.self, id: number) { result in
      // What the store shows of an entity is newer than what is known here of the entities inside.
      let isSame = result.items.count == old.count
      let replaced = isSame ? first..<old.count - last : result.items.indices
      let present = Dictionary(
        result.items[replaced].compactMap { item in (try? T.storedKey(of: item.id)).map { ($0, item) } }
      ) { first, _ in first }
      let wanted = isSame ? keys.dropFirst(first).dropLast(last) : keys[...]
      result.items.replaceSubrange(replaced, with: wanted.compactMap { present[$0] ?? values[$0] })
    }
  }
}

/// The result of a live query, as an aggregate in the view's store: it keeps the entities, and shows their newest values.
struct QueryResult<T: PersistentEntity>: Aggregate {
  let id: Int
  var items: [T]

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.items)] }
}
