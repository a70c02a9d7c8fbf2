/// The relations of one value, shared by all values of the type that have the same.
@usableFromInline class AnySchema {
  /// The type of the values; `nil` if there are none.
  @usableFromInline final let rootType: ObjectIdentifier?
  @usableFromInline final let places: [AnyRelation]
  /// No getter, setter or observer comes between any of the relations and the value.
  let isStored: Bool
  /// Bringing a value up to date may write in other places than those visited: behind a setter, or in a wrapper.
  let mayReshape: Bool
  let orders: [PlaceOrder]
  /// Whether each relation can be left out as a whole.
  let canOmit: [Omittability]
  /// Whether each relation can lose any of its occurrences.
  let canAlwaysRemove: [Bool]

  init(
    of rootType: ObjectIdentifier? = nil, places: [AnyRelation] = [], orders: [PlaceOrder], canOmit: [Omittability],
    canAlwaysRemove: [Bool]
  ) {
    self.rootType = rootType
    self.places = places
    isStored = places.allSatisfy { $0.patchAt != nil }
    mayReshape = !isStored || orders.contains(.depends)
    self.orders = orders
    self.canOmit = canOmit
    self.canAlwaysRemove = canAlwaysRemove
  }

  @inlinable final var indices: Range<Int> { places.indices }

  /// Which relation of another schema of the same type is relation `k` of this one; `nil` if none is.
  func relation(_ k: Int, in other: AnySchema) -> Int? { k }
}

@usableFromInline final class Schema<Root>: AnySchema {
  @usableFromInline let keyPaths: [PartialIdentifiableKeyPath<Root>]
  /// Those of the relations, without what was refused.
  private let sound: [PartialIdentifiableKeyPath<Root>]
  /// A relation of the type to itself, which was refused.
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
      canAlwaysRemove: relations.map { $0.canAlwaysRemove })
  }

  override func relation(_ k: Int, in other: AnySchema) -> Int? {
    if other === self { return k }
    guard let other = other.typed(Root.self) else { return nil }
    return other.sound.firstIndex { $0.isSame(as: sound[k]) }
  }

  /// Whether values that declare these relations have the schema.
  @inlinable func describes(_ others: [PartialIdentifiableKeyPath<Root>]) -> Bool {
    guard keyPaths.count == others.count else { return false }
    for i in keyPaths.indices where !keyPaths[i].isSame(as: others[i]) { return false }
    return true
  }
}

/// The schemas of one type, whatever it is.
@usableFromInline class AnySchemas {
  /// The type of the values.
  @usableFromInline final let rootType: ObjectIdentifier

  @usableFromInline init(of rootType: ObjectIdentifier) { self.rootType = rootType }
}

/// The schemas of one type: one if its relations are fixed, else those its values were seen to have.
@usableFromInline final class Schemas<Root>: AnySchemas {
  @usableFromInline let fixed: Schema<Root>?
  /// The key path of the whole value, which the runtime would make anew each time.
  @usableFromInline let whole: WritableKeyPath<Root, Root> = \Root.self
  private var seen: [Schema<Root>] = []
  /// What was found last: most values of a type declare the same.
  @exclusivity(unchecked) @usableFromInline private(set) var last: Schema<Root>?

  @usableFromInline init(fixed: [PartialIdentifiableKeyPath<Root>]?) {
    self.fixed = fixed.map { Schema($0) }
    super.init(of: ObjectIdentifier(Root.self))
  }

  /// How many schemas are remembered.
  static var limit: Int { 16 }

  /// The schema of a value that declares these relations.
  @inlinable func find(_ wanted: [PartialIdentifiableKeyPath<Root>]) -> Schema<Root> {
    if let last, last.describes(wanted) { return last }
    return search(wanted)
  }

  @usableFromInline func search(_ wanted: [PartialIdentifiableKeyPath<Root>]) -> Schema<Root> {
    let known = seen.first { $0.describes(wanted) }
    let schema = known ?? Schema(wanted)
    if known == nil {
      // Values whose relations keep differing must not make the list grow without end.
      if seen.count == Self.limit { seen.removeFirst() }
      seen.append(schema)
    }
    last = schema
    return schema
  }
}
