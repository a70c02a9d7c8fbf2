/// A set of elements in order, made for removing the first and adding one after the last.
///
/// - Complexity: O(1) amortised for these two operations, O(*n*) for all others.
struct OrderedQueue<Element: Comparable> {
  private var elements: [Element] = []
  /// The index of the first element.
  private var start = 0

  var first: Element? { isEmpty ? nil : elements[start] }
  var isEmpty: Bool { start == elements.count }

  /// The position of the first element that is not before another one.
  private func position(of element: Element) -> Int {
    if let last = elements.last, last < element { return elements.count }
    var (low, high) = (start, elements.count)
    while low < high {
      let middle = (low + high) / 2
      if elements[middle] < element { low = middle + 1 } else { high = middle }
    }
    return low
  }

  mutating func insert(_ element: Element) {
    let position = position(of: element)
    if position == elements.count || elements[position] != element { elements.insert(element, at: position) }
  }

  mutating func remove(_ element: Element) {
    if first == element {
      _ = elements.popFirst(from: &start)
    } else if case let position = position(of: element), position < elements.count, elements[position] == element {
      elements.remove(at: position)
    }
  }
}
