/// Finds entities that stand in stored values and in no relation, in debug builds of a store that has a logger.
///
/// Such an entity is never brought up to date, and nothing else would say so. Each entity that is written is noted; when the
/// transaction is over, its value is searched by reflection, without the lock, and compared with what its relations led to. Of
/// each type the first values are looked at, and then ever fewer, since what is `nil` or empty in one is not in another.
final class UnrelatedEntities {
  private var noted: ContiguousArray<Node> = []
  private var counts: [ObjectIdentifier: Int] = [:]
  private let reports = Reports()

  /// How many values of a type are all looked at.
  private static var first: Int { 16 }

  /// Notes that an entity was written. Called inside `assert`, and so in debug builds only.
  func note(_ node: Node) -> Bool {
    guard !node.table.isInternal else { return true }
    let count = counts[node.table.valueType, default: 0] + 1
    counts[node.table.valueType] = count
    if count <= Self.first || count & (count - 1) == 0 { noted.append(node) }
    return true
  }

  /// Lets the log search what was noted since. Called inside `assert`.
  func search(_ graph: Graph, _ log: LogBuffer) -> Bool {
    guard !noted.isEmpty else { return true }
    let nodes = noted
    noted.removeAll()
    let entityTypes = Set(graph.allTables.lazy.filter { !$0.isInternal }.map(\.valueType))
    for node in nodes where node.exists {
      guard let value = node.table.entity(of: node) else { continue }
      let related = Set((node.children?.edges ?? []).compactMap { EntityKey($0.child) })
      log.append { [reports] logger in
        for report in reports.new(in: value, related: related, entityTypes: entityTypes) { report(logger) }
      }
    }
    return true
  }
}

/// What was found of each type, so that each is told once.
private final class Reports {
  typealias Report = (any EntityStoreLogger) -> Void

  private let lock = Lock()
  private var known: Set<String> = []
  /// What was found and is no aggregate, by its type: no entity, as long as the store has none of the type.
  private var waiting: [ObjectIdentifier: [Report]] = [:]

  func new(
    in value: any Identifiable & Sendable, related: Set<EntityKey>, entityTypes: Set<ObjectIdentifier>
  ) -> [Report] {
    var search = EntitySearch(value, related: related)
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
