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

extension StoreChange {
  /// Two changes as one, for those who show the newest state anyway.
  static func merged(_ a: StoreChange, _ b: StoreChange) -> StoreChange? {
    // Large ones are not copied for the sake of a few.
    guard case .entities(let first) = a, case .entities(let second) = b, first.count + second.count <= 256 else {
      return nil
    }
    return .entities(first.union(second))
  }
}
