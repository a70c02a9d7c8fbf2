/// A kind of property that can contain entities. Places compose: an optional of a place, a collection of places.
///
/// `visit`, `patch` and `remove` pass the occurrences of a value in the same order. Safety does not depend on that: the type
/// and the id of each occurrence are checked before it is written or removed.
@usableFromInline protocol Place {
  associatedtype Value
  /// Visits each occurrence.
  static func visit(_ value: Value, _ visitor: Visitor)
  /// Writes the newer values that the cursor has.
  static func patch(_ value: inout Value, _ cursor: inout PatchCursor)
  /// Removes the occurrences of removed entities. Returns `false` if one of them cannot be removed; `value` may then be
  /// partially changed.
  static func remove(from value: inout Value, _ cursor: RemovalCursor) -> Bool
  /// Whether two values are known, at little cost, to be the same. `false` may mean that they have to be compared.
  static func isIdentical(_ a: Value, _ b: Value) -> Bool
  /// Copies the entities of a value that has the same entities in the same places. Returns `false` if it does not.
  static func transplant(_ source: Value, into value: inout Value, _ graph: Graph) -> Bool
  /// Omits all occurrences, as far as possible.
  static func omit(_ value: inout Value, _ graph: Graph)
  /// Returns whether a value is that of an omitted relation.
  static func omission(of value: Value) -> Omission
  /// Replaces the storage by which an empty collection is recognised as omitted.
  static func forgetOmission(of value: inout Value)
  /// Whether the place can be omitted as a whole: made empty or `nil`.
  static var canOmit: Omittability { get }
  /// Whether any occurrence can be removed, whatever the value.
  static var canAlwaysRemove: Bool { get }
  /// The meaning of the order in which the place is visited.
  static var order: PlaceOrder { get }
  /// Whether the entities in the place may depend on the values of other entities in it, as those of a wrapper may.
  static var mayDependOnEntities: Bool { get }
  /// Whether the actual place is found at run time, when the relation is made.
  static var isFoundLater: Bool { get }
}

/// The meaning of the order in which a place is visited.
@usableFromInline enum PlaceOrder: Sendable {
  /// Values with different orders differ.
  case elements
  /// The order may differ between equal values.
  case none
  /// A place of which some parts have an order, and other parts may have none: only comparing the values tells.
  case depends
}

/// The possibility to omit a place as a whole.
@usableFromInline enum Omittability: Sendable {
  case never
  case always
  /// Only trying tells: a setter may ignore its value.
  case depends
}

/// The possible meanings of a value as that of a relation which a brief form omits.
@usableFromInline enum Omission: Sendable {
  /// The value is not that of an omitted relation.
  case none
  /// The value has the storage that the store uses for omitted collections.
  case omitted
  /// The value is `nil`, or empty without a storage of its own: omitted if it is inside an entity of the same cycle.
  case absent
}

extension Place {
  @usableFromInline static func isIdentical(_ a: Value, _ b: Value) -> Bool { haveSameBits(a, b) }
  @usableFromInline static func omit(_ value: inout Value, _ graph: Graph) {}
  @usableFromInline static func omission(of value: Value) -> Omission { .none }
  @usableFromInline static func forgetOmission(of value: inout Value) {}
  @usableFromInline static var canOmit: Omittability { .never }
  @usableFromInline static var canAlwaysRemove: Bool { false }
  @usableFromInline static var order: PlaceOrder { .elements }
  @usableFromInline static var mayDependOnEntities: Bool { false }
  @usableFromInline static var isFoundLater: Bool { false }
}
