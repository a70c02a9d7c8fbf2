/// What a merge makes of a value.
public enum Fate<Value> {
  /// It stays as it is.
  case stays
  /// It takes this state.
  case changes(to: Value)
  /// It was removed, or cannot do without what was.
  case goes
}

extension Fate: Sendable where Value: Sendable {}

extension ConsistentMerge {
  /// What this merge makes of `value`: for a container of your own which can do without it.
  ///
  /// ```swift
  /// switch merge.fate(of: element) {
  /// case .stays: kept.append(element)
  /// case .changes(let newer): kept.append(newer)
  /// case .goes: break
  /// }
  /// ```
  ///
  /// Where ``updated(_:)`` is asked instead, whatever holds `value` goes with it.
  @inlinable
  public func fate<Value: ConsistentValue>(of value: Value) -> Fate<Value> {
    withFate { value.merged(by: self) }
  }

  /// What this merge makes of a value, when `walk` gives what is newer.
  @inlinable
  func withFate<Value>(_ walk: () -> Value?) -> Fate<Value> {
    guard removes else { return walk().map { .changes(to: $0) } ?? .stays }
    let isOuterGone = isGone
    isGone = false
    defer { isGone = isOuterGone }
    let newer = walk()
    return isGone ? .goes : newer.map { .changes(to: $0) } ?? .stays
  }

  /// The elements without those that go, and with those replaced that change; `nil` if all stay.
  @inlinable
  func left<Elements: MutableCollection & RangeReplaceableCollection>(
    of elements: Elements, _ walk: (Elements.Element) -> Elements.Element?
  ) -> Elements? {
    var result: Elements?
    var gone: [Elements.Index] = []
    for index in elements.indices {
      switch withFate({ walk(elements[index]) }) {
      case .stays: continue
      case .changes(let newer):
        if result == nil { result = elements }
        result?[index] = newer
      case .goes: gone.append(index)
      }
    }
    if gone.isEmpty { return result }
    var left = result ?? elements
    left.removeSubranges(RangeSet(gone, within: elements))
    return left
  }

  /// The same of a dictionary.
  @inlinable
  func left<Key, Value>(of dictionary: [Key: Value], _ walk: (Value) -> Value?) -> [Key: Value]? {
    var result: [Key: Value]?
    for (key, value) in dictionary {
      let newer: Value?
      switch withFate({ walk(value) }) {
      case .stays: continue
      case .changes(let value): newer = value
      case .goes: newer = nil
      }
      if result == nil { result = dictionary }
      result?[key] = newer
    }
    return result
  }
}
