#if Inspector
  import Concord

  /// Answers what is around an entity.
  final class Neighbourhood: Sendable {
    private let store: EntityStore
    private let types: EntityTypes
    /// The neighbours that were shown last, for the next page. They have keys, and keep no values.
    private let known = Locked<Known?>(nil)

    private struct Known: Sendable {
      let key: InspectedKey
      let writes: UInt64
      let neighbours: InspectedNeighbours
    }

    /// The numbers of neighbours that are told with an entity, of those that are drawn, and of those that are drawn behind each of them.
    private static let (few, drawn, behind) = (12, 5, 2)

    init(_ store: EntityStore, _ types: EntityTypes) { (self.store, self.types) = (store, types) }

    /// Returns a page of the neighbours of an entity; `nil` if it is not stored.
    func list(of key: InspectedKey, _ side: InspectedSide, offset: Int, limit: Int) -> NeighbourList? {
      guard let neighbours = neighbours(of: key) else { return nil }
      let links = neighbours[side]
      return NeighbourList(total: links.count, offset: offset, items: links.dropFirst(offset).prefix(limit).map(link))
    }

    /// Returns the first neighbours of an entity, with what is behind them.
    func first(of key: InspectedKey, _ side: InspectedSide) -> NeighbourList {
      let links = neighbours(of: key)?[side] ?? []
      let first = links.prefix(Self.few)
      let behind = store.inspectedNeighbours(first.prefix(Self.drawn).map(\.key), side, limit: Self.behind)
      let items = first.enumerated().map { index, one in
        var item = link(one)
        if index < Self.drawn {
          item.next = behind[one.key]?.first.map(link) ?? []
          item.nextCount = behind[one.key]?.count ?? 0
        }
        return item
      }
      return NeighbourList(total: links.count, offset: 0, items: items)
    }

    private func link(_ link: InspectedLink) -> EntityAnswer.Link {
      EntityAnswer.Link(entity: types.reference(link.key), place: link.place)
    }

    private func neighbours(of key: InspectedKey) -> InspectedNeighbours? {
      let writes = store.inspectedWrites
      if let known = known.withLock({ $0 }), known.key == key, known.writes == writes { return known.neighbours }
      guard var neighbours = store.inspectedNeighbours(key) else { return nil }
      neighbours.parents = ordered(neighbours.parents)
      let made = Known(key: key, writes: writes, neighbours: neighbours)
      known.withLock { $0 = made }
      return neighbours
    }

    /// The engine moves the places of an entity about, whenever somebody reads what contains it. In lists they keep their order.
    private func ordered(_ links: [InspectedLink]) -> [InspectedLink] {
      let groups = Dictionary(grouping: links) { $0.key.type }.map { (types.names(of: $0).key, $1) }
      return groups.sorted { $0.0 < $1.0 }.flatMap { _, links in
        links.map { (ListPosition(of: $0.key.id), $0) }.sorted { ($0.0, $0.1.place) < ($1.0, $1.1.place) }.map(\.1)
      }
    }
  }

  extension InspectedNeighbours {
    fileprivate subscript(side: InspectedSide) -> [InspectedLink] {
      switch side {
      case .parents: parents
      case .children: children
      }
    }
  }
#endif
