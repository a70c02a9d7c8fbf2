extension StoredElements {
  /// An element of a stored collection: a view of its values, whose positions begin with 0.
  ///
  /// It keeps the values of all elements of the collection, so that an `Array` of it is what is to be kept for long.
  public struct Element: RandomAccessCollection, Sendable {
    private let values: PackedValues
    private let start: Int
    public let endIndex: Int

    init(_ values: PackedValues, _ start: Int, _ count: Int) {
      (self.values, self.start, endIndex) = (values, start, count)
    }

    /// Creates an element with some values.
    public init(_ values: some Sequence<StoredValue>) {
      let values = PackedValues(Array(values))
      self.init(values, 0, values.count)
    }

    public var startIndex: Int { 0 }

    public subscript(position: Int) -> StoredValue {
      // As in an array: the caller has made up the index. Beyond the end there is another element's value.
      precondition(position >= 0 && position < endIndex, "an index out of range")
      return values[start + position]
    }

    /// Returns the element with its first values only.
    package func leading(_ count: Int) -> StoredElements.Element {
      StoredElements.Element(values, start, Swift.min(count, endIndex))
    }
  }
}

extension StoredElements.Element: Hashable {
  public static func == (a: Self, b: Self) -> Bool { a.elementsEqual(b) }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    for value in self { hasher.combine(value) }
  }
}

extension StoredElements.Element: ExpressibleByArrayLiteral, CustomStringConvertible {
  public init(arrayLiteral values: StoredValue...) { self.init(values) }

  public var description: String { "\(Array(self))" }
}
