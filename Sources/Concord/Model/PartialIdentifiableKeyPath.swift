/// A place in `Root` where entities stand: a writable key path to an entity, or to something that holds entities.
///
/// ```swift
/// var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.author), .init(\.books)] }
/// ```
///
/// The path may lead through any depth of plain structs. A stored property is reached by its offset in memory, a computed
/// one through its getter and setter.
public struct PartialIdentifiableKeyPath<Root> {
  @usableFromInline let keyPath: PartialKeyPath<Root>
  @usableFromInline let place: any Place.Type
  @usableFromInline let make: (PartialKeyPath<Root>) -> Relation<Root>?

  @inlinable init<P: Place>(_ keyPath: WritableKeyPath<Root, P.Value>, _ place: P.Type) {
    self.keyPath = keyPath
    self.place = place
    make = { ($0 as? WritableKeyPath<Root, P.Value>).map { Concord.makeRelation(P.self, at: $0) } }
  }

  /// The path leads nowhere: an entity cannot stand inside itself.
  var isSelf: Bool { keyPath == \Root.self }

  /// The function got the key path it was made with, so there is a relation.
  func makeRelation() -> Relation<Root> {
    (place.isFoundLater ? place.find(at: keyPath) : make(keyPath)) ?? Relation()
  }

  /// The same literal gives the same key path, most often.
  @inlinable @inline(__always) func isSame(as other: Self) -> Bool {
    ObjectIdentifier(place) == ObjectIdentifier(other.place)
      && (keyPath === other.keyPath || areEqual(keyPath, other.keyPath))
  }
}

// Not specialised for each type of values, since that is rarely needed.
@inline(never)
@usableFromInline func areEqual(_ one: AnyKeyPath, _ other: AnyKeyPath) -> Bool { one == other }
