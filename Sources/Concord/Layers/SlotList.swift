/// A list of elements in the order of insertion, each once, which are found and removed by keys.
///
/// - Complexity: constant for each key. Finding several elements in order takes sorting.
struct SlotList<Element> {
  /// The elements, with gaps where some were removed.
  private var slots: ContiguousArray<Element?> = []
  /// The position of the first element, if there is one. Only gaps precede it, and the last slot is no gap.
  private var start = 0
  private var positions: [ObjectIdentifier: Int] = [:]

  var elements: some BidirectionalCollection<Element> { slots.lazy.compactMap(\.self) }
  var count: Int { positions.count }
  var isEmpty: Bool { positions.isEmpty }

  subscript(key: ObjectIdentifier) -> Element? { positions[key].flatMap { slots[$0] } }

  func contains(_ key: ObjectIdentifier) -> Bool { positions[key] != nil }

  /// The position of an element in the order, which another one has after ``closeGaps()``.
  func position(of key: ObjectIdentifier) -> Int? { positions[key] }

  func isFirst(_ key: ObjectIdentifier) -> Bool { positions[key] == start }
  func isLast(_ key: ObjectIdentifier) -> Bool { positions[key] == slots.count - 1 }

  /// Returns the elements of several keys, in order.
  func elements(of keys: some Sequence<ObjectIdentifier>) -> [Element] {
    keys.compactMap { positions[$0] }.sorted().compactMap { slots[$0] }
  }

  mutating func append(_ element: Element, key: ObjectIdentifier) {
    guard positions[key] == nil else { return }
    if slots.isEmpty { start = 0 }
    positions[key] = slots.count
    slots.append(element)
  }

  /// Replaces an element by another one, at its position.
  ///
  /// - Returns: the former element; `nil` if there is none.
  @discardableResult
  mutating func replace(_ key: ObjectIdentifier, by element: Element) -> Element? {
    guard let position = positions[key] else { return nil }
    defer { slots[position] = element }
    return slots[position]
  }

  /// Removes an element, and leaves a gap.
  ///
  /// - Returns: the element and its position; `nil` if there is none.
  @discardableResult
  mutating func remove(_ key: ObjectIdentifier) -> (element: Element, position: Int)? {
    guard let position = positions.removeValue(forKey: key), let element = slots[position] else { return nil }
    slots[position] = nil
    while let last = slots.last, last == nil { slots.removeLast() }
    while start < slots.count, slots[start] == nil { start += 1 }
    return (element, position)
  }

  /// Inserts an element where it was removed, before any gap was closed.
  mutating func restore(_ element: Element, key: ObjectIdentifier, at position: Int) {
    while slots.count <= position { slots.append(nil) }
    slots[position] = element
    positions[key] = position
    start = min(start, position)
  }

  /// Closes the gaps if there are many: amortised, each removal takes constant time.
  mutating func closeGaps() {
    guard slots.count > 16, slots.count > positions.count * 2 else { return }
    let keys = positions.sorted { $0.value < $1.value }.map(\.key)
    slots.removeAll { $0 == nil }
    start = 0
    for (position, key) in keys.enumerated() { positions[key] = position }
  }
}
