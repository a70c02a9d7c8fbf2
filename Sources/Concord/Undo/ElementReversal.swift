/// The outcome of reverting a collection's change element by element, after other writes have changed the collection, too.
struct ElementReversal {
  /// Whether the collection was changed.
  var hasChanged = false
  /// Whether something of the change stays, because other writes have changed the same since.
  var isPartial = false

  /// Reverts a change in a collection that other writes have changed since; `nil` if its elements cannot be told apart.
  ///
  /// - Parameter isKept: whether an element stays that the change added, although it is as the change has made it.
  static func revert<Value>(
    from new: Value, to old: Value, in current: inout Value, except isKept: ((Any) -> Bool)? = nil
  ) -> ElementReversal? {
    guard let type = Value.self as? any RevertibleElements.Type else { return nil }
    func revert<Elements: RevertibleElements>(_: Elements.Type) -> (Any, ElementReversal)? {
      guard let new = new as? Elements, let old = old as? Elements, var present = current as? Elements,
        let reversal = Elements.revert(from: new, to: old, in: &present, except: isKept)
      else { return nil }
      return (present, reversal)
    }
    guard let (result, reversal) = revert(type), let result = result as? Value else { return nil }
    if reversal.hasChanged { current = result }
    return reversal
  }
}

/// The outcome of taking back the order that a step had given to elements of an array.
package enum OrderReversal {
  /// The step has not changed the order, or it is as before already.
  case unchanged
  case restored
  /// A later order of another writer, which stays.
  case overtaken
}

extension Array {
  /// Puts the elements that were there before a step and after it into the order that they had before. They share the places that they have now,
  /// so that whatever else stands in the array stays where it is.
  ///
  /// - Parameters:
  ///   - new: the ids of the elements after the step, each once.
  ///   - old: those before it.
  ///   - id: the id of an element. No two have the same.
  /// - Complexity: O(*n*), where *n* is the number of elements in all.
  package mutating func restoreOrder<ID: Hashable>(
    from new: [ID], to old: [ID], id: (Element) -> ID
  ) -> OrderReversal {
    if new == old { return .unchanged }
    let common = Set(new).intersection(old)
    let places = indices.filter { common.contains(id(self[$0])) }
    let present = places.map { id(self[$0]) }
    let isPresent = Set(present)
    let (before, after) = (old.filter(isPresent.contains), new.filter(isPresent.contains))
    if before == after || present == before { return .unchanged }
    guard present == after else { return .overtaken }
    let elements = Dictionary(places.map { (id(self[$0]), self[$0]) }) { first, _ in first }
    for (place, id) in zip(places, before) {
      if let element = elements[id] { self[place] = element }
    }
    return .restored
  }

  /// Returns the array with some elements of another one, each behind the nearest of those that stand before it there.
  ///
  /// - Parameters:
  ///   - other: the other array.
  ///   - isInserted: whether an element of the other array is inserted.
  ///   - isPresent: whether this array has an element with the id of one of the other array.
  ///   - id: the id of an element.
  /// - Complexity: O(*n*), where *n* is the number of elements in both.
  package func inserting<ID: Hashable>(
    _ other: [Element], where isInserted: (Element) -> Bool, behind isPresent: (Element) -> Bool, id: (Element) -> ID
  ) -> [Element] {
    // Those that stand behind one that is inserted stand behind the same one as that.
    var neighbour: ID?
    var inserted: [ID?: [Element]] = [:]
    for element in other {
      if isPresent(element) {
        neighbour = id(element)
      } else if isInserted(element) {
        inserted[neighbour, default: []].append(element)
      }
    }
    var result = inserted[nil] ?? []
    result.reserveCapacity(count + other.count)
    for element in self {
      result.append(element)
      if let behind = inserted[id(element)] { result += behind }
    }
    return result
  }
}

/// A collection whose elements are told apart, so that a change can be taken back while what other writes changed stays.
private protocol RevertibleElements {
  static func revert(
    from new: Self, to old: Self, in current: inout Self, except isKept: ((Any) -> Bool)?
  ) -> ElementReversal?
}

extension Optional: RevertibleElements where Wrapped: RevertibleElements {
  fileprivate static func revert(
    from new: Self, to old: Self, in current: inout Self, except isKept: ((Any) -> Bool)?
  ) -> ElementReversal? {
    guard let new, let old, var present = current else { return nil }
    let reversal = Wrapped.revert(from: new, to: old, in: &present, except: isKept)
    current = present
    return reversal
  }
}

extension Set: RevertibleElements {
  fileprivate static func revert(
    from new: Self, to old: Self, in current: inout Self, except isKept: ((Any) -> Bool)?
  ) -> ElementReversal? {
    if let new = new.elementsByID, let old = old.elementsByID, var present = current.elementsByID {
      // Otherwise an element that another write has changed would stand beside the former one.
      let reversal = Dictionary.revert(from: new, to: old, in: &present, except: isKept)
      if reversal?.hasChanged ?? false { current = Set(present.values) }
      return reversal
    }
    let before = current
    current.subtract(new.subtracting(old))
    current.formUnion(old.subtracting(new))
    return ElementReversal(hasChanged: current != before)
  }

  /// The elements by their ids; `nil` if one has none, or two have the same.
  private var elementsByID: [AnyHashable: Element]? {
    func id<E: Identifiable>(_ element: E) -> AnyHashable { AnyHashable(element.id) }
    var elements: [AnyHashable: Element] = [:]
    for element in self {
      guard let identifiable = element as? any Identifiable,
        elements.updateValue(element, forKey: id(identifiable)) == nil
      else { return nil }
    }
    return elements
  }
}

extension Dictionary: RevertibleElements {
  fileprivate static func revert(
    from new: Self, to old: Self, in current: inout Self, except isKept: ((Any) -> Bool)?
  ) -> ElementReversal? {
    var reversal = ElementReversal()
    for key in Set(old.keys).union(new.keys) {
      let (before, after, present) = (old[key], new[key], current[key])
      if SameProperty.areSame(values: before, after) || SameProperty.areSame(values: present, before) { continue }
      guard SameProperty.areSame(values: present, after), !(present.flatMap { isKept?($0) } ?? false) else {
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
  fileprivate static func revert(
    from new: Self, to old: Self, in current: inout Self, except isKept: ((Any) -> Bool)?
  ) -> ElementReversal? {
    guard let before = old.places, let after = new.places, current.places != nil else { return nil }
    var reversal = ElementReversal()
    let count = current.count
    current.removeAll { element in
      guard let added = after[element.id], before[element.id] == nil else { return false }
      if SameProperty.areSame(values: element, new[added]), !(isKept?(element) ?? false) { return true }
      reversal.isPartial = true
      return false
    }
    reversal.hasChanged = current.count < count
    for index in current.indices {
      guard let i = before[current[index].id] else { continue }
      guard let j = after[current[index].id] else {
        // Another write has put it back, in another form.
        if !SameProperty.areSame(values: current[index], old[i]) { reversal.isPartial = true }
        continue
      }
      let (old, new, present) = (old[i], new[j], current[index])
      if SameProperty.areSame(values: old, new) || SameProperty.areSame(values: present, old) { continue }
      if SameProperty.areSame(values: present, new) {
        current[index] = old
        reversal.hasChanged = true
      } else {
        reversal.isPartial = true
      }
    }
    let present = Set(current.map(\.id))
    for (id, i) in before {
      guard let j = after[id], !present.contains(id), !SameProperty.areSame(values: old[i], new[j]) else { continue }
      // Another write has taken out what the step has changed.
      reversal.isPartial = true
    }
    switch current.restoreOrder(from: new.map(\.id), to: old.map(\.id), id: { $0.id }) {
    case .unchanged: break
    case .restored: reversal.hasChanged = true
    case .overtaken: reversal.isPartial = true
    }
    let returning = old.lazy.filter { after[$0.id] == nil && !present.contains($0.id) }
    if !returning.isEmpty {
      let isReturning = Set(returning.map(\.id))
      current = current.inserting(
        old, where: { isReturning.contains($0.id) }, behind: { present.contains($0.id) }, id: { $0.id })
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
