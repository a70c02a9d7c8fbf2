/// The results of a query in sections: a collection of them, in the order of their first entities.
///
/// ```swift
/// let days = store.query(Note.self, sortBy: [SortDescriptor(\.day), SortDescriptor(\.title)]).sections(by: \.day)
/// for section in days.value { print(section.id, section.elements.count) }
/// ```
///
/// - Complexity: of an access by position, the logarithm of the number of sections.
public struct EntitySections<Key: Hashable & Sendable, Element: Identifiable & Sendable>: RandomAccessCollection,
  Sendable
{
  let tree: OrderedTree<SectionEntry<Key, Element>>

  public var startIndex: Int { 0 }
  public var endIndex: Int { tree.count }

  public subscript(position: Int) -> EntitySection<Key, Element> {
    // As in an array: the caller has made up the index, and there is no element to return instead.
    precondition(indices.contains(position), "an index out of range")
    return tree[position].section
  }

  /// The entities in the section of a key; empty if there is none.
  ///
  /// - Complexity: the number of sections.
  public subscript(key key: Key) -> [Element] { first { $0.id == key }.map { Array($0.elements) } ?? [] }
}

/// Entities that have the same value of a property.
public struct EntitySection<Key: Hashable & Sendable, Element: Identifiable & Sendable>: Identifiable, Sendable {
  /// The value of the property.
  public let id: Key
  /// The entities, in the order of the query.
  public let elements: EntityResults<Element>
}

extension EntitySections: Equatable where Element: Equatable {
  public static func == (a: Self, b: Self) -> Bool { a.tree.root === b.tree.root || a.elementsEqual(b) }
}

extension EntitySection: Equatable where Element: Equatable {}

extension EntitySection: CustomStringConvertible {
  public var description: String { "\(id): \(elements)" }
}

extension EntitySections: CustomStringConvertible {
  public var description: String { Array(self).description }
}

/// A section of a snapshot, which never changes.
// Unchecked, because its superclass is; what it adds never changes.
final class SectionEntry<Key: Hashable & Sendable, Element: Identifiable & Sendable>: AnyEntry, @unchecked Sendable {
  let section: EntitySection<Key, Element>
  let first: QueryEntry<Element>

  init(_ section: EntitySection<Key, Element>, _ first: QueryEntry<Element>) {
    (self.section, self.first) = (section, first)
    super.init()
  }

  /// Whether the first entity of one section precedes that of another.
  static func precedes(_ a: AnyEntry, _ b: AnyEntry, _ order: EntryOrder<Element>) -> Bool {
    order.precedes(a.known(as: Self.self).first, b.known(as: Self.self).first)
  }
}

/// Results in sections, kept up to date.
struct Sectioning<Key: Hashable & Sendable, Element: Identifiable & Sendable>: ResultsFollower {
  /// A section: keys that do not equal themselves, like NaN, have one together.
  private enum Place: Hashable {
    case key(Key)
    case unequal
  }

  private let key: @Sendable (Element) -> Key
  private var elements: [Place: OrderedTree<QueryEntry<Element>>] = [:]
  private var entries: [Place: SectionEntry<Key, Element>] = [:]
  private var sections = OrderedTree<SectionEntry<Key, Element>>()

  init(_ key: @escaping @Sendable (Element) -> Key) { self.key = key }

  var value: EntitySections<Key, Element> { EntitySections(tree: sections) }

  private func place(_ entry: QueryEntry<Element>) -> Place {
    let key = key(entry.value)
    return key == key ? .key(canonical(key)) : .unequal
  }

  mutating func apply(_ changes: TreeChanges<QueryEntry<Element>>, _ order: EntryOrder<Element>) {
    var touched: Set<Place> = []
    for (_, entry) in changes.removed {
      let place = place(entry)
      touched.insert(place)
      elements[place]?.remove {
        $0 === entry
      } notBefore: {
        order.precedes($0, entry)
      }
    }
    // In the order of the query: whole sections are built at once.
    var inserted: [Place: ContiguousArray<AnyEntry>] = [:]
    for (_, entry) in changes.inserted { inserted[place(entry), default: []].append(entry) }
    for (place, new) in inserted {
      touched.insert(place)
      if elements[place]?.isEmpty ?? true {
        elements[place] = OrderedTree(sorted: new)
      } else {
        for entry in new { elements[place]?.insert(entry.known(as: QueryEntry<Element>.self), order.precedes) }
      }
    }
    if entries.isEmpty, touched.count > 64 { return build(order) }
    for place in touched { update(place, order) }
  }

  private func made(_ place: Place, _ order: EntryOrder<Element>) -> SectionEntry<Key, Element>? {
    guard let tree = elements[place], let first = tree.first else { return nil }
    let id = if case .key(let known) = place { known } else { key(first.value) }
    return SectionEntry(EntitySection(id: id, elements: EntityResults(tree, order, 0..<Int.max)), first)
  }

  private mutating func update(_ place: Place, _ order: EntryOrder<Element>) {
    if let old = entries.removeValue(forKey: place) {
      sections.remove {
        $0 === old
      } notBefore: {
        SectionEntry<Key, Element>.precedes($0, old, order)
      }
    }
    guard let new = made(place, order) else {
      elements[place] = nil
      return
    }
    entries[place] = new
    sections.insert(new) { SectionEntry<Key, Element>.precedes($0, $1, order) }
  }

  private mutating func build(_ order: EntryOrder<Element>) {
    for place in elements.keys { entries[place] = made(place, order) }
    elements = elements.filter { !$0.value.isEmpty }
    sections = OrderedTree(
      sorted: ContiguousArray<AnyEntry>(entries.values.sorted { order.precedes($0.first, $1.first) }))
  }
}

extension EntityObserver {
  /// Returns an observer of the results of a query in sections: entities that have the same value of a property.
  ///
  /// ```swift
  /// let days = store.query(Note.self, sortBy: [SortDescriptor(\.day), SortDescriptor(\.title)]).sections(by: \.day)
  /// ```
  ///
  /// Sections are in the order of their first entities: sort by the property first to have them in its order. Values that do not equal
  /// themselves, like NaN, share a section. The property must not use the store.
  ///
  /// - Complexity: of a notice or reading, the number of entities that changed in the results, times the logarithm of their number.
  public func sections<Element, Key: Hashable & Sendable>(
    by property: any KeyPath<Element, Key> & Sendable
  ) -> EntityObserver<EntitySections<Key, Element>> where Value == EntityResults<Element> {
    following(Sectioning { $0[keyPath: property] }) { $0.tree.root === $1.tree.root }
  }

  /// Returns an observer of the results of a query in groups: another name of ``sections(by:)``.
  ///
  /// ```swift
  /// let subscription = store.query(Note.self).group(by: \.project).observe { groups in print(groups.map(\.elements.count)) }
  /// ```
  public func group<Element, Key: Hashable & Sendable>(
    by property: any KeyPath<Element, Key> & Sendable
  ) -> EntityObserver<EntitySections<Key, Element>> where Value == EntityResults<Element> { sections(by: property) }
}
