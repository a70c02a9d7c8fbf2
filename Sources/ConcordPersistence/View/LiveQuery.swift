import Concord
import ConcordModel
import Foundation

/// The result of a fetch, kept up to date by applying changes.
///
/// It knows the first entities that the query finds, in order: those shown, those before them, and some spare ones
/// after, which enter when shown ones leave. When the spare ones are used up, it fetches again.
final class LiveQuery<T: PersistentEntity>: ViewQuery {
  let number: Int
  let entity: EntityDescription
  let contained: Set<EntityDescription>
  let isFlat: Bool
  let equalities: [Equality]?
  private let plan: FetchPlan<T>
  /// The part of the plan that is left to memory; `nil` if nothing is.
  private let predicate: CheckedPredicate<T>?
  private let order: TotalOrder<T>
  private let condition: RowQuery
  private let model: Model
  /// Whether the result keeps in the view what a query over the view has to find there, see `ViewContext+Query.swift`.
  let isMerged: Bool
  /// The number of entities beyond the last shown one that the result keeps in the view, for those that layers take out.
  var margin = 0
  /// The entities of which layers change something inside, and that are kept in the view for that.
  private var affected = AffectedEntities<T>()

  /// The first that the query finds.
  private let entries = BlockList<Entry>()
  private var values: [StoredValue: T] = [:]
  /// Whether the query finds no more.
  private var isComplete = false
  /// The entities in it are those that are known, and those that are left out.
  var members: QueryMembers? {
    didSet {
      for id in Set(values.keys).union(unanswered) {
        oldValue?.remove(number, id)
        members?.insert(number, id)
      }
    }
  }

  /// The keys of the entities to be shown, in order.
  private let shown = BlockList<StoredValue>()
  /// The keys to be shown that were not in the last result, and those of the last result that are not to be shown.
  private var (entering, leaving): (Set<StoredValue>, Set<StoredValue>) = ([], [])
  var mustFetch = true
  private(set) var looks = 0
  /// The entities that are left out because the predicate has no answer for them.
  private var unanswered: Set<StoredValue> = []
  /// The entities that were left out when the result was shown last, of which nobody is told again.
  private var told: Set<StoredValue> = []
  /// The last of those that a fetch has asked for again, where they are many.
  private var askedLast: StoredValue?
  /// The error of an entity that is left out, and of which nobody was told yet.
  private var newFailure: (any Error)?
  /// Whether the fetch is done in memory, since a store that meets such an entity finds nothing.
  private var isFetchedInMemory = false
  /// The errors, as text, of the last fetch and of the last entity that was left out.
  private var (fetchFailure, answerFailure): (String?, String?) = (nil, nil)
  var failure: String? { fetchFailure ?? answerFailure }
  /// The entities whose values known here are as new as the shown ones.
  private var fresh: Set<StoredValue> = []
  /// The result of a new fetch, if there was one.
  private var fetched: Result<FetchPlan<T>.Found, any Error>?

  private struct Entry {
    let key: StoredValue
    let value: T
    /// The rank in the order, as ``TotalOrder`` has it.
    let rank: UInt64?
  }

  private func entry(_ key: StoredValue, _ value: T) -> Entry {
    Entry(key: key, value: value, rank: order.rank?(value))
  }

  init(_ number: Int, _ descriptor: FetchDescriptor<T>, model: Model, isMerged: Bool = false) throws {
    (self.number, self.model, self.isMerged) = (number, model, isMerged)
    entity = try model.entity(T.self)
    plan = FetchPlan(descriptor, entity, model)
    predicate = plan.isExact ? nil : descriptor.predicate.map(CheckedPredicate.init)
    order = TotalOrder(descriptor.sortBy)
    condition = RowQuery(entity, where: plan.condition)
    equalities = plan.condition.equalities
    contained = model.contained(in: entity)
    let entity = entity
    isFlat =
      plan.isExact && plan.condition.isOfRow
      && (plan.rankedSearch != nil
        || descriptor.sortBy.allSatisfy { descriptor in
          guard let position = descriptor.keyPath.flatMap({ entity.position(of: $0) }) else { return false }
          return entity.columns[position].role == .value
        })
  }

  // MARK: The part that is shown

  var size: (shown: Int, known: Int) { (shown.count, entries.count) }

  var shownKeys: [StoredValue] { shown.elements }

  private var start: Int { isMerged ? 0 : max(0, plan.descriptor.fetchOffset ?? 0) }
  private var end: Int? {
    plan.descriptor.fetchLimit.map { limit in
      let end = max(0, plan.descriptor.fetchOffset ?? 0).addingReportingOverflow(max(0, limit))
      return end.overflow || end.partialValue > .max - margin ? .max : end.partialValue + margin
    }
  }

  func setMargin(_ margin: Int) -> Bool {
    if self.margin == margin || plan.descriptor.fetchLimit == nil { return false }
    (self.margin, mustFetch) = (margin, true)
    return true
  }
  /// The number of spare entities after a fetch; at most twice as many are kept.
  private var spare: Int { min(100, max(10, (plan.descriptor.fetchLimit ?? 0) / 2)) }

  private func show(_ key: StoredValue, at position: Int) {
    shown.insert(key, at: position)
    if leaving.remove(key) == nil { entering.insert(key) }
  }

  private func hide(at position: Int) {
    let key = shown.remove(at: position)
    if entering.remove(key) == nil { leaving.insert(key) }
  }

  /// Inserts an entry; the shown range moves by one at most.
  private func insert(_ entry: Entry, at position: Int) {
    entries.insert(entry, at: position)
    guard position < end ?? .max, entries.count > start else { return }
    let position = max(position, start)
    show(entries[position].key, at: position - start)
    if let end, shown.count > end - start { hide(at: shown.count - 1) }
  }

  private func remove(at position: Int) {
    let isShown = start + shown.count
    entries.remove(at: position)
    guard position < isShown, shown.count > 0 else { return }
    hide(at: max(position, start) - start)
    let next = start + shown.count
    if next < end ?? .max, next < entries.count { show(entries[next].key, at: shown.count) }
  }

  /// Shows the result of a fetch, where it differs from the shown one.
  private func showFetched(_ keys: ArraySlice<StoredValue>) {
    let old = shown.elements
    if old.isEmpty {
      entering = Set(keys)
      return shown.replaceAll(with: Array(keys))
    }
    let first = zip(old, keys).prefix { $0 == $1 }.count
    let last = zip(old.dropFirst(first).reversed(), keys.dropFirst(first).reversed()).prefix { $0 == $1 }.count
    for _ in first..<old.count - last { hide(at: first) }
    for (offset, key) in keys.dropFirst(first).dropLast(last).enumerated() { show(key, at: first + offset) }
  }

  // MARK: Changes

  func mayConcern(_ id: StoredValue, _ row: StoredRow?) -> Bool {
    if values[id] != nil || unanswered.contains(id) { return true }
    guard let row else { return false }
    // A condition that looks at other rows, or throws, is evaluated when the query is updated.
    guard plan.condition.isOfRow else { return true }
    let isConcerned = (try? condition.holds(row, key: id, nil)) ?? true
    // Otherwise the query counts it when it is updated.
    if !isConcerned { looks += 1 }
    return isConcerned
  }

  func update(
    _ ids: [StoredValue], _ rows: ChangedRows, _ layered: Set<EntityKey>, _ reading: any RowReading,
    _ loader: EntityLoader
  ) -> StoreError? {
    fresh = []
    (fetched, newFailure, isFetchedInMemory) = (nil, nil, false)
    do {
      if isMerged, !isFlat {
        try affected.find(layered.filter { contained.contains($0.entity) }, entity, contained, reading, loader)
        _ = setMargin(LayerMargin.of(affected.count, current: margin))
      }
      if !mustFetch { try patch(ids, rows, reading, loader) }
      if !mustFetch { try refresh(loader) }
    } catch {
      // Then the fetch throws the error.
      mustFetch = true
    }
    if mustFetch {
      fetched = Result { try load(rows, reading, loader) }.mapError { reading.storeError($0, of: entity) }
    }
    guard case .failure(let error as StoreError) = fetched, case .danglingReference = error else { return nil }
    return error
  }

  /// The greatest number of entities without an answer that are asked for again with each fetch.
  private static var mostAskedAgain: Int { 256 }

  /// The entities for which the store has shown no answer, as far as they are asked for again. If they are many, each fetch asks for some, in turn.
  private func askedAgain(without found: [T]) throws -> [EntityKey] {
    if unanswered.isEmpty, told.isEmpty { return [] }
    let answered = Set(try found.map { try T.storedKey(of: $0.id) })
    for key in unanswered.intersection(answered) { takeBack(key) }
    var others = Array(unanswered.union(told).subtracting(answered))
    if others.count > Self.mostAskedAgain {
      others.sort(by: StoredValue.precedes)
      let first = askedLast.flatMap { last in others.firstIndex { StoredValue.precedes(last, $0) } } ?? 0
      others = Array((others[first...] + others[..<first]).prefix(Self.mostAskedAgain))
      askedLast = others.last
    }
    return others.map { EntityKey(entity, $0) }
  }

  /// Loads what the query finds, without the entities for which its predicate has no answer.
  private func load(
    _ rows: ChangedRows, _ reading: any RowReading, _ loader: EntityLoader
  ) throws -> FetchPlan<T>.Found {
    do {
      let found = try fetchPlan.load(reading, loader)
      // The store may not have come to them.
      let leftOut = try askedAgain(without: found.values)
      try reading.prepare(leftOut)
      for key in leftOut {
        takeBack(key.id)
        if let row = try row(of: key, rows, reading) { _ = try value(row, key, reading, loader) }
      }
      return found
    } catch  where StoreError.isOfPredicate(error) {
      isFetchedInMemory = true
      for key in unanswered { takeBack(key) }
      return try fetchPlan.inMemory.load(reading, loader)
    }
  }

  private func leaveOut(_ key: StoredValue, _ error: any Error) {
    if unanswered.insert(key).inserted, values[key] == nil { members?.insert(number, key) }
    if !told.contains(key) { newFailure = error }
  }

  /// Ends that an entity is left out, until the predicate is evaluated for it.
  private func takeBack(_ key: StoredValue) {
    if unanswered.remove(key) != nil, values[key] == nil { members?.remove(number, key) }
  }

  /// Keeps the shown result until reading succeeds, unless a new fetch was due, and the error will not pass.
  func fail(_ error: any Error) {
    let mayPass = StoreError.mayPass(error) && !StoreError.isOfDetachedStore(error)
    fetched = mustFetch && !mayPass ? .failure(error) : nil
    mustFetch = true
  }

  /// Applies changes of the stores to the known entities.
  private func patch(
    _ ids: [StoredValue], _ rows: ChangedRows, _ reading: any RowReading, _ loader: EntityLoader
  ) throws {
    looks += ids.count
    for id in ids {
      let key = EntityKey(entity, id)
      let row = try row(of: key, rows, reading)
      takeBack(id)
      if let row, let value = try value(row, key, reading, loader) {
        let entry = entry(id, value)
        if !stays(entry) {
          leave(id)
          enter(entry)
        }
      } else {
        leave(id)
      }
    }
    if !isComplete, let end, entries.count < end { mustFetch = true }
    if let end, end < .max - 2 * spare, entries.count > end + 2 * spare {
      while entries.count > end + spare { forget(entries.remove(at: entries.count - 1).key) }
      isComplete = false
    }
  }

  /// Returns the part of a row that the condition looks at: where it looks at collections, the whole row.
  private func row(of key: EntityKey, _ rows: ChangedRows, _ reading: any RowReading) throws -> StoredRow? {
    try plan.condition.isOfRow ? rows.row(of: key) : reading.row(of: key)
  }

  /// The entity of a row, if the query finds it.
  private func value(
    _ row: StoredRow, _ key: EntityKey, _ reading: any RowReading, _ loader: EntityLoader
  ) throws -> T? {
    do {
      guard try condition.holds(row, key: key.id, reading), let value = try loader.find(T.self, key: key.id),
        try predicate?.holds(value) ?? true
      else { return nil }
      return value
    } catch  where StoreError.isOfPredicate(error) {
      leaveOut(key.id, error)
      return nil
    }
  }

  private func precedes(_ a: Entry, _ b: Entry) -> Bool {
    if let first = a.rank, let second = b.rank, first != second { return first < second }
    return switch order.compare(a.value, b.value) {
    case .orderedAscending: true
    case .orderedDescending: false
    case .orderedSame: StoredValue.precedes(a.key, b.key)
    }
  }

  /// The first position whose entry does not precede another one.
  private func position(of entry: Entry) -> Int { entries.position { precedes($0, entry) } }

  /// The position of an entity that is known.
  private func position(of key: StoredValue, _ value: T) -> Int? {
    let position = position(of: entry(key, value))
    if position < entries.count, entries[position].key == key { return position }
    // A type may order its own values as it likes, or not at all.
    return entries.elements.firstIndex { $0.key == key }
  }

  private func know(_ entry: Entry) {
    if values.updateValue(entry.value, forKey: entry.key) == nil, !unanswered.contains(entry.key) {
      members?.insert(number, entry.key)
    }
    fresh.insert(entry.key)
  }

  private func forget(_ key: StoredValue) {
    values[key] = nil
    if !unanswered.contains(key) { members?.remove(number, key) }
  }

  /// Puts a new value in the place of the one that is known, if it belongs there.
  private func stays(_ entry: Entry) -> Bool {
    guard let value = values[entry.key], let position = position(of: entry.key, value) else { return false }
    // Entities that are not known may precede the last one.
    guard isComplete || position + 1 < entries.count else { return false }
    guard position == 0 || precedes(entries[position - 1], entry),
      position + 1 == entries.count || precedes(entry, entries[position + 1])
    else { return false }
    entries.replace(at: position, with: entry)
    know(entry)
    return true
  }

  private func leave(_ key: StoredValue) {
    guard let value = values[key], let position = position(of: key, value) else { return }
    forget(key)
    remove(at: position)
  }

  private func enter(_ entry: Entry) {
    let position = position(of: entry)
    // Entities that are not known may precede one that sorts after all known ones.
    guard position < entries.count || isComplete else { return }
    insert(entry, at: position)
    know(entry)
  }

  /// Reads entering entities again that were known but not shown: they may hold older values of the entities inside.
  private func refresh(_ loader: EntityLoader) throws {
    for key in entering where !fresh.contains(key) {
      if let value = try loader.find(T.self, key: key) { values[key] = value }
    }
  }

  // MARK: The result

  /// The query, with a limit that includes spare entities.
  private var fetchPlan: FetchPlan<T> {
    var descriptor = plan.descriptor
    descriptor.fetchOffset = nil
    descriptor.fetchLimit = limit
    return FetchPlan(descriptor, entity, model)
  }

  private var limit: Int? { end.map { $0 > .max - spare ? .max : $0 + spare } }

  /// Fetches for the first time.
  func fetch(_ core: ContextCore) throws { try take(fetchPlan.fetch(core)) }

  private func take(_ found: [T]) throws { take(try found.map { entry(try T.storedKey(of: $0.id), $0) }) }

  private func take(_ found: [Entry]) {
    looks += found.count
    for key in values.keys where !unanswered.contains(key) { members?.remove(number, key) }
    values = Dictionary(found.map { ($0.key, $0.value) }) { first, _ in first }
    for key in values.keys where !unanswered.contains(key) { members?.insert(number, key) }
    entries.replaceAll(with: found)
    isComplete = limit.map { found.count < $0 } ?? true
    mustFetch = false
    fresh = Set(values.keys)
    showFetched(found.map(\.key).dropFirst(start).prefix((end ?? .max) - start))
  }

  func finish(_ store: EntityStore) throws {
    affected.keep(in: store)
    if mustFetch {
      guard let fetched else { return }
      self.fetched = nil
      do {
        let plan = isFetchedInMemory ? fetchPlan.inMemory : fetchPlan
        try take(plan.finish(fetched.get()) { value, error in try? self.leaveOut(T.storedKey(of: value.id), error) })
      } catch {
        // A store that is gone leaves nothing to show.
        take([Entry]())
        for key in unanswered { takeBack(key) }
        (mustFetch, isComplete, answerFailure) = (true, false, nil)
        show(in: store)
        if StoreError.isOfDetachedStore(error) { return told = [] }
        // It is found again with each save, and told once.
        let isTold = fetchFailure == "\(error)"
        fetchFailure = "\(error)"
        if isTold { return }
        throw error
      }
    }
    show(in: store)
    (fetchFailure, told) = (nil, unanswered)
    if unanswered.isEmpty { answerFailure = nil }
    guard let error = newFailure else { return }
    (answerFailure, newFailure) = ("\(error)", nil)
    throw error
  }

  /// Returns an observer that shows the result for the first time.
  ///
  /// - Parameter life: a token that ends with the result.
  func observer(in store: EntityStore, _ life: QueryLife) -> EntityObserver<QueryResult<T>> {
    var result = QueryResult<T>(id: number, life: life, order: QueryResult<T>.order(plan.descriptor))
    result.take(shown, shown.takeTouched()) { values[$0] }
    (entering, leaving) = ([], [])
    return store.store(result)
  }

  private func show(in store: EntityStore) {
    (entering, leaving) = ([], [])
    _ = entries.takeTouched()
    let touched = shown.takeTouched()
    guard !touched.isEmpty, store.isKnown(QueryResult<T>.self, id: number) else { return }
    store.update(QueryResult<T>.self, id: number) { $0.take(shown, touched) { values[$0] } }
  }
}
