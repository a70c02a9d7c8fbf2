/// The elements of a stored collection, in order. Their values stand in one array, one element after the other.
///
/// ```swift
/// let links: StoredElements = [[.integer(1)], [.integer(2)]]
/// let byName: StoredElements = [[.text("a"), .integer(1)]]   // of a dictionary: the key comes first
/// ```
///
/// Each element has ``width`` values. Where a longer one is added, those of the others are followed by `null`.
public struct StoredElements: Sendable {
  // As many as all elements have together.
  private var values = PackedValues()
  /// The number of values of each element, at least 1.
  public private(set) var width: Int

  /// Creates a collection without elements.
  public init() { width = 1 }

  /// Creates a collection without elements, for elements of a width.
  ///
  /// - Parameters:
  ///   - width: the number of values that each element will have, if no longer one is added; 1 if it is less.
  ///   - capacity: the number of elements for which there is to be room.
  public init(width: Int, capacity: Int = 0) {
    self.width = Swift.max(1, width)
    if capacity > 0 { values.reserveCapacity(capacity * self.width) }
  }

  /// The value at a position of an element.
  ///
  /// - Parameters:
  ///   - element: the index of the element, from 0.
  ///   - position: the index of the value among those of the element, from 0.
  public subscript(element: Int, position: Int) -> StoredValue {
    get { values[place(element, position)] }
    set { values[place(element, position)] = newValue }
  }

  private func place(_ element: Int, _ position: Int) -> Int {
    // As in an array: the caller has made up the index. Beyond the width there is another element's value.
    precondition(position >= 0 && position < width, "an index out of range")
    return element * width + position
  }

  /// Appends an element of ``width`` values.
  ///
  /// - Parameter value: a closure that returns the value at a position, from 0. It is called for each position in order.
  /// - Throws: what the closure throws; then nothing is appended.
  public mutating func append(_ value: (Int) throws -> StoredValue) rethrows {
    let count = values.count
    do {
      for position in 0..<width { values.append(try value(position)) }
    } catch {
      values.replaceSubrange(count..<values.count, with: PackedValues())
      throw error
    }
  }

  /// Appends an element with the values of a collection.
  package mutating func append(values element: some Collection<StoredValue>) {
    let count = element.count
    widen(to: count)
    for value in element { values.append(value) }
    for _ in 0..<Swift.max(0, width - count) { values.append(.null) }
  }

  private mutating func widen(to width: Int) {
    guard width > self.width else { return }
    var wider = StoredElements(width: width, capacity: count)
    for element in indices { wider.append { $0 < self.width ? self[element, $0] : .null } }
    self = wider
  }

  /// The values at a position of all elements.
  package func column(_ position: Int) -> LazyMapCollection<Range<Int>, StoredValue> {
    indices.lazy.map { self[$0, position] }
  }

  /// Returns the number of elements before the first that differs from the one at its place in other elements.
  ///
  /// - Complexity: constant if the two share their storage, else the result.
  package func countOfSameElements(at other: StoredElements) -> Int {
    width == other.width ? values.countOfSame(at: other.values) / width : 0
  }
}

extension StoredElements: RandomAccessCollection, RangeReplaceableCollection {
  public var startIndex: Int { 0 }
  // Fast path: links have one value each.
  public var endIndex: Int { width == 1 ? values.count : values.count / width }
  public var isEmpty: Bool { values.isEmpty }
  /// The number of values for which there is room.
  var capacity: Int { values.capacity }

  public subscript(position: Int) -> Element {
    // As in an array: the caller has made up the index, and behind the end there may be room.
    precondition(position >= 0 && position < endIndex, "an index out of range")
    return Element(values, position * width, width)
  }

  public mutating func reserveCapacity(_ count: Int) { values.reserveCapacity(count * width) }

  public mutating func append(_ element: Element) { append(values: element) }

  // The library's own reserves exactly what is needed, each time anew: elements that come a few at a time would be copied with each of them.
  public mutating func append<S: Sequence>(contentsOf elements: S) where S.Element == Element {
    for element in elements { append(element) }
  }

  public mutating func replaceSubrange<C: Collection>(_ range: Range<Int>, with elements: C)
  where C.Element == Element {
    var new = StoredElements()
    for element in elements { new.append(element) }
    if !isEmpty, range == 0..<count, !new.isEmpty {
      self = new
    } else {
      widen(to: new.width)
      new.widen(to: width)
      values.replaceSubrange(range.lowerBound * width..<range.upperBound * width, with: new.values)
    }
  }

  /// Removes the elements that satisfy a condition. A collection that has none goes on sharing its storage.
  ///
  /// - Parameter isRemoved: a closure that receives each element, in order, and returns whether it is removed.
  /// - Throws: what the closure throws; then nothing is removed.
  public mutating func removeAll(where isRemoved: (Element) throws -> Bool) rethrows {
    guard let first = try firstIndex(where: isRemoved) else { return }
    var rest = StoredElements(width: width, capacity: count - 1)
    for index in 0..<first { rest.append(self[index]) }
    for index in first + 1..<count where try !isRemoved(self[index]) { rest.append(self[index]) }
    self = rest
  }
}

extension StoredElements: Hashable {
  public static func == (a: StoredElements, b: StoredElements) -> Bool {
    (a.width == b.width || a.isEmpty) && a.values == b.values
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(values) }
}

extension StoredElements: ExpressibleByArrayLiteral, CustomStringConvertible {
  public init(arrayLiteral elements: Element...) { self.init(elements) }

  public var description: String { "\(Array(self))" }
}
