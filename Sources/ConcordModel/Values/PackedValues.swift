/// Values in one array, in which integers take no more than their eight bytes as long as there is nothing else.
///
/// Most links are integers. An array of them is copied, compared and released as a whole, without a look at each.
struct PackedValues: RandomAccessCollection, Sendable {
  // One of the two is empty.
  private var integers: [Int64] = []
  private var others: [StoredValue] = []

  init() {}

  /// Takes an array as it is.
  init(_ values: [StoredValue]) { others = values }

  var startIndex: Int { 0 }
  var endIndex: Int { integers.count + others.count }
  var isEmpty: Bool { integers.isEmpty && others.isEmpty }
  var capacity: Int { Swift.max(integers.capacity, others.capacity) }

  subscript(position: Int) -> StoredValue {
    get { integers.isEmpty ? others[position] : .integer(integers[position]) }
    set {
      if !integers.isEmpty, case .integer(let integer) = newValue {
        integers[position] = integer
      } else {
        unpack()
        others[position] = newValue
      }
    }
  }

  mutating func reserveCapacity(_ count: Int) {
    if others.isEmpty { integers.reserveCapacity(count) } else { others.reserveCapacity(count) }
  }

  mutating func append(_ value: StoredValue) {
    if others.isEmpty, case .integer(let integer) = value {
      integers.append(integer)
    } else {
      unpack()
      others.append(value)
    }
  }

  mutating func replaceSubrange(_ range: Range<Int>, with values: PackedValues) {
    if others.isEmpty, values.others.isEmpty {
      integers.replaceSubrange(range, with: values.integers)
    } else {
      unpack()
      others.replaceSubrange(range, with: values)
    }
  }

  private mutating func unpack() {
    // Those that only have room are no more needed either.
    guard integers.capacity > 0 else { return }
    others = []
    others.reserveCapacity(integers.capacity)
    for integer in integers { others.append(.integer(integer)) }
    integers = []
  }
}

extension PackedValues: Hashable {
  // Equal values may be kept in the one array or in the other.
  static func == (a: PackedValues, b: PackedValues) -> Bool {
    if a.integers.isEmpty == b.integers.isEmpty { return a.integers == b.integers && a.others == b.others }
    return a.elementsEqual(b)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    for value in self { hasher.combine(value) }
  }

  /// Returns the number of values before the first difference.
  ///
  /// - Complexity: constant if the two share their storage, else the result.
  func countOfSame(at other: PackedValues) -> Int {
    let end = Swift.min(count, other.count)
    if integers.sharesStorage(with: other.integers), others.sharesStorage(with: other.others) { return end }
    var position = 0
    if !integers.isEmpty, !other.integers.isEmpty {
      while position < end, integers[position] == other.integers[position] { position += 1 }
    } else {
      while position < end, self[position] == other[position] { position += 1 }
    }
    return position
  }
}

extension Array {
  /// Whether the elements of two arrays stand in one place.
  // The addresses are compared within the closures, and nothing is read there.
  fileprivate func sharesStorage(with other: Self) -> Bool {
    withUnsafeBufferPointer { a in other.withUnsafeBufferPointer { b in a.baseAddress == b.baseAddress } }
  }
}
