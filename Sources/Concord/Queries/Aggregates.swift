/// A sum of integers, which cannot overflow: of the entities in memory.
struct IntegerSum<Element: Identifiable & Sendable>: ResultsFollower {
  let number: @Sendable (Element) -> Int128
  private(set) var value: Int128 = 0

  init(_ number: @escaping @Sendable (Element) -> Int128) { self.number = number }

  mutating func apply(_ changes: TreeChanges<QueryEntry<Element>>, _ order: EntryOrder<Element>) {
    for change in changes.removed { value &-= number(change.element.value) }
    for change in changes.inserted { value &+= number(change.element.value) }
  }
}

struct FloatingSum<Element: Identifiable & Sendable>: ResultsFollower {
  let number: @Sendable (Element) -> Double
  private var sum = ExactSum()

  init(_ number: @escaping @Sendable (Element) -> Double) { self.number = number }

  var value: Double { sum.value }

  mutating func apply(_ changes: TreeChanges<QueryEntry<Element>>, _ order: EntryOrder<Element>) {
    for change in changes.removed { sum.remove(number(change.element.value)) }
    for change in changes.inserted { sum.add(number(change.element.value)) }
  }
}

/// A sum with the number of summands.
struct Mean<Sum: ResultsFollower>: ResultsFollower {
  private var sum: Sum
  private let divide: @Sendable (Sum.Value, Int) -> Double
  private var count = 0

  init(_ sum: Sum, _ divide: @escaping @Sendable (Sum.Value, Int) -> Double) { (self.sum, self.divide) = (sum, divide) }

  var value: Double? { count == 0 ? nil : divide(sum.value, count) }

  mutating func apply(_ changes: TreeChanges<QueryEntry<Sum.Element>>, _ order: EntryOrder<Sum.Element>) {
    count += changes.inserted.count - changes.removed.count
    sum.apply(changes, order)
  }
}

/// The least and the greatest value of a property.
struct Extremes<Element: Identifiable & Sendable, Value: Comparable & Sendable>: ResultsFollower {
  /// A value with the number of its entity.
  // Unchecked, because its superclass is; what it adds never changes.
  private final class Numbered: AnyEntry, @unchecked Sendable {
    let value: Value

    init(_ value: Value, _ number: UInt64) {
      self.value = value
      super.init(number: number)
    }
  }

  private let property: @Sendable (Element) -> Value?
  private let isGreatest: Bool
  private let order = ExtremeOrder<Value>()
  private var values = OrderedTree<Numbered>()

  init(isGreatest: Bool, _ property: @escaping @Sendable (Element) -> Value?) {
    (self.property, self.isGreatest) = (property, isGreatest)
  }

  var value: Value? {
    if values.isEmpty { return nil }
    return isGreatest ? values[values.count - 1].value : values.first?.value
  }

  private static func precedes(_ a: AnyEntry, _ b: AnyEntry, _ order: ExtremeOrder<Value>) -> Bool {
    let (a, b) = (a.known(as: Numbered.self), b.known(as: Numbered.self))
    return order.precedes(a.value, b.value) || !order.precedes(b.value, a.value) && a.number < b.number
  }

  /// The value of an entity; `nil` if it has none, or one that is not comparable, like NaN.
  private func numbered(_ entry: QueryEntry<Element>) -> Numbered? {
    guard let value = property(entry.value), order.contains(value) else { return nil }
    return Numbered(value, entry.number)
  }

  mutating func apply(_ changes: TreeChanges<QueryEntry<Element>>, _: EntryOrder<Element>) {
    let order = order
    func precedes(_ a: AnyEntry, _ b: AnyEntry) -> Bool { Self.precedes(a, b, order) }
    for change in changes.removed {
      guard let old = numbered(change.element) else { continue }
      values.remove {
        $0.number == old.number
      } notBefore: {
        precedes($0, old)
      }
    }
    let new = changes.inserted.compactMap { numbered($0.element) }
    if values.isEmpty {
      values = OrderedTree(sorted: ContiguousArray<AnyEntry>(new.sorted(by: precedes)))
    } else {
      for value in new { values.insert(value, precedes) }
    }
  }
}
