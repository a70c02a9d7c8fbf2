public import ConcordModel

/// What may be otherwise than before, for those who show it.
public enum StoreChange: Sendable {
  /// The rows of these entities came, changed or went.
  case entities(Set<EntityKey>)
  /// Any row of these types may have: another process wrote, or a store was attached.
  case types(Set<EntityDescription>)
  /// The store that kept these types was detached.
  case detached(Set<EntityDescription>)
}
