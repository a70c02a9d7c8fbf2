/// A list of relations, shared by all values of a type that have the same.
@usableFromInline class AnySchema {
  /// The type of the values; `nil` if there are none.
  @usableFromInline final let rootType: ObjectIdentifier?
  @usableFromInline final let places: [AnyRelation]
  /// Whether all relations are stored properties without observers.
  let isStored: Bool
  /// Whether bringing a value up to date may write in other places than the visited ones: by a setter, or in a wrapper.
  let mayReshape: Bool
  let orders: [PlaceOrder]
  /// Whether a value follows the entities in it at each commit, also if nobody reads it, since its relations may depend on them.
  @exclusivity(unchecked) fileprivate(set) final var followsEntities: Bool
  /// The number of values that are still to be followed, of a type whose values have all declared the same relations so far; 0
  /// otherwise.
  @exclusivity(unchecked) private var trials = 0
  /// Whether each relation can be omitted as a whole.
  let canOmit: [Omittability]
  /// Whether each relation can lose any of its occurrences.
  let canAlwaysRemove: [Bool]

  init(
    of rootType: ObjectIdentifier? = nil, places: [AnyRelation] = [], orders: [PlaceOrder], canOmit: [Omittability],
    canAlwaysRemove: [Bool], mayDependOnEntities: Bool
  ) {
    self.rootType = rootType
    self.places = places
    isStored = places.allSatisfy { $0.patchAt != nil }
    mayReshape = !isStored || orders.contains(.depends)
    self.orders = orders
    self.canOmit = canOmit
    self.canAlwaysRemove = canAlwaysRemove
    followsEntities = mayDependOnEntities
  }

  /// Lets values follow their entities until that has changed nothing often enough.
  fileprivate func tryFollowing() {
    if followsEntities { return }
    (followsEntities, trials) = (true, Self.mostTrials)
  }

  fileprivate func follow() { (followsEntities, trials) = (true, 0) }

  /// Notes that a value is about to follow its entities. If it then declares other relations, all values of the type do so for good.
  func willFollow() {
    guard trials > 0 else { return }
    trials -= 1
    if trials == 0 { followsEntities = false }
  }

  private static var mostTrials: Int { 64 }

  /// The ends of the relations' occurrences in the value that was written last: many values have the same, and share them.
  @exclusivity(unchecked) final var lastEnds: ContiguousArray<Int32> = []

  @inlinable final var indices: Range<Int> { places.indices }

  /// The names of the properties that lead to each relation, as in `edition.author`; another text for computed ones.
  var paths: [String] { [] }

  /// Returns the index of relation `k` in another schema of the same type; `nil` if that does not have it.
  func relation(_ k: Int, in other: AnySchema) -> Int? { k }
}

@usableFromInline final class Schema<Root>: AnySchema {
  @usableFromInline let keyPaths: [PartialIdentifiableKeyPath<Root>]
  /// The key paths of the relations that were not refused.
  private let sound: [PartialIdentifiableKeyPath<Root>]
  /// Whether a relation of the type to itself was refused.
  let refusesSelf: Bool

  @usableFromInline init(_ keyPaths: [PartialIdentifiableKeyPath<Root>]) {
    let sound = keyPaths.filter { !$0.isSelf }
    let relations = sound.map { $0.makeRelation() }
    self.keyPaths = keyPaths
    self.sound = sound
    refusesSelf = sound.count < keyPaths.count
    super.init(
      of: ObjectIdentifier(Root.self), places: relations, orders: relations.map { $0.order },
      canOmit: relations.map { $0.canOmit },
      canAlwaysRemove: relations.map { $0.canAlwaysRemove },
      mayDependOnEntities: relations.contains { $0.mayDependOnEntities })
  }

  override func relation(_ k: Int, in other: AnySchema) -> Int? {
    if other === self { return k }
    guard let other = other.typed(Root.self) else { return nil }
    return other.sound.firstIndex { $0.isSame(as: sound[k]) }
  }

  override var paths: [String] {
    // A key path describes itself as `\Book.edition.author`.
    let start = "\\\(Root.self)."
    return sound.map { path in
      let text = String(describing: path.keyPath)
      return text.hasPrefix(start) ? String(text.dropFirst(start.count)) : text
    }
  }

  /// Whether the schema is that of values with the given relations.
  @inlinable func describes(_ others: [PartialIdentifiableKeyPath<Root>]) -> Bool {
    guard keyPaths.count == others.count else { return false }
    for i in keyPaths.indices where !keyPaths[i].isSame(as: others[i]) { return false }
    return true
  }
}

/// The schemas of one type, for code that does not know the type.
@usableFromInline class AnySchemas {
  /// The type of the values.
  @usableFromInline final let rootType: ObjectIdentifier

  @usableFromInline init(of rootType: ObjectIdentifier) { self.rootType = rootType }
}

/// The schemas of one type: one if its relations are fixed, otherwise those that its values have had.
@usableFromInline final class Schemas<Root>: AnySchemas {
  @usableFromInline let fixed: Schema<Root>?
  /// The key path of the whole value, cached since the runtime would make a new one each time.
  @usableFromInline let whole: WritableKeyPath<Root, Root> = \Root.self
  private var seen: [Schema<Root>] = []
  /// The schema found last. Fast path: usually all values of a type declare the same relations.
  @exclusivity(unchecked) @usableFromInline private(set) var last: Schema<Root>?

  @usableFromInline init(fixed: [PartialIdentifiableKeyPath<Root>]?) {
    self.fixed = fixed.map { Schema($0) }
    super.init(of: ObjectIdentifier(Root.self))
  }

  /// The number of schemas that are remembered.
  static var limit: Int { 16 }

  /// Returns the schema of values with the given relations.
  @inlinable func find(_ wanted: [PartialIdentifiableKeyPath<Root>]) -> Schema<Root> {
    if let last, last.describes(wanted) { return last }
    return search(wanted)
  }

  @usableFromInline func search(_ wanted: [PartialIdentifiableKeyPath<Root>]) -> Schema<Root> {
    let known = seen.first { $0.describes(wanted) }
    let schema = known ?? Schema(wanted)
    if known == nil {
      // Bounded, since the relations of values may keep differing.
      if seen.count == Self.limit { seen.removeFirst() }
      seen.append(schema)
      if seen.count == 1 { schema.tryFollowing() } else { for schema in seen { schema.follow() } }
    }
    last = schema
    return schema
  }
}
