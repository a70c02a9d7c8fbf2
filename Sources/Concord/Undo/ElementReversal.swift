/// The outcome of reverting a collection's change element by element, after others have changed the collection, too.
struct ElementReversal {
  /// Whether the collection was changed.
  var hasChanged = false
  /// Whether something of the change stays, because others have changed the same since.
  var isPartial = false

  /// Reverts a change in a collection that others have changed since; `nil` if its elements cannot be told apart.
  static func revert<Value>(from new: Value, to old: Value, in current: inout Value) -> ElementReversal? {
    guard let type = Value.self as? any RevertibleElements.Type else { return nil }
    func revert<Elements: RevertibleElements>(_: Elements.Type) -> (Any, ElementReversal)? {
      guard let new = new as? Elements, let old = old as? Elements, var present = current as? Elements,
        let reversal = Elements.revert(from: new, to: old, in: &present)
      else { return nil }
      return (present, reversal)
    }
    guard let (result, reversal) = revert(type), let result = result as? Value else { return nil }
    if reversal.hasChanged { current = result }
    return reversal
  }
}

/// A collection whose elements are told apart, so that a change can be taken back while what others changed stays.
private protocol RevertibleElements {
  static func revert(from new: Self, to old: Self, in current: inout Self) -> ElementReversal?
}

extension Optional: RevertibleElements where Wrapped: RevertibleElements {
  fileprivate static func revert(from new: Self, to old: Self, in current: inout Self) -> ElementReversal? {
    guard let new, let old, var present = current else { return nil }
    let reversal = Wrapped.revert(from: new, to: old, in: &present)
    current = present
    return reversal
  }
}

extension Set: RevertibleElements {
  fileprivate static func revert(from new: Self, to old: Self, in current: inout Self) -> ElementReversal? {
    let before = current
    current.subtract(new.subtracting(old))
    current.formUnion(old.subtracting(new))
    return ElementReversal(hasChanged: current != before)
  }
}

extension Dictionary: RevertibleElements {
  fileprivate static func revert(from new: Self, to old: Self, in current: inout Self) -> ElementReversal? {
    var reversal = ElementReversal()
    for key in Set(old.keys).union(new.keys) {
      let (before, after, present) = (old[key], new[key], current[key])
      if SameProperty.areSame(values: before, after) || SameProperty.areSame(values: present, before) { continue }
      guard SameProperty.areSame(values: present, after) else {
        reversal.isPartial = true
        continue
      }
      current[key] = before
      reversal.hasChanged = true
    }
    return reversal
  }
}

extension Array: RevertibleElements where Element: Identifiable {
  fileprivate static func revert(from new: Self, to old: Self, in current: inout Self) -> ElementReversal? {
    guard let before = old.places, let after = new.places, current.places != nil else { return nil }
    var reversal = ElementReversal()
    let count = current.count
    current.removeAll { after[$0.id] != nil && before[$0.id] == nil }
    reversal.hasChanged = current.count < count
    for index in current.indices {
      guard let i = before[current[index].id], let j = after[current[index].id] else { continue }
      let (old, new, present) = (old[i], new[j], current[index])
      if SameProperty.areSame(values: old, new) || SameProperty.areSame(values: present, old) { continue }
      if SameProperty.areSame(values: present, new) {
        current[index] = old
        reversal.hasChanged = true
      } else {
        reversal.isPartial = true
      }
    }
    // The order of what both had stays as others made it.
    if old.filter({ after[$0.id] != nil }).map(\.id) != new.filter({ before[$0.id] != nil }).map(\.id) {
      reversal.isPartial = true
    }
    var present = Set(current.map(\.id))
    for (index, element) in old.enumerated() where after[element.id] == nil {
      guard present.insert(element.id).inserted else { continue }
      // After the nearest of those that stood before it.
      let neighbour = old[..<index].last { present.contains($0.id) }
      let place = neighbour.flatMap { neighbour in current.firstIndex { $0.id == neighbour.id } }.map { $0 + 1 } ?? 0
      current.insert(element, at: place)
      reversal.hasChanged = true
    }
    return reversal
  }

  /// The indices of the elements by their ids; `nil` if an id is there twice.
  private var places: [Element.ID: Int]? {
    var places: [Element.ID: Int] = [:]
    for (index, element) in enumerated() where places.updateValue(index, forKey: element.id) != nil { return nil }
    return places
  }
}
