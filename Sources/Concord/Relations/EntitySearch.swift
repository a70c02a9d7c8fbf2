/// The identity of an entity.
struct EntityKey: Hashable {
  private let type: ObjectIdentifier
  private let id: AnyHashable

  init?(_ node: Node) {
    guard let id = node.table.id(of: node) else { return nil }
    (type, self.id) = (node.table.valueType, id)
  }

  init<T: Identifiable>(_ value: T) { (type, id) = (ObjectIdentifier(T.self), AnyHashable(value.id)) }
}

/// A search of a value, by reflection, for entities that are in none of its relations, also if a relation holds the same
/// entity: what stands more often in the value than in its relations is a plain copy as well.
///
/// It looks into everything but entities, which are searched on their own, and classes, which are not values.
struct EntitySearch {
  /// An entity that is in no relation.
  struct Finding {
    let type: ObjectIdentifier
    let isAggregate: Bool
    /// The full name of the type, and the path.
    let name: String
    let report: (any EntityStoreLogger) -> Void
  }

  private(set) var found: [Finding] = []
  private let root: any Identifiable & Sendable
  /// The number of occurrences of each entity in the relations.
  private let related: [EntityKey: Int]
  /// The paths of the relations, as far as they lead through stored properties.
  private let relations: [String]
  /// The entities that stand in relations, wherever they were found.
  private var copies: [EntityKey: [(entity: any Identifiable, path: EntityPath)]] = [:]

  /// The number of elements of each collection that are searched, and the depth of the search.
  private static var limits: (elements: Int, depth: Int) { (64, 16) }

  init(_ root: any Identifiable & Sendable, related: [EntityKey: Int], relations: [String]) {
    self.root = root
    self.related = related
    self.relations = relations
  }

  mutating func run() {
    searchInside(root, EntityPath(root: type(of: root)))
    for (key, copies) in copies where copies.count > related[key, default: 0] {
      // Which of them the relations hold is not known where these are computed.
      let plain = copies.first { copy in !relations.contains(where: copy.path.isInside) } ?? copies.last
      if let plain { report(plain.entity, plain.path) }
    }
  }

  private mutating func search(_ value: Any, _ path: EntityPath) {
    if path.depth > Self.limits.depth || value is any _PlainValue { return }
    if let entity = value as? any Identifiable, !(entity is any EntityWrapper) {
      let key = EntityKey(entity)
      if related[key] != nil { return copies[key, default: []].append((entity, path)) }
      report(entity, path)
      if entity is any Aggregate { return }
    }
    searchInside(value, path)
  }

  private mutating func searchInside(_ value: Any, _ path: EntityPath) {
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    case .collection, .set:
      for child in mirror.children.prefix(Self.limits.elements) { search(child.value, path.element) }
    case .dictionary:
      for child in mirror.children.prefix(Self.limits.elements) {
        let (key, value) = pair(child.value)
        search(key, path.key)
        search(value, path.element)
      }
    case .optional:
      for child in mirror.children { search(child.value, path) }
    case .tuple:
      for child in mirror.children { search(child.value, path.tupleElement(child.label ?? "")) }
    case .enum:
      for child in mirror.children { search(child.value, path.payload(child.label ?? "", of: type(of: value))) }
    case .struct, nil: searchProperties(of: value, mirror, path)
    default: break
    }
  }

  private mutating func searchProperties(of value: Any, _ mirror: Mirror, _ path: EntityPath) {
    let type = type(of: value)
    let ignored = (type as? any EntityIgnoring.Type)?.ignoredEntityProperties ?? []
    for child in mirror.children {
      let name = propertyName(child.label ?? "")
      // The id is not a relation.
      if path.depth == 0, name == "id" { continue }
      // A property wrapper stores the property under another name.
      if ignored.contains(name) || name.hasPrefix("_") && ignored.contains(String(name.dropFirst())) { continue }
      search(child.value, path.property(name, of: type))
    }
  }

  private func propertyName(_ label: String) -> String {
    let lazy = "$__lazy_storage_$_"
    return label.hasPrefix(lazy) ? String(label.dropFirst(lazy.count)) : label
  }

  private func pair(_ value: Any) -> (key: Any, value: Any) {
    let parts = Array(Mirror(reflecting: value).children)
    return parts.count == 2 ? (parts[0].value, parts[1].value) : ((), ())
  }

  private mutating func report(_ entity: any Identifiable, _ path: EntityPath) {
    func report<T: Identifiable>(in _: T, advice: String) -> (any EntityStoreLogger) -> Void {
      { $0.didFindUnrelatedEntity(in: T.self, at: path.description, advice: advice) }
    }
    found.append(
      Finding(
        type: ObjectIdentifier(type(of: entity)), isAggregate: entity is any Aggregate,
        name: "\(String(reflecting: type(of: root))).\(path)",
        report: report(in: root, advice: path.advice(for: type(of: entity)))))
  }
}
