/// A type of property in which entities can stand. Places compose: an optional place, a collection of places.
///
/// `visit`, `patch` and `remove` pass the occurrences in the same order for the same value. Nothing relies on it for
/// safety: each occurrence is checked for its type and its id before it is written or removed.
@usableFromInline protocol Place {
  associatedtype Value
  /// Visits each occurrence.
  static func visit(_ value: Value, _ visitor: Visitor)
  /// Writes newer values where the cursor has some.
  static func patch(_ value: inout Value, _ cursor: inout PatchCursor)
  /// Removes the occurrences of removed entities. `false` if one of them cannot go; `value` may be half changed then.
  static func remove(from value: inout Value, _ cursor: RemovalCursor) -> Bool
  /// Whether the two are known, at little cost, to be the same: `false` may only mean that one has to look.
  static func isIdentical(_ a: Value, _ b: Value) -> Bool
  /// Writes the entities of a value of the same shape (the same entities in the same places); `false` if the shapes differ.
  static func transplant(_ source: Value, into value: inout Value, _ graph: Graph) -> Bool
  /// Leaves out all occurrences, as far as that can be.
  static func omit(_ value: inout Value, _ graph: Graph)
  /// Whether what stands here stands for a relation that was left out.
  static func omission(of value: Value) -> Omission
  /// Takes the storage away by which an empty collection is recognised as one that was left out.
  static func forgetOmission(of value: inout Value)
  /// Whether the whole place can be left out: made empty or `nil`.
  static var canOmit: Omittability { get }
  /// Whether any occurrence can be removed, whatever the value.
  static var canAlwaysRemove: Bool { get }
  /// What the order in which the place is visited says of the value.
  static var order: PlaceOrder { get }
  /// Which place it is, the compiler could not see: it is found by the type when the relation is made.
  static var isFoundLater: Bool { get }
}

/// What the order in which a place is visited says of the value.
@usableFromInline enum PlaceOrder: Sendable {
  /// Another order is another value.
  case elements
  /// The order may differ between equal values.
  case none
  /// Parts of the place have an order, others may have none: only comparing tells.
  case depends
}

/// Whether a place can be left out as a whole.
@usableFromInline enum Omittability: Sendable {
  case never
  case always
  /// Only trying tells: a setter may ignore what it is given.
  case depends
}

/// Whether a value stands for a relation that was left out of a brief form.
@usableFromInline enum Omission: Sendable {
  /// It is a value like any other.
  case none
  /// It is the very storage that the store hands out for a collection that was left out.
  case omitted
  /// It is `nil`, or empty without a storage of its own: left out if it stands inside an entity of the same cycle.
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
  @usableFromInline static var isFoundLater: Bool { false }
}
