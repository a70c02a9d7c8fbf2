/// A list of elements in the order of insertion, each once, which are found and removed by keys.
///
/// - Complexity: constant for each key. Finding several elements in order takes sorting.
struct SlotList<Element> {
  /// The elements, with gaps where some were removed.
  private var slots: ContiguousArray<Element?> = []
  private var positions: [ObjectIdentifier: Int] = [:]

  var elements: some BidirectionalCollection<Element> { slots.lazy.compactMap(\.self) }
  var count: Int { positions.count }
  var isEmpty: Bool { positions.isEmpty }

  subscript(key: ObjectIdentifier) -> Element? { positions[key].flatMap { slots[$0] } }

  func contains(_ key: ObjectIdentifier) -> Bool { positions[key] != nil }

  /// Returns the elements of several keys, in order.
  func elements(of keys: some Sequence<ObjectIdentifier>) -> [Element] {
    keys.compactMap { positions[$0] }.sorted().compactMap { slots[$0] }
  }

  mutating func append(_ element: Element, key: ObjectIdentifier) {
    guard positions[key] == nil else { return }
    positions[key] = slots.count
    slots.append(element)
  }

  mutating func remove(_ key: ObjectIdentifier) {
    guard let position = positions.removeValue(forKey: key) else { return }
    slots[position] = nil
    guard slots.count > 16, slots.count > positions.count * 2 else { return }
    closeGaps()
  }

  private mutating func closeGaps() {
    let keys = positions.sorted { $0.value < $1.value }.map(\.key)
    slots.removeAll { $0 == nil }
    for (position, key) in keys.enumerated() { positions[key] = position }
  }
}
