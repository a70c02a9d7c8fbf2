extension EntityStore {
  /// Whether an entity is stored, or an observer waits for it or keeps its last value.
  ///
  /// In a transaction this leaves optimistic layers where they are, since it reads no value.
  ///
  /// - Complexity: constant.
  package func isKnown<T: Identifiable & Sendable>(_ type: T.Type, id: T.ID) -> Bool {
    shared.readCommitted { core in
      let table = core.graph.table(type)
      return table.find(id) != nil || table.awaits(id)
    }
  }

  /// Returns an object that retains an entity, now or once it is stored. In a transaction this leaves optimistic layers where
  /// they are.
  ///
  /// - Complexity: constant.
  package func keeper<T: Identifiable & Sendable>(_ type: T.Type, id: T.ID) -> any Sendable {
    shared.readCommitted { core in EntityObserver(PartSource(core.graph.table(type).nodeAwaiting(id), shared) { $0 }) }
  }

  /// Returns the ids of all known entities of a type; see ``isKnown(_:id:)``.
  package func knownIDs<T: Identifiable & Sendable>(of type: T.Type) -> [T.ID] {
    shared.read(token) { core, _ in
      let table = core.graph.table(type)
      return table.index.all.compactMap { $0.typed(type)?.value?.id } + table.idsAwaited
    }
  }
}
