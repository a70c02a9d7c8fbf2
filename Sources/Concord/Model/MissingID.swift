// An entity whose id is `nil` has no identity: two such values have nothing in common. So none is ever found, and inside
// another entity none is an occurrence: it is a part of the value it stands in, until it gets an id.

/// Whether an id is `nil`, whatever its type. Where it counts, ask `Table.hasOptionalIDs` first.
@inlinable func isMissing<ID>(_ id: ID) -> Bool { _isOptional(ID.self) && isNil(id) }

@usableFromInline @inline(never) func isNil<Value>(_ value: Value) -> Bool {
  (value as? any OptionalID)?.isMissing ?? false
}

private protocol OptionalID {
  var isMissing: Bool { get }
}

extension Optional: OptionalID {
  fileprivate var isMissing: Bool { map { isNil($0) } ?? true }
}

/// Whether two values that stand in the same place are of one entity, so that what they show of it need not be compared. Of
/// values without an id everything is compared, since no entity has it.
@inlinable func isSameEntity<T: Identifiable>(_ a: T, _ b: T) -> Bool {
  guard a.id == b.id else { return false }
  return !isMissing(a.id) || haveSameBits(a, b) || (equality(of: T.self)?(a, b) ?? false)
}
