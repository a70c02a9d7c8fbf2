/// An engine that keeps the result of a query up to date: it looks at what changed, and at nothing else.
///
/// The condition is the user's code, and is called without any lock, once for each new value, and once more for one that a transaction has read
/// before it was committed. (Two threads that ask for one version at the same time may both do it.) Values are compared with the lock of the results held: so may be the properties to sort by, which are the user's
/// code, too. Nobody takes that lock who has the store's.
final class QueryEngine<T: Identifiable & Sendable>: Sendable {
  let order: EntryOrder<T>
  /// The part of the result that is shown.
  let window: Range<Int>
  private let isIncluded: (@Sendable (T) -> Bool)?
  /// The committed versions whose results are not made yet. This lock is taken last.
  private let waiting = Locked(Waiting())
  /// The newest committed result.
  private let newest = Locked(QueryState<T>())

  private struct Waiting {
    /// Oldest first.
    var versions = FIFO<QueryVersion<T>>()
    /// The number of versions from which on those that nobody wants are merged with later ones.
    var most = 32
    /// The number of changes that results were made of.
    var looks = 0
  }

  init(_ order: EntryOrder<T>, window: Range<Int>, _ isIncluded: (@Sendable (T) -> Bool)?) {
    (self.order, self.window, self.isIncluded) = (order, window, isIncluded)
  }

  var hasCondition: Bool { isIncluded != nil }

  /// The number of results that were made last, of changes that they were made of, and of versions that wait.
  var inspected: (size: Int, looks: Int, waiting: Int) {
    let size = newest.withLock { $0.sorted.count }
    return waiting.withLock { (size, $0.looks, $0.versions.count) }
  }

  /// Adds the next committed version. The store's lock is held.
  func append(_ version: QueryVersion<T>) {
    let former = waiting.withLock { waiting -> [EntityChange] in
      waiting.versions.append(version)
      guard waiting.versions.count > waiting.most else { return [] }
      var former: [EntityChange] = []
      waiting.versions.merge { version, next in
        guard isKnownUniquelyReferenced(&version) else { return false }
        former += next.precede(with: version)
        return true
      }
      waiting.most = max(32, 2 * waiting.versions.count)
      return former
    }
    withExtendedLifetime(former) {}
  }

  /// Returns the version after further changes of the open transaction. The store's lock is held.
  func version(after version: QueryVersion<T>, _ changes: ContiguousArray<EntityChange>) -> QueryVersion<T> {
    waiting.withLock { _ in
      // What nobody has read is no base: a chain of such versions could become as long as the transaction.
      guard let base = version.base else { return QueryVersion(changes, to: version) }
      let next = QueryVersion(changes, to: base)
      _ = next.precede(with: version)
      return next
    }
  }

  func results(of version: QueryVersion<T>) -> EntityResults<T> {
    let state = state(of: version)
    return EntityResults(state.sorted, order, window, state.edition)
  }

  private func state(of version: QueryVersion<T>) -> QueryState<T> {
    if version.isOpen { return openState(of: version) }
    while true {
      if let made = newest.withLock({ _ in version.made }) { return made }
      // A committed version waits until it is made.
      guard let next = waiting.withLock({ $0.versions.first }) else { return newest.withLock { version.made ?? $0 } }
      make(next)
    }
  }

  /// Makes the result of the oldest version that waits.
  private func make(_ version: QueryVersion<T>) {
    let changes = pending(version)
    let looks = evaluate(changes)
    let done = newest.withLock { newest -> Any? in
      // Another thread may have made it meanwhile.
      guard version.made == nil, waiting.withLock({ $0.versions.first === version }) else { return nil }
      let former = apply(changes, looks, to: &newest)
      version.made = newest
      return (
        former,
        waiting.withLock { waiting in
          waiting.looks += changes.count
          return (waiting.versions.takeFirst(), version.takeChanges())
        }
      )
    }
    withExtendedLifetime(done) {}
  }

  private func pending(_ version: QueryVersion<T>) -> ContiguousArray<EntityChange> {
    waiting.withLock { _ in version.changes }
  }

  private func openState(of version: QueryVersion<T>) -> QueryState<T> {
    let (changes, former) = waiting.withLock { _ in (version.changes, version.base) }
    guard let former else { return newest.withLock { version.made ?? $0 } }
    // Committed, or made.
    let base = state(of: former)
    let looks = evaluate(changes)
    let (state, done) = newest.withLock { _ -> (QueryState<T>, Any?) in
      if let made = version.made { return (made, nil) }
      var state = base
      let former = apply(changes, looks, to: &state)
      version.made = state
      return (state, (former, waiting.withLock { _ in version.takeChanges() }))
    }
    withExtendedLifetime(done) {}
    return state
  }

  private func evaluate(_ changes: ContiguousArray<EntityChange>) -> ContiguousArray<Look> {
    var looks = ContiguousArray<Look>()
    looks.reserveCapacity(changes.count)
    for change in changes {
      guard let value = change.entry?.known(as: QueryEntry<T>.self).value, isIncluded?(value) ?? true else {
        looks.append(Look())
        continue
      }
      looks.append(Look(isIncluded: true, rank: order.rank(of: value)))
    }
    return looks
  }

  // MARK: Applying

  /// Applies changes to a state.
  ///
  /// - Returns: what is to be destroyed without a lock. Nothing else retains the former state, so that what nobody shows is changed in place.
  private func apply(
    _ changes: ContiguousArray<EntityChange>, _ looks: ContiguousArray<Look>, to state: inout QueryState<T>
  ) -> Former {
    for index in changes.indices where looks[index].isIncluded { changes[index].entry?.setRank(looks[index].rank) }
    if changes.count > 64, changes.count > state.sorted.count / 4 {
      let former = state
      applyMany(changes, looks, to: &state)
      state.edition = state.edition.changed()
      return Former(state: former)
    }
    var (former, count) = (Former(), 0)
    var (removed, inserted): (Int?, Int?) = (nil, nil)
    for index in changes.indices {
      let number = changes[index].number
      let entry = looks[index].isIncluded ? changes[index].entry?.known(as: QueryEntry<T>.self) : nil
      let known = state.byNumber.first { $0.number < number }
      let old = known.flatMap { $0.element.number == number ? $0 : nil }
      // What equals the value before is no change.
      if let old, let entry, areSame(old.element.value, entry.value) { continue }
      if old == nil, entry == nil { continue }
      (removed, inserted) = (nil, nil)
      if let old {
        former.entries.append(old.element)
        removed = state.sorted.remove {
          $0 === old.element
        } notBefore: {
          order.precedes($0, old.element)
        }
      }
      if let entry { inserted = state.sorted.insert(entry, order.precedes) }
      switch (old?.position, entry) {
      case (let position?, let entry?): state.byNumber.replace(at: position, by: entry)
      case (let position?, nil): state.byNumber.remove(at: position)
      case (nil, let entry?): state.byNumber.insert(entry) { $0.number < $1.number }
      case (nil, nil): break
      }
      count += 1
    }
    if count == 1 {
      state.edition = state.edition.changed(removed: removed, inserted: inserted)
    } else if count > 1 {
      state.edition = state.edition.changed()
    }
    return former
  }

  /// The values and versions that are no longer a part of the newest state.
  private struct Former {
    var entries: ContiguousArray<AnyEntry> = []
    var state: QueryState<T>?
  }

  /// Builds the result anew where most of it changes. Nothing that did not change is evaluated, or sorted, again.
  private func applyMany(
    _ changes: ContiguousArray<EntityChange>, _ looks: ContiguousArray<Look>, to state: inout QueryState<T>
  ) {
    var gone: Set<UInt64> = []
    var new = ContiguousArray<AnyEntry>()
    var kept = ContiguousArray<AnyEntry>()
    var (old, next) = (state.byNumber.makeIterator(), QueryEntry<T>?.none)
    next = old.next()
    // Changes are in the order of the numbers.
    for index in changes.indices {
      let number = changes[index].number
      while let entry = next, entry.number < number {
        kept.append(entry)
        next = old.next()
      }
      let entry = looks[index].isIncluded ? changes[index].entry : nil
      if let former = next, former.number == number {
        next = old.next()
        if let entry, areSame(former.value, entry.known(as: QueryEntry<T>.self).value) {
          kept.append(former)
          continue
        }
        gone.insert(number)
      }
      if let entry { new.append(entry) }
    }
    while let entry = next {
      kept.append(entry)
      next = old.next()
    }
    state.byNumber = OrderedTree(sorted: merge(kept, new) { $0.number < $1.number })
    let inserted = order.sort(new)
    kept.removeAll(keepingCapacity: true)
    for entry in state.sorted where !gone.contains(entry.number) { kept.append(entry) }
    state.sorted = OrderedTree(sorted: merge(kept, inserted, order.precedes))
  }
}

/// The answers of the user's code about a value.
private struct Look {
  var isIncluded = false
  var rank = SortRank()
}

private func merge(
  _ a: ContiguousArray<AnyEntry>, _ b: ContiguousArray<AnyEntry>,
  _ precedes: (AnyEntry, AnyEntry) -> Bool
) -> ContiguousArray<AnyEntry> {
  if a.isEmpty { return b }
  var merged = ContiguousArray<AnyEntry>()
  merged.reserveCapacity(a.count + b.count)
  var position = 0
  for entry in a {
    while position < b.count, precedes(b[position], entry) {
      merged.append(b[position])
      position += 1
    }
    merged.append(entry)
  }
  while position < b.count {
    merged.append(b[position])
    position += 1
  }
  return merged
}
