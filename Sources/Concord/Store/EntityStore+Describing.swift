// Descriptions for debuggers and logs, whose form may change.
extension EntityStore {
  /// Returns a description of an entity: its value and stamp, what retains it, and the number of its observers.
  ///
  /// ```swift
  /// print(store.debugDescription(of: Author.self, id: "austen"))
  /// // Author austen, stamp 781000000.0
  /// //   Author(id: "austen", name: "Jane Austen")
  /// //   kept by Book emma, Book persuasion, 1 holder
  /// //   observed by 1
  /// ```
  ///
  /// A *holder* is a subscription or an observer; copies of an observer count as one.
  ///
  /// - Complexity: the number of places where the entity stands.
  public func debugDescription<T: Identifiable & Sendable>(of type: T.Type, id: T.ID) -> String {
    let found = shared.read(token) { core, isCommitted -> Description? in
      core.graph.table(type).find(id).flatMap { core.description(of: $0, isCommitted) }
    }
    // Without the lock, since descriptions of values are the user's code.
    return found?.text ?? "\(type) \(id) is not stored"
  }

  /// Returns a description of an entity: its value and stamp, what retains it, and the number of its observers. Only the
  /// id of the given value counts.
  public func debugDescription<T: Identifiable & Sendable>(of entity: T) -> String {
    debugDescription(of: T.self, id: entity.id)
  }

  /// Returns a list of the stored entities by type, one line each.
  ///
  /// ```swift
  /// print(store.dump())
  /// // 1 Author
  /// //   austen  Author(id: "austen", name: "Jane Austen")
  /// // 2 Book
  /// //   emma  Book(id: "emma", title: "Emma", author: Author(id: "austen", name: "Jan…
  /// //   persuasion  Book(id: "persuasion", title: "Persuasion", author: Author(id:…
  /// ```
  ///
  /// - Parameters:
  ///   - limit: the greatest number of entities of each type.
  ///   - width: the length at which a line is cut, in characters.
  /// - Complexity: the number of stored entities, sorted by their ids.
  public func dump(limit: Int = 20, width: Int = 120) -> String {
    let limit = max(0, limit)
    var lines: [String] = []
    for listed in contents() {
      lines.append("\(listed.count) \(listed.name)")
      for index in 0..<min(limit, listed.count) {
        lines.append("  \(listed.ids[index])  \(listed.values[index])".cut(to: width))
      }
      if listed.count > limit { lines.append("  … and \(listed.count - limit) more") }
    }
    return lines.joined(separator: "\n")
  }

  /// Returns the stored entities of each type, sorted by the descriptions of their ids.
  fileprivate func contents() -> [ListedEntities] {
    let found = shared.read(token) { core, isCommitted in
      core.graph.allTables.filter { !$0.isInternal }.map { table in
        table.allNodes().compactMap { core.entity(of: $0, isCommitted) }
      }
    }
    // Without the lock, since descriptions of ids and values are the user's code.
    let listed = found.compactMap { ListedEntities($0) }
    return order(of: listed.map(\.name)).map { listed[$0] }
  }
}

/// The stored entities of a type, sorted by the descriptions of their ids.
private struct ListedEntities {
  let name: String
  let ids: [String]
  let values: [any Identifiable & Sendable]

  var count: Int { ids.count }

  @inline(never)
  init?(_ entities: [any Identifiable & Sendable]) {
    guard let first = entities.first else { return nil }
    name = "\(type(of: first))"
    let described = entities.map { describedID($0) }
    let places = order(of: described)
    ids = places.map { described[$0] }
    values = places.map { entities[$0] }
  }
}

extension EntityStore: CustomReflectable {
  /// The stored values by type, for `dump(store)` and similar tools.
  public var customMirror: Mirror {
    Mirror(
      self, children: contents().map { (label: $0.name as String?, value: $0.values as Any) },
      displayStyle: .class)
  }
}

extension EntityStore: CustomDebugStringConvertible {
  /// The number of stored entities of each type.
  public var debugDescription: String {
    let counts = contents().map { "\($0.count) \($0.name)" }
    return "EntityStore(\(counts.isEmpty ? "empty" : counts.joined(separator: ", ")))"
  }
}

extension StoreCore {
  /// Returns the committed or the current value of a node; `nil` if it has none.
  fileprivate func entity(of node: Node, _ isCommitted: Bool) -> (any Identifiable & Sendable)? {
    guard exists(node, isCommitted) else { return nil }
    if isCommitted { return node.table.committedEntity(of: node, view) }
    refresh(node)
    return node.table.entity(of: node)
  }

  fileprivate func description(of node: Node, _ isCommitted: Bool) -> Description? {
    guard let value = entity(of: node, isCommitted) else { return nil }
    var seen: Set<ObjectIdentifier> = []
    let parents = node.parents.map(\.parent).filter { seen.insert(ObjectIdentifier($0)).inserted }
    return Description(
      value: value, stamp: node.stamp, holders: Int(node.holders.count), observers: node.subscribers.count,
      parents: parents.compactMap { parent in
        guard let value = parent.table.entity(of: parent) else { return nil }
        return parent is any AliasNode ? .alias(value) : parent.table.isInternal ? .collection : .entity(value)
      })
  }
}

/// A snapshot of what the store knows of an entity.
private struct Description: Sendable {
  enum ParentDescription: Sendable {
    case entity(any Identifiable & Sendable)
    case alias(any Identifiable & Sendable)
    case collection
  }

  let value: any Identifiable & Sendable
  let stamp: Stamp
  let holders: Int
  let observers: Int
  let parents: [ParentDescription]

  var text: String {
    var keepers = parents.map { parent in
      switch parent {
      case .entity(let value): name(of: value)
      case .alias(let value): "the alias \(describedID(value))"
      case .collection: "a collection"
      }
    }
    if holders > 0 { keepers.append(holders.of("holder")) }
    return """
      \(name(of: value)), \(stamp == -.infinity ? "no stamp" : "stamp \(stamp)")
        \(value)
        kept by \(keepers.isEmpty ? "nobody" : keepers.joined(separator: ", "))
        observed by \(observers)
      """
  }

  private func name(of value: any Identifiable & Sendable) -> String { "\(type(of: value)) \(describedID(value))" }
}

/// Returns the indices of texts, sorted by the texts.
private func order(of texts: [String]) -> [Int] { texts.indices.sorted { texts[$0] < texts[$1] } }

private func describedID(_ entity: some Identifiable) -> String { "\(entity.id)" }

extension String {
  fileprivate func cut(to width: Int) -> String {
    count <= width ? self : prefix(max(0, width - 1)) + "…"
  }
}
