extension EntityStore {
  /// Whether the entity is stored, or somebody waits for it, or observes what it was.
  ///
  /// - Complexity: constant.
  package func isKnown<T: Identifiable & Sendable>(_ type: T.Type, id: T.ID) -> Bool {
    shared.read(token) { core, _ in
      let table = core.graph.table(type)
      return table.find(id) != nil || table.awaits(id)
    }
  }

  /// The ids of all such entities of a type.
  package func knownIDs<T: Identifiable & Sendable>(of type: T.Type) -> [T.ID] {
    shared.read(token) { core, _ in
      let table = core.graph.table(type)
      return table.index.all.compactMap { $0.typed(type)?.value?.id } + table.idsAwaited
    }
  }
}
