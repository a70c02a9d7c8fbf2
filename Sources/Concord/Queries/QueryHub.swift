/// A query, as far as it is known with the store's lock held: which entities it has to look at anew.
final class QueryHub<T: Identifiable & Sendable>: Hub {
  let engine: QueryEngine<T>
  /// The demand of the condition on a property, if that finds the query.
  let demand: QueryDemand<T>?
  private let queries: TypeQueries<T>
  /// The entities that have come, changed or gone since the newest version, by their numbers; `nil` for those that are gone, or that the
  /// demand cannot find any longer. A node is one that the query is told of when it goes.
  private var changed: [UInt64: EntityNode<T>?] = [:]
  private var isNew = true
  /// The number of the last entity that had come when the newest version was made.
  private var lastKnown: UInt64 = 0
  private var newest: QueryVersion<T>
  private var open: Open?

  /// The version that shows the open transaction.
  private struct Open {
    let version: QueryVersion<T>
    let committed: QueryVersion<T>
    /// The number of the transaction, and the place in its trace.
    let transaction: UInt64
    let mark: Int
  }

  /// The lock is held.
  init(_ engine: QueryEngine<T>, _ demand: QueryDemand<T>?, _ core: StoreCore) {
    (self.engine, self.demand) = (engine, demand)
    queries = TypeQueries<T>.of(core)
    newest = QueryVersion([])
    engine.append(newest)
    super.init(level: 0, core)
    queries.add(self, core)
  }

  override func detach(_ core: StoreCore) { queries.remove(self, core) }

  #if Inspector
    override func inspected(_ core: StoreCore) -> InspectedQuery? {
      let state = engine.inspected
      return InspectedQuery(
        type: T.self, demand: demand?.words(), hasCondition: engine.hasCondition,
        sorts: engine.order.count, window: engine.window, size: state.size,
        looks: state.looks, waiting: state.waiting, observers: core.inspectedObservers(of: node))
    }
  #endif

  // MARK: What changes

  func didChange(_ node: EntityNode<T>, _ number: UInt64, _ core: StoreCore) {
    if !isNew { changed[number] = .some(node) }
    core.hubs.didChange(self)
  }

  func didLose(_ number: UInt64, _ core: StoreCore) {
    core.hubs.didChange(self)
    if isNew { return }
    if number > lastKnown {
      // Nobody has seen it.
      changed[number] = nil
      changed.shrink()
    } else {
      changed[number] = .some(nil)
    }
  }

  override func brokenInvariants() -> [String] {
    queries.brokenInvariants()
      + changed.compactMap { number, node in
        guard let node, queries.number(of: node) != number else { return nil }
        return "a query has noted an entity that has gone, or has another number, as number \(number)"
      }
  }

  // MARK: Versions

  /// Returns the committed state, or that of the open transaction.
  func version(_ core: StoreCore, isCommitted: Bool) -> QueryVersion<T> {
    let committed = committedVersion(core)
    guard core.turns.isOpen else {
      open = nil
      return committed
    }
    return isCommitted ? committed : openVersion(core, committed)
  }

  private func openVersion(_ core: StoreCore, _ committed: QueryVersion<T>) -> QueryVersion<T> {
    let trace = core.graph.tracedChanges()
    // What changes while the values are brought up to date is looked at the next time.
    let mark = trace.mark()
    let version: QueryVersion<T>
    if let open, open.committed === committed, open.transaction == trace.number {
      if open.mark == mark { return open.version }
      version = engine.version(after: open.version, queries.changes(of: trace.nodes(since: open.mark), core))
    } else {
      version = QueryVersion(queries.changesOfTransaction(core), to: committed)
    }
    open = Open(version: version, committed: committed, transaction: trace.number, mark: mark)
    return version
  }

  private func committedVersion(_ core: StoreCore) -> QueryVersion<T> {
    guard isNew || !changed.isEmpty else { return newest }
    let version: QueryVersion<T>
    if isNew {
      version = QueryVersion(queries.all { core.committedValueToFollow(of: $0) })
    } else {
      var changes = ContiguousArray<EntityChange>()
      changes.reserveCapacity(changed.count)
      for (number, node) in changed {
        changes.append(EntityChange(number: number, value: node.flatMap { core.committedValueToFollow(of: $0) }))
      }
      if changes.count > 1 { changes.sort { $0.number < $1.number } }
      version = QueryVersion(changes)
    }
    (newest, changed, isNew, lastKnown) = (version, [:], false, queries.lastNumber)
    engine.append(version)
    return version
  }

}

extension StoreCore {
  /// Returns the committed value of a node, whose next change is noticed; `nil` if the entity was not stored.
  func committedValueToFollow<T>(of node: EntityNode<T>) -> T? {
    guard turns.isOpen else { return presentValue(of: node) }
    // What the open transaction changes further in a value that is not up to date would not be noticed otherwise.
    compareAtCommit(node)
    return view.exists(node) ? view.value(of: node) : nil
  }

  /// Returns the newest value of a node; `nil` if the entity is not stored.
  func presentValue<T>(of node: EntityNode<T>) -> T? {
    if node.isStale { refresh(node) }
    return node.exists ? node.value : nil
  }
}

/// A source of the states of a query.
// Unchecked, because its superclass is; it adds no field.
final class QuerySource<T: Identifiable & Sendable>: ObserverSource<QueryVersion<T>>, @unchecked Sendable {
  override func part(_ core: StoreCore, isCommitted: Bool) -> QueryVersion<T>? {
    node.use(in: core) { (core.hubs.hub(at: $0) as? QueryHub<T>)?.version(core, isCommitted: isCommitted) }
  }
}
