import ConcordModel

/// The types that a view could not read when they were to be shown, and when it tries that again.
struct UnshownTypes {
  private(set) var types: Set<EntityDescription> = []
  private var delay = Self.shortest
  private static let (shortest, longest) = (1.0, 30.0)
  /// Whether they are being shown again. A failure was told already then.
  private(set) var isBeingShown = false

  /// Adds types.
  ///
  /// - Returns: the time after which they are to be shown, in seconds; `nil` if that is under way.
  mutating func add(_ new: Set<EntityDescription>) -> Double? {
    let isFirst = types.isEmpty && !new.isEmpty
    types.formUnion(new)
    return isFirst ? delay : nil
  }

  /// Begins to show them. Those that fail are added again.
  mutating func begin() -> Set<EntityDescription> {
    isBeingShown = true
    delay = min(2 * delay, Self.longest)
    defer { types = [] }
    return types
  }

  mutating func end() {
    isBeingShown = false
    if types.isEmpty { delay = Self.shortest }
  }
}
