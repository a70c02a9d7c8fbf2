/// A queue of elements, oldest first. Adding and taking an element takes amortized constant time, and capacity that a peak
/// left is released.
struct FIFO<Element> {
  private var elements: ContiguousArray<Element?> = []
  private var taken = 0

  var count: Int { elements.count - taken }
  var isEmpty: Bool { taken == elements.count }
  /// The oldest element, which stays in the queue.
  var first: Element? { taken < elements.count ? elements[taken] : nil }

  mutating func append(_ element: consuming Element) { elements.append(element) }

  mutating func takeFirst() -> Element? {
    guard taken < elements.count else { return nil }
    // Fast path: usually there is one.
    if elements.count == 1 { return elements.removeLast() }
    let element = elements[taken].take()
    taken += 1
    if taken == elements.count {
      elements.removeAll(keepingCapacity: true)
      taken = 0
    } else if taken >= 64, taken * 2 > elements.count {
      elements.removeFirst(taken)
      elements.shrink(beyond: 256)
      taken = 0
    }
    return element
  }

  /// Removes the elements that could be merged with their successors. `merge` is called with each but the newest, oldest first.
  mutating func merge(_ merge: (inout Element, Element) -> Bool) {
    var kept = ContiguousArray<Element?>()
    for index in taken..<elements.count {
      guard var element = elements[index].take() else { continue }
      if index + 1 < elements.count, let next = elements[index + 1], merge(&element, next) { continue }
      kept.append(element)
    }
    (elements, taken) = (kept, 0)
  }

  mutating func takeAll() -> [Element] {
    defer { self = FIFO() }
    return elements[taken...].compactMap { $0 }
  }
}
