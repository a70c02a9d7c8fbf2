public import ConcordModel

/// A change in the attached stores that a view may have to show.
public enum StoreChange: Sendable {
  /// Rows of the given entities were inserted, changed or removed.
  case entities(Set<EntityKey>)
  /// Any rows of the given types may have changed: another process wrote, or a store was attached.
  case types(Set<EntityDescription>)
  /// The store that kept the given types was detached.
  case detached(Set<EntityDescription>)
}
