/// The fate of a value in a merge.
public enum Fate<Value> {
  /// The value is unchanged.
  case stays
  /// The value is replaced.
  case changes(to: Value)
  /// The value was removed, or requires an object that was.
  case goes
}

extension Fate: Sendable where Value: Sendable {}

extension ConsistentMerge {
  /// Returns the fate of a value, for a container of your own that does not require the value.
  ///
  /// ```swift
  /// switch merge.fate(of: element) {
  /// case .stays: kept.append(element)
  /// case .changes(let newer): kept.append(newer)
  /// case .goes: break
  /// }
  /// ```
  ///
  /// With ``updated(_:)`` instead, the container would be removed with the value.
  @inlinable
  public func fate<Value: ConsistentValue>(of value: Value) -> Fate<Value> {
    withFate { value.merged(by: self) }
  }

  /// Returns the fate of a value, whose newer state `walk` returns.
  @inlinable
  func withFate<Value>(_ walk: () -> Value?) -> Fate<Value> {
    guard removes else { return walk().map { .changes(to: $0) } ?? .stays }
    let isOuterGone = isGone
    isGone = false
    defer { isGone = isOuterGone }
    let newer = walk()
    return isGone ? .goes : newer.map { .changes(to: $0) } ?? .stays
  }

  /// Returns the elements without the removed ones, and with the changed ones replaced; `nil` if all are unchanged.
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

  /// Returns a dictionary without the removed values, and with the changed ones replaced; `nil` if all are unchanged.
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
