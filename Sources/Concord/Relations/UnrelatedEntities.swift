/// A search for entities that are in stored values and in no relation, or in a relation and elsewhere as well, in debug
/// builds of a store that has a logger.
///
/// Such an entity is never brought up to date, and nothing else reports that. Each written entity is noted; after the
/// transaction its value is searched by reflection, without the lock, and compared with the entities in its relations. The
/// first values of each type are searched, and then ever fewer, since an optional that is `nil` in one value need not be in
/// another.
final class UnrelatedEntities {
  private var noted: ContiguousArray<Node> = []
  private var counts: [ObjectIdentifier: Int] = [:]
  private let reports = Reports()

  /// The number of values of each type that are all searched.
  private static var first: Int { 16 }

  /// Notes that an entity was written. Called inside `assert`, and so in debug builds only.
  func note(_ node: Node) -> Bool {
    guard !node.table.isInternal else { return true }
    let count = counts[node.table.valueType, default: 0] + 1
    counts[node.table.valueType] = count
    if count <= Self.first || count & (count - 1) == 0 { noted.append(node) }
    return true
  }

  /// Adds an entry to the log that searches the entities noted since the last call. Called inside `assert`.
  func search(_ graph: Graph, _ log: LogBuffer) -> Bool {
    guard !noted.isEmpty else { return true }
    let nodes = noted
    noted.removeAll()
    let entityTypes = Set(graph.allTables.lazy.filter { !$0.isInternal }.map(\.valueType))
    for node in nodes where node.exists {
      guard let value = node.table.entity(of: node) else { continue }
      var related: [EntityKey: Int] = [:]
      for edge in node.children?.edges ?? [] { if let key = EntityKey(edge.child) { related[key, default: 0] += 1 } }
      let relations = node.children?.schema.paths ?? []
      log.append { [reports, related] logger in
        let search = EntitySearch(value, related: related, relations: relations)
        for report in reports.new(search, entityTypes: entityTypes) { report(logger) }
      }
    }
    return true
  }
}

/// The findings of each type, so that each is reported once.
private final class Reports {
  typealias Report = (any EntityStoreLogger) -> Void

  private let lock = Lock()
  private var known: Set<String> = []
  /// Findings that are no aggregates, by their types. They count as entities as soon as the store has an entity of the type.
  private var waiting: [ObjectIdentifier: [Report]] = [:]

  func new(_ search: EntitySearch, entityTypes: Set<ObjectIdentifier>) -> [Report] {
    var search = search
    search.run()
    return lock.withLock {
      var due: [Report] = []
      for finding in search.found where known.insert(finding.name).inserted {
        if finding.isAggregate {
          due.append(finding.report)
        } else {
          waiting[finding.type, default: []].append(finding.report)
        }
      }
      for type in waiting.keys where entityTypes.contains(type) { due += waiting.removeValue(forKey: type) ?? [] }
      return due
    }
  }
}
