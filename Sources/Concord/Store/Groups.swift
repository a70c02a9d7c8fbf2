/// The entity behind an observer of a collection that has no alias.
@usableFromInline struct Group<Element: Identifiable & Sendable>: Aggregate {
  @usableFromInline let id: UInt64
  @usableFromInline var elements: [Element]

  @usableFromInline var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { Self.relations }
  @usableFromInline static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { relations }
  @inlinable static var relations: [PartialIdentifiableKeyPath<Self>] { [.init(\.elements)] }
}

extension Group: Equatable where Element: Equatable {}

extension StoreCore {
  /// Stores entities, and returns a source of all of them.
  func storeGroup<T: Identifiable & Sendable>(
    _ elements: [T], modifiedAt stamp: Stamp?, _ relations: [PartialIdentifiableKeyPath<Group<T>>],
    _ shared: SharedCore
  ) -> ObserverSource<[T]> {
    let table = groupTable(T.self, relations)
    groupCount += 1
    let group = Group(id: groupCount, elements: elements)
    let node = store(group, in: table, stamp)
    return source(of: node, shared)
  }

  /// Returns a source of entities that were just stored. It shows the stored values, not those in `elements`.
  func groupSource<T: Identifiable & Sendable>(of elements: [T], _ shared: SharedCore) -> ObserverSource<[T]> {
    let table = groupTable(T.self, Group<T>.relations)
    groupCount += 1
    // Stale at once, so that only the identities of the elements count.
    let group = Group(id: groupCount, elements: elements)
    let node = storeAggregate(group, in: table, -.infinity) ?? storeFlat(group, in: table, nil)
    return source(of: node, shared)
  }

  private func source<T>(of node: EntityNode<Group<T>>, _ shared: SharedCore) -> ObserverSource<[T]> {
    PartSource<Group<T>, [T]>(node, shared, isNothing: { $0?.elements.isEmpty ?? true }) { $0?.elements ?? [] }
  }

  private func groupTable<T: Identifiable & Sendable>(
    _ type: T.Type, _ relations: [PartialIdentifiableKeyPath<Group<T>>]
  ) -> Table<Group<T>> {
    if let known = graph.knownTable(Group<T>.self) { return known }
    let table = graph.add(
      Table<Group<T>>(
        equalityInPlace(of: Group<T>.self), Declarations(Schemas(fixed: relations))))
    table.isInternal = true
    return table
  }
}
