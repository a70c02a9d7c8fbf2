/// The difference between two successive states of a collection of entities, by identity.
///
/// ```swift
/// for await difference in store.find(named: .favourites).map({ $0 ?? [] }).differences {
///   tableView.deleteRows(at: difference.removed.map(\.offset))
///   tableView.insertRows(at: difference.inserted.map(\.offset))
///   for move in difference.moved { tableView.moveRow(at: move.oldOffset, to: move.offset) }
///   tableView.reloadRows(at: difference.updated.map(\.offset))
/// }
/// ```
///
/// Offsets of removed elements, and old offsets, are positions in the state before; all other offsets are positions in the
/// state after. An entity that the collection contains several times counts as several: the first is compared with the first,
/// the second with the second.
public struct EntityDifference<Element: Identifiable & Sendable>: Sendable {
  /// An element that was inserted or removed, with its position.
  public struct Change: Sendable {
    /// The position of the element: of an inserted one after the change, of a removed one before.
    public let offset: Int
    /// The element that was inserted or removed.
    public let element: Element
  }

  /// An element that is in both states.
  public struct Pair: Sendable {
    /// The position of the element in the state before the change.
    public let oldOffset: Int
    /// The position of the element in the state after the change.
    public let offset: Int
    /// The value of the element before the change.
    public let old: Element
    /// The value of the element after the change.
    public let new: Element
  }

  private let makeElements: Elements
  /// The collection after the change.
  ///
  /// - Complexity: constant; of the results of a query the number of elements.
  public var elements: [Element] {
    switch makeElements {
    case .known(let elements): elements
    case .results(let make): make()
    }
  }
  /// Whether this is the first difference, in which all elements are inserted.
  public let isInitial: Bool
  /// The inserted elements, in the order of the collection.
  public let inserted: [Change]
  /// The removed elements, in the order of the collection before the change.
  public let removed: [Change]
  /// The elements that moved relative to the remaining ones, as few as possible. They may also be updated.
  public let moved: [Pair]
  /// The elements whose value changed, wherever they stand, compared by `==` if there is one.
  public let updated: [Pair]

  private enum Elements: Sendable {
    case known([Element])
    case results(@Sendable () -> [Element])
  }

  /// Whether nothing was inserted, removed, moved or updated.
  public var isEmpty: Bool { inserted.isEmpty && removed.isEmpty && moved.isEmpty && updated.isEmpty }

  /// Creates the difference between two states of a collection.
  ///
  /// - Parameters:
  ///   - old: the state before; `nil` if there is none, and all elements are inserted.
  ///   - new: the state now.
  /// - Complexity: O(*n* log *n*).
  public init(from old: [Element]?, to new: [Element]) {
    makeElements = .known(new)
    isInitial = old == nil
    let old = old ?? []
    var oldOffsets: [Occurrence: Int] = [:]
    for (offset, occurrence) in Self.occurrences(in: old).enumerated() { oldOffsets[occurrence] = offset }
    var inserted: [Change] = []
    var pairs: [Pair] = []
    var stays = Array(repeating: false, count: old.count)
    for (offset, occurrence) in Self.occurrences(in: new).enumerated() {
      guard let oldOffset = oldOffsets[occurrence] else {
        inserted.append(Change(offset: offset, element: new[offset]))
        continue
      }
      stays[oldOffset] = true
      pairs.append(Pair(oldOffset: oldOffset, offset: offset, old: old[oldOffset], new: new[offset]))
    }
    self.inserted = inserted
    removed = old.indices.filter { !stays[$0] }.map { Change(offset: $0, element: old[$0]) }
    let inOrder = Self.longestRise(in: pairs.map(\.oldOffset))
    moved = pairs.indices.filter { !inOrder[$0] }.map { pairs[$0] }
    updated = pairs.filter { !areSame($0.old, $0.new) }
  }

  /// Creates a difference that is known.
  init(
    elements: @escaping @Sendable () -> [Element], isInitial: Bool, inserted: [Change], removed: [Change],
    moved: [Pair], updated: [Pair]
  ) {
    makeElements = .results(elements)
    self.isInitial = isInitial
    (self.inserted, self.removed, self.moved, self.updated) = (inserted, removed, moved, updated)
  }

  /// Returns the difference between two states of a collection, which may know it.
  static func between<C: Collection>(_ old: C?, _ new: C) -> Self where C.Element == Element {
    func known<D: DifferingCollection>(_ new: D) -> Self? { new.difference(from: old as? D) as? Self }
    if let new = new as? any DifferingCollection, let difference = known(new) { return difference }
    return Self(from: old.map { Array($0) }, to: Array(new))
  }

  /// One of the occurrences of an entity in a collection, counted from 0.
  private struct Occurrence: Hashable {
    let id: Element.ID
    let number: Int
  }

  private static func occurrences(in elements: [Element]) -> [Occurrence] {
    var counts: [Element.ID: Int] = [:]
    return elements.map { element in
      let number = counts[element.id, default: 0]
      counts[element.id] = number + 1
      return Occurrence(id: element.id, number: number)
    }
  }

  /// Marks a longest increasing subsequence of distinct numbers (patience sorting).
  static func longestRise(in numbers: [Int]) -> [Bool] {
    // For each length, the end of the increasing subsequence whose last number is the least.
    var ends: [Int] = []
    var previous = Array(repeating: -1, count: numbers.count)
    for (index, number) in numbers.enumerated() {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
      }
      if low > 0 { previous[index] = ends[low - 1] }
      if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var isIn = Array(repeating: false, count: numbers.count)
    var index = ends.last ?? -1
    while index >= 0 {
      isIn[index] = true
      index = previous[index]
    }
    return isIn
  }
}

extension EntityDifference: Equatable where Element: Equatable {
  public static func == (a: Self, b: Self) -> Bool {
    a.isInitial == b.isInitial && a.inserted == b.inserted && a.removed == b.removed && a.moved == b.moved
      && a.updated == b.updated && a.elements == b.elements
  }
}
extension EntityDifference.Change: Equatable where Element: Equatable {}
extension EntityDifference.Pair: Equatable where Element: Equatable {}

/// A collection that knows how it differs from an earlier state of itself.
protocol DifferingCollection<Element>: Collection where Element: Identifiable & Sendable {
  func difference(from old: Self?) -> EntityDifference<Element>
}
