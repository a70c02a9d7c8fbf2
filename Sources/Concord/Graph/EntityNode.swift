/// A node with a value.
@usableFromInline final class EntityNode<T>: Node {
  /// The newest value; `nil` only while the entity is awaited for the first time. The children in it may be old (`isStale`).
  /// A removed entity keeps its last value for its observers.
  // Spelled out, since `T?` would be set to `nil` first.
  @exclusivity(unchecked) @usableFromInline final var value: Optional<T>

  /// Creates a node without a value, for an entity that is awaited.
  @inlinable override init(table: AnyTable) {
    value = nil
    super.init(table: table)
  }

  /// Creates a node with a value. Required, so that unspecialised code creates it by `Table.nodeType`, without asking the
  /// runtime.
  @inlinable required init(table: AnyTable, value: consuming T) {
    self.value = .some(value)
    super.init(table: table)
  }
}

extension EntityNode where T: Identifiable {
  // Not `value?.id == id`: unspecialised code would ask the runtime for the comparison of two optionals.
  @inlinable func hasID(_ id: T.ID) -> Bool {
    switch value {
    case .some(let present): present.id == id
    case .none: false
    }
  }

  /// Replaces the value, unless both are the same. Returns whether it did. Copies nothing.
  @inlinable func replaceValue(with new: consuming T, unless isSame: (T, T) -> Bool) -> Bool {
    // Taken out while it is compared: `==` cannot call back, since the lock is held.
    guard let present = value.take() else { return false }
    if isSame(present, new) {
      value = consume present
      return false
    }
    value = consume new
    return true
  }
}
