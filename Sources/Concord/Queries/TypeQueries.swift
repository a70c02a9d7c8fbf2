/// All queries of a store about one type. It knows which entities there are, and which queries a change concerns.
final class TypeQueries<T: Identifiable & Sendable>: TypeFollower {
  private let table: Table<T>
  /// The numbers of the entities, in the order in which they came.
  private var numbers: [ObjectIdentifier: UInt64] = [:]
  private(set) var lastNumber: UInt64 = 0
  /// Whether entities may have been stored or removed unnoticed.
  private(set) var mustSearch: Bool
  /// The entities that there were when the open transaction began, if entities may have been stored or removed unnoticed in it: what has gone
  /// is in the table no longer.
  private var former: ContiguousArray<Node> = []
  private var indexes = QueryIndexes<T>()
  /// The entities that queries have found in the open transaction, and that are not numbered before it is committed, with their numbers
  /// until then. The nodes are retained, so that no other one is taken for them.
  private var newcomers: [ObjectIdentifier: (node: Node, number: UInt64)] = [:]

  /// Returns the store's queries about the type, made if there are none.
  static func of(_ core: StoreCore) -> TypeQueries {
    let known = core.hubs.followers[ObjectIdentifier(T.self)] as? TypeQueries
    return known ?? TypeQueries(core)
  }

  private init(_ core: StoreCore) {
    table = core.graph.table(T.self)
    mustSearch = core.turns.isOpen
    super.init()
    core.hubs.followers[table.valueType] = self
    numbers.reserveCapacity(table.index.count)
    table.index.forEach { node in
      guard core.exists(node, core.turns.isOpen) else { return }
      add(node)
      // The open transaction may have changed it before.
      if mustSearch {
        core.compareAtCommit(node)
        former.append(node)
      }
    }
  }

  private func add(_ node: Node) {
    lastNumber += 1
    numbers[ObjectIdentifier(node)] = lastNumber
    node.flags.insert(.followed)
  }

  /// Calls a closure with each entity and its number, in no particular order.
  private func forEachEntity(_ body: (UInt64, EntityNode<T>) -> Void) {
    func visit(_ node: Node) {
      guard node.flags.contains(.followed), let node = node.typed(T.self), let number = number(of: node) else { return }
      body(number, node)
    }
    guard table.isAggregate else { return table.index.forEach(visit) }
    // Bringing a value up to date may change the table.
    for node in table.index.all { visit(node) }
  }

  /// All entities as changes, in the order in which they came; `value` returns what is stored.
  func all(_ value: (EntityNode<T>) -> T?) -> ContiguousArray<EntityChange> {
    var found = ContiguousArray<EntityChange>()
    found.reserveCapacity(numbers.count)
    var isInOrder = true
    var last: UInt64 = 0
    forEachEntity { number, node in
      if number < last { isInOrder = false }
      last = number
      found.append(EntityChange(number: number, value: value(node)))
    }
    if !isInOrder { found.sort { $0.number < $1.number } }
    return found
  }

  /// Returns the number of an entity; `nil` if it was not stored when the last transaction ended.
  func number(of node: Node) -> UInt64? { numbers[ObjectIdentifier(node)] }

  // MARK: Queries

  func add(_ query: QueryHub<T>, _ core: StoreCore) {
    indexes.add(query) { note in
      forEachEntity { number, node in note(number, core.committedValueToFollow(of: node)) }
    }
  }

  func remove(_ query: QueryHub<T>, _ core: StoreCore) {
    indexes.remove(query)
    guard indexes.isEmpty else { return }
    for node in table.allNodes() { node.flags.remove(.followed) }
    core.hubs.followers[table.valueType] = nil
  }

  // MARK: Changes

  override func update(_ core: StoreCore) {
    newcomers = [:]
    let nodes = mustSearch ? former + table.allNodes() : core.graph.written.all
    for node in nodes where node.table === table {
      guard node.exists != node.flags.contains(.followed), let node = node.typed(T.self) else { continue }
      if node.exists {
        add(node)
        indexes.didChange(node, lastNumber, core)
      } else {
        node.flags.remove(.followed)
        guard let number = numbers.removeValue(forKey: ObjectIdentifier(node)) else { continue }
        indexes.didLose(number, core)
      }
    }
    numbers.shrink()
    (mustSearch, former) = (false, [])
  }

  /// Returns the invariants that are broken, for the store's own tests.
  func brokenInvariants() -> [String] {
    let count = table.allNodes().count { $0.flags.contains(.followed) && number(of: $0) != nil }
    return count == numbers.count ? [] : ["\(numbers.count) entities are numbered, and \(count) are there"]
  }

  override func didChange(_ node: Node, _ core: StoreCore) {
    guard let node = node.typed(T.self), let number = number(of: node) else { return }
    indexes.didChange(node, number, core)
  }

  /// Returns the entities that the open transaction has changed.
  func changesOfTransaction(_ core: StoreCore) -> ContiguousArray<EntityChange> {
    // What the transaction stored before there was a query was not noted.
    changes(
      of: mustSearch ? ContiguousArray(table.allNodes()) : core.graph.written.all + core.graph.notified.all, core)
  }

  /// Returns what has become of entities in the open transaction: of those among some nodes.
  func changes(of nodes: ContiguousArray<Node>, _ core: StoreCore) -> ContiguousArray<EntityChange> {
    var changes = ContiguousArray<EntityChange>()
    var seen: Set<ObjectIdentifier> = []
    for node in nodes where node.table === table {
      guard seen.insert(ObjectIdentifier(node)).inserted, let node = node.typed(T.self) else { continue }
      let value = core.presentValue(of: node)
      // The next change below is noticed in a value only that is up to date.
      if node.isStale { core.graph.noteChange(of: node) }
      guard let number = openNumber(of: node, exists: value != nil) else { continue }
      changes.append(EntityChange(number: number, value: value))
    }
    changes.sort { $0.number < $1.number }
    return changes
  }

  /// Returns the number of an entity in the open transaction; `nil` for one that is not stored, and was not.
  private func openNumber(of node: Node, exists: Bool) -> UInt64? {
    if let known = number(of: node) ?? newcomers[ObjectIdentifier(node)]?.number { return known }
    guard exists else { return nil }
    let number = lastNumber + UInt64(newcomers.count) + 1
    newcomers[ObjectIdentifier(node)] = (node, number)
    return number
  }
}
