// An entity whose id is `nil` has no identity: two such values are unrelated. So the store never finds one, and inside another
// entity it is no occurrence, but a part of that entity's value until it gets an id.

/// Whether an id of any type is `nil`. On hot paths check `Table.hasOptionalIDs` first.
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

/// Whether two values in the same place are of one entity, so that their contents need not be compared. Values without an id
/// are compared as a whole, since they are of no entity.
@inlinable func isSameEntity<T: Identifiable>(_ a: T, _ b: T) -> Bool {
  guard a.id == b.id else { return false }
  return !isMissing(a.id) || haveSameBits(a, b) || (equality(of: T.self)?(a, b) ?? false)
}
