import ConcordModel

/// A loader that makes entities from rows, with the entities that these refer to. Each entity is made once for a loader,
/// which is valid as long as its reader.
final class EntityLoader: EntityResolver {
  let reading: any RowReading
  let model: Model
  private var caches: [ObjectIdentifier: AnyObject] = [:]
  private lazy var cycles = CycleLoader(reading: reading, model: model)
  /// The component of the recursive entity that is being made, and whether it is made in its brief form.
  private var current: (component: Int, isBrief: Bool)?
  /// The entities whose brief forms are being made.
  private var unfinished: Set<EntityKey> = []

  init(_ reading: any RowReading, model: Model) {
    self.reading = reading
    self.model = model
  }

  /// The entities made so far, by key.
  private final class Cache<T> {
    var whole: [StoredValue: T] = [:]
    var brief: [StoredValue: T] = [:]
  }

  private func cache<T>(_ type: T.Type) -> Cache<T> {
    if let cache = caches[ObjectIdentifier(type)] as? Cache<T> { return cache }
    let cache = Cache<T>()
    caches[ObjectIdentifier(type)] = cache
    return cache
  }

  // MARK: Finding and fetching

  /// Returns the entity with a key; `nil` if it is not stored.
  func find<T: PersistentEntity>(_ type: T.Type, key: StoredValue) throws -> T? {
    let entity = try model.entity(type)
    if model.isRecursive(entity) { return try findRecursive(type, key: key, entity) }
    if let known = cache(type).whole[key] { return known }
    let found = try reading.withRow(of: EntityKey(entity, key)) { source in
      try entity.read(type, from: source, key: key, resolver: self)
    }
    if let found { cache(type).whole[key] = found }
    return found
  }

  /// Returns the entity with a key that is made of its row alone, and is not needed again; `nil` if it is not stored.
  func findOneRow<T: PersistentEntity>(_ type: T.Type, key: StoredValue, _ entity: EntityDescription) throws -> T? {
    try reading.withRow(of: EntityKey(entity, key)) { source in
      try entity.read(type, from: source, key: key, resolver: self)
    }
  }

  /// Returns the entity with a key whose row was already read; `nil` if it is not stored.
  func find<T: PersistentEntity>(_ type: T.Type, key: StoredValue, row: StoredRow?) throws -> T? {
    guard let row else { return nil }
    let entity = try model.entity(type)
    if model.isRecursive(entity) { return try find(type, key: key) }
    return try entity.read(type, from: StoredRowSource(row), key: key, resolver: self)
  }

  /// Returns the entity of a row that was already read, with collections omitted whose positions are given.
  func find<T: PersistentEntity>(_ type: T.Type, key: StoredValue, row: StoredRow, omitting positions: Set<Int>) throws
    -> T
  {
    try model.entity(type).read(
      type, from: StoredRowSource(row), key: key, resolver: self, omitting: positions)
  }

  /// Returns all entities that a query finds, in the query's order.
  func fetch<T: PersistentEntity>(_ type: T.Type, _ query: RowQuery) throws -> [T] {
    var found: [T] = []
    if model.isRecursive(query.entity) {
      var keys: [StoredValue] = []
      try reading.rows(query) { key, _ in
        keys.append(key)
        return true
      }
      for key in keys { if let entity = try find(type, key: key) { found.append(entity) } }
    } else {
      // No row refers back to this type, so none of the entities is needed again.
      let entity = query.entity
      var reader = RowReader(RowSource(), resolver: self)
      var isFirst = true
      try reading.entities(query) { key, source in
        reader.begin(source)
        if isFirst { found.reserveCapacity(source.rowCount) }
        isFirst = false
        try entity.append(to: &found, from: &reader, key: key())
        return true
      }
    }
    return found
  }

  /// The entities of all cycles that were read, whole. Inside of another value of its cycle an entity is brief, from which
  /// nobody can tell what it leaves out.
  var membersOfCycles: [any PersistentEntity] {
    func whole<T: PersistentEntity>(_ type: T.Type, _ key: StoredValue) -> (any PersistentEntity)? {
      cache(type).whole[key]
    }
    return cycles.cycles.joined().compactMap { whole($0.entity.type, $0.id) }
  }

  // MARK: For the rows that are read

  func entity<T: PersistentEntity>(_ type: T.Type, key: StoredValue) throws -> T {
    if let current, let component = try? cycles.component(of: EntityKey(model.entity(type), key)),
      component == current.component
    {
      return try brief(type, key: key, component)
    }
    guard let entity = try find(type, key: key) else {
      throw StoreError.danglingReference(entity: T.entityName, id: "\(key)")
    }
    return entity
  }

  func leavesOut<T: PersistentEntity>(_ type: T.Type, keys: some Collection<StoredValue>) -> Bool {
    guard let current, current.isBrief, let entity = try? model.entity(type) else { return false }
    return keys.contains { cycles.component(of: EntityKey(entity, $0)) == current.component }
  }

  func leavesOut(_ name: String, key: StoredValue) -> Bool {
    guard let current, current.isBrief, let entity = model.entity(named: name) else { return false }
    return cycles.component(of: EntityKey(entity, key)) == current.component
  }

  // MARK: Types that contain themselves

  /// Makes all reachable entities of recursive types, children first, so that a chain of any length needs no deep recursion.
  private func findRecursive<T: PersistentEntity>(
    _ type: T.Type, key: StoredValue, _ entity: EntityDescription
  ) throws -> T? {
    if let known = cache(type).whole[key] { return known }
    let outer = current
    current = nil
    defer { current = outer }
    for component in try cycles.load(EntityKey(entity, key)) {
      for member in cycles.members(of: component) { try makeWhole(member.entity.type, key: member.id, component) }
    }
    return cache(type).whole[key]
  }

  private func makeWhole<T: PersistentEntity>(_ type: T.Type, key: StoredValue, _ component: Int) throws {
    cache(type).whole[key] = try make(type, key: key, component, isBrief: false)
  }

  private func brief<T: PersistentEntity>(_ type: T.Type, key: StoredValue, _ component: Int) throws -> T {
    if let known = cache(type).brief[key] { return known }
    // Indirect wrappers can form such a cycle, whose value would be infinite.
    let entityKey = EntityKey(try model.entity(type), key)
    guard unfinished.insert(entityKey).inserted else {
      throw StoreError.misdescribed(entity: entityKey.entity.name, reason: "\(key) requires itself")
    }
    defer { unfinished.remove(entityKey) }
    let made = try make(type, key: key, component, isBrief: true)
    cache(type).brief[key] = made
    return made
  }

  private func make<T: PersistentEntity>(
    _ type: T.Type, key: StoredValue, _ component: Int, isBrief: Bool
  ) throws -> T {
    let entityKey = EntityKey(try model.entity(type), key)
    guard let row = cycles.row(of: entityKey) else {
      throw StoreError.danglingReference(entity: T.entityName, id: "\(key)")
    }
    let outer = current
    current = (component, isBrief)
    defer { current = outer }
    return try entityKey.entity.read(type, from: StoredRowSource(row), key: key, resolver: self)
  }
}
