/// A place in `Root` where entities stand: a writable key path to an entity, or to a value that contains entities.
///
/// ```swift
/// var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.author), .init(\.books)] }
/// ```
///
/// The path may lead through any depth of plain structs. A stored property is accessed by its offset in memory, a computed one
/// through its getter and setter.
public struct PartialIdentifiableKeyPath<Root> {
  @usableFromInline let keyPath: PartialKeyPath<Root>
  @usableFromInline let place: any Place.Type
  @usableFromInline let make: (PartialKeyPath<Root>) -> Relation<Root>?

  @inlinable init<P: Place>(_ keyPath: WritableKeyPath<Root, P.Value>, _ place: P.Type) {
    self.keyPath = keyPath
    self.place = place
    make = { ($0 as? WritableKeyPath<Root, P.Value>).map { Concord.makeRelation(P.self, at: $0) } }
  }

  /// Whether the path leads to the root itself, which is refused: an entity cannot stand inside itself.
  var isSelf: Bool { keyPath == \Root.self }

  /// Returns the relation at the path. `make` casts the path to the type that it was created with, so the cast succeeds.
  func makeRelation() -> Relation<Root> {
    (place.isFoundLater ? place.find(at: keyPath) : make(keyPath)) ?? Relation()
  }

  /// Whether two paths are equal. Fast path: a key path literal usually gives the same object each time.
  @inlinable @inline(__always) func isSame(as other: Self) -> Bool {
    ObjectIdentifier(place) == ObjectIdentifier(other.place)
      && (keyPath === other.keyPath || areEqual(keyPath, other.keyPath))
  }
}

// Not specialised for each type, since it is rarely called.
@inline(never)
@usableFromInline func areEqual(_ one: AnyKeyPath, _ other: AnyKeyPath) -> Bool { one == other }
