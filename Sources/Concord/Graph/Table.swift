/// All nodes of one type of entity, found by id. The base class is what the engine needs without knowing the type.
@usableFromInline class AnyTable {
  @usableFromInline final let engineReference: Unmanaged<Engine>
  /// The type can occur within itself, at some depth.
  @exclusivity(unchecked) @usableFromInline final var isRecursive = false
  /// A recursive type can occur within this one.
  @exclusivity(unchecked) @usableFromInline final var reachesRecursion = false
  /// The entities are aliases or collections of the store's own, which no logger hears of.
  @exclusivity(unchecked) @usableFromInline final var isInternal = false
  @usableFromInline final let operations: NodeOperations
  /// The type of the entities.
  @usableFromInline final let valueType: ObjectIdentifier

  @usableFromInline init(engine: Engine, valueType: ObjectIdentifier, operations: NodeOperations) {
    engineReference = Unmanaged.passUnretained(engine)
    self.valueType = valueType
    self.operations = operations
  }

  /// The engine, which keeps the table.
  @inlinable @inline(__always) final var engine: Engine { engineReference.takeUnretainedValue() }

  /// Every node of the type, awaited ones too.
  @usableFromInline func allNodes() -> [Node] { [] }
  /// Forgets the values that waited to be applied.
  @inlinable final func endCall() { operations.endCall(self) }
}

/// A hash table of nodes, which hold the ids themselves: an entry takes 12 bytes, and nothing stays when it goes.
@usableFromInline final class Table<T: Identifiable & Sendable>: AnyTable {
  @exclusivity(unchecked) @usableFromInline var slots: UnsafeMutablePointer<Unmanaged<EntityNode<T>>?>
  @exclusivity(unchecked) @usableFromInline var hashes: UnsafeMutablePointer<UInt32>
  @exclusivity(unchecked) @usableFromInline var capacity: Int
  @exclusivity(unchecked) @usableFromInline var count = 0
  /// Nodes of entities that somebody waits for, and which have no value yet.
  @exclusivity(unchecked) @usableFromInline var awaited: [T.ID: EntityNode<T>] = [:]
  @exclusivity(unchecked) @usableFromInline var awaitedIDs: [ObjectIdentifier: T.ID] = [:]

  /// `==`, if the type has it.
  @usableFromInline let isEqual: ((UnsafePointer<T>, UnsafePointer<T>) -> Bool)?
  @usableFromInline let keyPaths: ((UnsafePointer<T>) -> [PartialIdentifiableKeyPath<T>])?
  @usableFromInline let schemas: Schemas<T>
  /// Whether values of the type can contain entities.
  @usableFromInline let isAggregate: Bool
  @exclusivity(unchecked) @usableFromInline var staged = StagedValues<T>()

  @inlinable static var minimumCapacity: Int { 8 }

  @inlinable init(engine: Engine) {
    capacity = Self.minimumCapacity
    (slots, hashes) = Self.allocate(capacity)
    isEqual = equality(of: T.self)
    let fixed: [PartialIdentifiableKeyPath<T>]?
    (keyPaths, fixed) = relations(of: T.self)
    schemas = Schemas(fixed: fixed)
    isAggregate = keyPaths != nil || fixed != nil
    super.init(engine: engine, valueType: ObjectIdentifier(T.self), operations: EntityNode<T>.operations())
  }

  deinit {
    for i in 0..<capacity { slots[i]?.release() }
    slots.deallocate()
    hashes.deallocate()
    staged.destroy()
  }

  @inlinable static func allocate(
    _ capacity: Int
  ) -> (UnsafeMutablePointer<Unmanaged<EntityNode<T>>?>, UnsafeMutablePointer<UInt32>) {
    let slots = UnsafeMutablePointer<Unmanaged<EntityNode<T>>?>.allocate(capacity: capacity)
    slots.initialize(repeating: nil, count: capacity)
    let hashes = UnsafeMutablePointer<UInt32>.allocate(capacity: capacity)
    hashes.initialize(repeating: 0, count: capacity)
    return (slots, hashes)
  }

  /// The schema of all values, if they have the same.
  @inlinable @inline(__always) var fixedSchema: Schema<T>? { schemas.fixed }

  /// The relations of a value; `nil` if it can have none.
  @inlinable func schema(of value: UnsafePointer<T>) -> Schema<T>? {
    if let fixed = schemas.fixed { return fixed }
    guard let keyPaths else { return nil }
    return schemas.schema { keyPaths(value) }
  }

  /// Whether two values are known, at little cost, to have the same in all their relations.
  @inlinable func haveSameRelations(_ a: UnsafePointer<T>, _ b: UnsafePointer<T>) -> Bool {
    guard let schema = self.schema(of: a), schema === self.schema(of: b) else { return false }
    return schema.relations.allSatisfy { $0.isIdentical(a, b) }
  }

  // MARK: Finding

  @inlinable @inline(__always) static func hash(_ id: T.ID) -> UInt32 {
    let hash = id.hashValue
    // 0 says that a slot is free.
    return (UInt32(truncatingIfNeeded: hash) ^ UInt32(truncatingIfNeeded: hash >> 32)) | 1 << 31
  }

  /// The node with a value for the id, if there is one; the entity may have been removed since.
  @inlinable func node(for id: T.ID) -> EntityNode<T>? { node(for: id, hash: Self.hash(id)) }

  @inlinable @inline(__always) func node(for id: T.ID, hash: UInt32) -> EntityNode<T>? {
    entry(for: id, hash: hash)?.takeUnretainedValue()
  }

  /// The same, not counted as a reference: the table keeps the node.
  @inlinable func entry(for id: T.ID, hash: UInt32) -> Unmanaged<EntityNode<T>>? {
    let mask = capacity - 1
    var i = Int(hash) & mask
    while true {
      let found = hashes[i]
      if found == hash, let entry = slots[i], entry._withUnsafeGuaranteedRef({ $0.hasID(id) }) { return entry }
      if found == 0 { return nil }
      i = (i + 1) & mask
    }
  }

  /// The node for the id, made if there is none.
  @inlinable func nodeAwaiting(_ id: T.ID) -> EntityNode<T> {
    if let node = node(for: id) ?? awaited[id] { return node }
    let node = EntityNode<T>(table: self, value: nil)
    awaited[id] = node
    awaitedIDs[ObjectIdentifier(node)] = id
    return node
  }

  @inlinable func awaitedNode(for id: T.ID) -> EntityNode<T>? { awaited.isEmpty ? nil : awaited[id] }

  // MARK: Coming and going

  /// Puts a node into the table that has its first value.
  @inlinable func insert(_ node: EntityNode<T>, id: T.ID, hash: UInt32) {
    forgetAwaited(node)
    reserve(1)
    node.hash = hash
    node.flags.insert(.tabled)
    place(Unmanaged.passRetained(node), hash: hash)
    count += 1
  }

  /// Gives back what a peak left.
  @inlinable func shrink() {
    var wanted = capacity
    while wanted > Self.minimumCapacity, count * 8 < wanted { wanted /= 2 }
    if wanted < capacity { resize(to: wanted) }
  }

  /// Makes room for so many more.
  @inlinable func reserve(_ more: Int) {
    var wanted = capacity
    while (count + more) * 5 > wanted * 4 { wanted *= 2 }
    if wanted > capacity { resize(to: wanted) }
  }

  @inlinable func forgetAwaited(_ node: EntityNode<T>) {
    guard !awaitedIDs.isEmpty, let id = awaitedIDs.removeValue(forKey: ObjectIdentifier(node)) else { return }
    awaited[id] = nil
  }

  @inlinable func place(_ entry: Unmanaged<EntityNode<T>>, hash: UInt32) {
    let mask = capacity - 1
    var i = Int(hash) & mask
    while hashes[i] != 0 { i = (i + 1) & mask }
    slots[i] = entry
    hashes[i] = hash
  }

  @inlinable func remove(_ node: EntityNode<T>) {
    forgetAwaited(node)
    guard node.flags.contains(.tabled) else { return }
    let mask = capacity - 1
    var hole = Int(node.hash) & mask
    while let entry = slots[hole], entry._withUnsafeGuaranteedRef({ $0 !== node }) { hole = (hole + 1) & mask }
    guard let entry = slots[hole] else { return }
    // Linear probing without tombstones: entries after the hole move up as far as their hash allows.
    var i = hole
    while true {
      i = (i + 1) & mask
      guard let next = slots[i] else { break }
      let home = Int(hashes[i]) & mask
      if (i - home) & mask >= (i - hole) & mask {
        slots[hole] = next
        hashes[hole] = hashes[i]
        hole = i
      }
    }
    slots[hole] = nil
    hashes[hole] = 0
    count -= 1
    node.flags.remove(.tabled)
    shrink()
    entry.release()
  }

  @inlinable func resize(to newCapacity: Int) {
    let (oldSlots, oldHashes, oldCapacity) = (slots, hashes, capacity)
    (slots, hashes) = Self.allocate(newCapacity)
    capacity = newCapacity
    for i in 0..<oldCapacity {
      if let entry = oldSlots[i] { place(entry, hash: oldHashes[i]) }
    }
    oldSlots.deallocate()
    oldHashes.deallocate()
  }

  @usableFromInline override func allNodes() -> [Node] {
    (0..<capacity).compactMap { slots[$0]?.takeUnretainedValue() } + Array(awaited.values)
  }
}

/// `==` as a function of pointers, if `T` has it.
@inlinable func equality<T>(of type: T.Type) -> ((UnsafePointer<T>, UnsafePointer<T>) -> Bool)? {
  func open<E: Equatable>(_: E.Type) -> (UnsafePointer<T>, UnsafePointer<T>) -> Bool {
    { $0.at(0, as: E.self).pointee == $1.at(0, as: E.self).pointee }
  }
  guard let equatable = T.self as? any Equatable.Type else { return nil }
  return open(equatable)
}

/// How to learn the relations of a `T`, if it is an aggregate.
@inlinable func relations<T: Identifiable & Sendable>(
  of type: T.Type
) -> (((UnsafePointer<T>) -> [PartialIdentifiableKeyPath<T>])?, [PartialIdentifiableKeyPath<T>]?) {
  func open<A: Aggregate>(
    _: A.Type
  ) -> (((UnsafePointer<T>) -> [PartialIdentifiableKeyPath<T>])?, [PartialIdentifiableKeyPath<T>]?) {
    // `A` is `T`; only the compiler does not know.
    if let fixed = A.fixedRelations as? [PartialIdentifiableKeyPath<T>] { return (nil, fixed) }
    return (
      {
        unsafeBitCast(
          $0.at(0, as: A.self).pointee.nestedEntitiesKeyPaths, to: [PartialIdentifiableKeyPath<T>].self)
      }, nil
    )
  }
  guard let aggregate = T.self as? any Aggregate.Type else { return (nil, nil) }
  return open(aggregate)
}
