extension EntityStore {
  /// Whether the entity is stored, or somebody waits for it, or observes what it was.
  ///
  /// - Complexity: constant.
  package func isKnown<T: Identifiable & Sendable>(_ type: T.Type, id: T.ID) -> Bool {
    shared.read(token) { core, _ in core.graph.table(type).find(id) != nil }
  }
}
