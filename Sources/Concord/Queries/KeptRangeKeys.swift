/// The keys of entities, by the numbers of the entities.
///
/// All values of one type have keys of one case. Numbers, which most have, are kept as such, in half of the room.
struct KeptRangeKeys {
  private var ranks: [UInt64: UInt64] = [:]
  private var others: [UInt64: RangeKey] = [:]
  /// The entities whose values have no key.
  private var unordered: Set<UInt64> = []

  /// The key of an entity, as far as it has one.
  enum State {
    /// None: the entity is not there.
    case absent
    /// None: `<` does not order the value.
    case unordered
    case key(RangeKey)

    init(_ key: RangeKey?) {
      switch key {
      case .some(let key): self = .key(key)
      case .none: self = .unordered
      }
    }
  }

  /// Replaces the state of an entity, and returns the former one.
  mutating func replace(_ number: UInt64, by new: State) -> State {
    switch new {
    case .key(.number(let rank)):
      guard let old = ranks.updateValue(rank, forKey: number) else { return takeUnordered(number) }
      return .key(.number(old))
    case .key(let key):
      guard let old = others.updateValue(key, forKey: number) else { return takeUnordered(number) }
      return .key(old)
    case .unordered:
      guard unordered.insert(number).inserted else { return .unordered }
      return takeKey(number)
    case .absent:
      let old = takeKey(number)
      guard case .absent = old else { return old }
      return takeUnordered(number)
    }
  }

  private mutating func takeKey(_ number: UInt64) -> State {
    if let rank = ranks.removeValue(forKey: number) {
      ranks.shrink()
      return .key(.number(rank))
    }
    guard let key = others.removeValue(forKey: number) else { return .absent }
    others.shrink()
    return .key(key)
  }

  private mutating func takeUnordered(_ number: UInt64) -> State {
    guard !unordered.isEmpty, unordered.remove(number) != nil else { return .absent }
    unordered.shrink()
    return .unordered
  }
}
