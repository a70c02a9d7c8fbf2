/// A node with a value.
@usableFromInline final class EntityNode<T>: Node {
  /// The newest value; `nil` only while the entity is awaited for the first time. What it shows of its children may be
  /// old (`isStale`). A removed entity keeps its last value for those who observe it.
  // Spelled out, since `T?` would be set to `nil` first.
  @exclusivity(unchecked) @usableFromInline final var value: Optional<T>

  /// Of an entity that somebody waits for.
  @inlinable override init(table: AnyTable) {
    value = nil
    super.init(table: table)
  }

  /// Required, so that code that is not specialised for the type makes it by `Table.nodeType`, without asking the runtime.
  @inlinable required init(table: AnyTable, value: consuming T) {
    self.value = .some(value)
    super.init(table: table)
  }
}

extension EntityNode where T: Identifiable {
  // Not `value?.id == id`: where it is not specialised, the runtime is asked for what compares two optionals.
  @inlinable func hasID(_ id: T.ID) -> Bool {
    switch value {
    case .some(let present): present.id == id
    case .none: false
    }
  }

  /// Puts a value in place of the one that is there, unless they are the same; whether it did. Nothing is copied.
  @inlinable func replaceValue(with new: consuming T, unless isSame: (T, T) -> Bool) -> Bool {
    // Taken out for as long as it is compared: `==` cannot come back here, since the lock is held.
    guard let present = value.take() else { return false }
    if isSame(present, new) {
      value = consume present
      return false
    }
    value = consume new
    return true
  }
}
