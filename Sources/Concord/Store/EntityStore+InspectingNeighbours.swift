#if Inspector
  extension EntityStore {
    /// Returns the entities around one; `nil` if it is not stored.
    ///
    /// - Complexity: O(*n*) with the lock, for *n* neighbours.
    package func inspectedNeighbours(_ key: InspectedKey) -> InspectedNeighbours? {
      shared.readCommitted { core in
        core.node(key).map { node in
          var names = PlaceNames()
          return InspectedNeighbours(
            parents: names.links(of: node, .parents, limit: .max),
            children: names.links(of: node, .children, limit: .max))
        }
      }
    }

    /// Returns the first neighbours of some entities on one side, and the number of all.
    ///
    /// - Complexity: O(*n*) with the lock, for *n* neighbours.
    package func inspectedNeighbours(
      _ keys: [InspectedKey], _ side: InspectedSide, limit: Int
    ) -> [InspectedKey: (first: [InspectedLink], count: Int)] {
      shared.readCommitted { core in
        var names = PlaceNames()
        var found: [InspectedKey: (first: [InspectedLink], count: Int)] = [:]
        for key in keys {
          guard let node = core.node(key) else { continue }
          let count =
            switch side {
            case .parents: node.parents.count { !$0.parent.table.isInternal }
            case .children: node.children?.edges.count ?? 0
            }
          found[key] = (names.links(of: node, side, limit: limit), count)
        }
        return found
      }
    }
  }

  /// The names of the places in values, made once for each schema.
  private struct PlaceNames {
    private var names: [ObjectIdentifier: [String]] = [:]

    mutating func links(of node: Node, _ side: InspectedSide, limit: Int) -> [InspectedLink] {
      var links: [InspectedLink] = []
      switch side {
      case .parents:
        // Those of the engine's own, such as aliases, have no key.
        for edge in node.parents where links.count < limit {
          guard let key = InspectedKey(edge.parent) else { continue }
          links.append(InspectedLink(key: key, place: name(of: edge.ordinal, in: edge.parent)))
        }
      case .children:
        for (ordinal, edge) in (node.children?.edges.prefix(limit) ?? []).enumerated() {
          guard let key = InspectedKey(edge.child) else { continue }
          links.append(InspectedLink(key: key, place: name(of: Int32(truncatingIfNeeded: ordinal), in: node)))
        }
      }
      return links
    }

    private mutating func name(of ordinal: Int32, in node: Node) -> String {
      guard let children = node.children else { return "" }
      let schema = children.schema
      let paths = names[ObjectIdentifier(schema)] ?? schema.paths
      names[ObjectIdentifier(schema)] = paths
      let relation = children.relation(of: ordinal)
      return paths.indices.contains(relation) ? paths[relation] : ""
    }
  }
#endif
