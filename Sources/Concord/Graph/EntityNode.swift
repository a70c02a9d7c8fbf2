/// A node with a value.
@usableFromInline final class EntityNode<T>: Node {
  /// The newest value; `nil` only while the entity is awaited for the first time. What it shows of its children may be
  /// old (`isStale`). A removed entity keeps its last value for those who observe it.
  @exclusivity(unchecked) @usableFromInline final var value: T?

  @inlinable init(table: AnyTable, value: T?) {
    self.value = value
    super.init(table: table)
  }
}

extension EntityNode where T: Identifiable {
  @inlinable func hasID(_ id: T.ID) -> Bool { value?.id == id }
}
