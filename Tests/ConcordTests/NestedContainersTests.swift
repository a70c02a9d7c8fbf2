import Concord
import Testing

@Suite("Any shape: containers in containers")
struct NestedContainersTests {
  let store = EntityStore(delivery: .immediate)

  @Test("An entity follows the store in every container of containers")
  func everyPlace() {
    let crate = store.store(Crate(full: Leaf(id: 1, text: 1)))
    #expect(crate.value.texts == Array(repeating: 1, count: 23))
    store.update(Leaf.self, id: 1) { $0.text = 2 }
    #expect(crate.value.texts == Array(repeating: 2, count: 23))
  }

  @Test("An edit at any of these places is seen at all others, and on its own", arguments: 0..<5)
  func edits(place: Int) {
    let crate = store.store(Crate(full: Leaf(id: 1, text: 1)))
    let leaf = store.observer(Leaf.self, id: 1)
    store.update(Crate.self, id: 1) { crate in
      switch place {
      case 0: crate.grid[0][0].text = 2
      case 1: crate.shelves["a"]?[0].text = 2
      case 2: crate.gaps[0]?.text = 2
      case 3: crate.niches["a"]?.first?.text = 2
      default: crate.nicheSet = [.list([Leaf(id: 1, text: 2)])]
      }
    }
    #expect(leaf.value?.text == 2)
    #expect(crate.value.texts == Array(repeating: 2, count: 23))
  }

  @Test("A removed entity leaves the innermost container that can do without it")
  func removing() {
    let other = Leaf(id: 2, text: 2)
    var full = Crate(full: Leaf(id: 1, text: 1))
    full.grid = [[Leaf(id: 1, text: 1), other], [], [other]]
    full.gaps.append(other)
    full.niches["b"] = .stubborn(Leaf(id: 1, text: 1))
    full.nicheGaps = [.stubborn(Leaf(id: 1, text: 1)), nil]
    let crate = store.store(full)
    store.remove(Leaf.self, id: 1)
    let left = crate.value
    #expect(left.grid == [[other], [], [other]])
    #expect(left.shelves == ["a": []] && left.maybeShelves == ["a": []] && left.deepShelves?["a"] == [Leaf?.none])
    #expect(left.gaps == [nil, nil, other] && left.keyedGaps["a"] == Leaf??.some(nil) && left.deep == .some(nil))
    #expect(left.sets == [[]] && left.slices == [[]] && left.cubes == [[[]]])
    #expect(left.niches == ["a": .none] && left.maybeNiches == ["a": .none] && left.nicheGrid == [[.none]])
    #expect(left.nicheSet == [.list([])] && left.nicheGaps == [nil, nil] && left.deepNiche == .some(.some(.none)))
    #expect(left.pair.0 == nil && left.pair.1 == [])
  }

  @Test("Equal values whose dictionaries and sets were built in another order tell nobody")
  func equalValues() {
    let leaves = (0..<40).map { Leaf(id: $0, text: 0) }
    func crate(_ leaves: [Leaf]) -> Crate {
      var crate = Crate(id: 1)
      for leaf in leaves {
        crate.shelves["\(leaf.id)"] = [leaf]
        crate.keyedGaps["\(leaf.id)"] = leaf
      }
      crate.sets = [Set(leaves)]
      return crate
    }
    let observer = store.store(crate(leaves))
    let calls = Counter()
    let subscription = observer.observe { _ in calls.increment() }
    store.store(crate(leaves.reversed()))
    store.store(crate(leaves.shuffled()))
    #expect(calls.value == 1)
    store.update(Leaf.self, id: 7) { $0.text = 1 }
    #expect(calls.value == 2)
    #expect(observer.value.shelves["7"]?.first?.text == 1 && observer.value.keyedGaps["7"]??.text == 1)
    subscription.unsubscribe()
  }

  @Test("What leads back into a cycle is left out of brief forms, and comes back as left out")
  func cycles() {
    let store = store
    let kept = store.store(
      Hub(id: 1, name: 1, rows: [[Hub(id: 2)]], web: ["a": [Hub(id: 2)]], gaps: [Hub(id: 2), nil]))
    let first = kept.value
    store.update(Hub.self, id: 2) { $0 = Hub(id: 2, name: 2, rows: [[first]], spokes: ["x": .hub(first)]) }
    let inside = kept.value.rows[0][0]
    #expect(inside.name == 2 && inside.rows.isEmpty && inside.spokes.isEmpty)
    // Stored again as it was read, nothing of it is lost.
    store.store(kept.value)
    let other = store.find(Hub.self, id: 2)
    #expect(other?.value.rows.first?.first?.name == 1)
    #expect(other?.value.spokes["x"]?.hub?.name == 1)
    store.update(Hub.self, id: 1) { $0.name = 5 }
    #expect(other?.value.rows.first?.first?.name == 5 && other?.value.spokes["x"]?.hub?.name == 5)
    // Really emptied, it stays empty.
    store.update(Hub.self, id: 1) { ($0.rows, $0.web, $0.gaps) = ([], [:], []) }
    #expect(kept.value.rows.isEmpty && kept.value.web.isEmpty && kept.value.gaps.isEmpty)
    #expect(store._checkInvariants().isEmpty)
  }

  @Test("A stale aggregate changes none of them")
  func stale() {
    let crate = store.store(Crate(full: Leaf(id: 1, text: 1)), modifiedAt: 5)
    store.store(Crate(id: 1), modifiedAt: 4)
    #expect(crate.value.texts == Array(repeating: 1, count: 23))
  }

  @Test("A transaction that throws restores them")
  func undone() {
    struct Undo: Error {}
    let crate = store.store(Crate(full: Leaf(id: 1, text: 1)))
    let before = crate.value
    try? store.transaction { tx in
      tx.remove(Leaf.self, id: 1)
      tx.store(Crate(id: 1))
      throw Undo()
    }
    #expect(crate.value == before)
    store.update(Leaf.self, id: 1) { $0.text = 2 }
    #expect(crate.value.texts == Array(repeating: 2, count: 23))
  }

  @Test("Whoever stands in them is kept, and goes with the last place")
  func lifetimes() {
    let crate = store.store(Crate(full: Leaf(id: 1, text: 1)))
    #expect(store.find(Leaf.self, id: 1) != nil)
    store.update(Crate.self, id: 1) { $0 = Crate(id: 1) }
    #expect(store.find(Leaf.self, id: 1) == nil)
    withExtendedLifetime(crate) {}
  }

  @Test("A wrapper that is Identifiable is a wrapper, also where a relation or a generic type takes it for an entity")
  func identifiableWrappers() {
    let leaf = Leaf(id: 1, text: 1)
    let table = store.store(Table(id: 1, first: .leaf(leaf), rows: [.leaf(leaf), .header], named: ["a": .leaf(leaf)]))
    let page = store.store(Page(id: 1, items: [ListRow.leaf(leaf)], first: .leaf(leaf)))
    store.update(Leaf.self, id: 1) { $0.text = 2 }
    #expect(store.find(ListRow.self, id: 1) == nil)
    #expect(table.value.first.leaf?.text == 2 && table.value.rows[0].leaf?.text == 2)
    #expect(table.value.named["a"]?.leaf?.text == 2)
    #expect(page.value.items[0].leaf?.text == 2 && page.value.first?.leaf?.text == 2)
    store.remove(Leaf.self, id: 1)
    #expect(table.value.rows == [.header, .header])
  }

  @Test("An observed collection of wrappers is not written where nothing in it is newer")
  func notInVain() {
    let leaf = Leaf(id: 1, text: 1)
    let tray = store.store(Tray(id: 1, slots: [.none, .list([Leaf(id: 2, text: 2)])], only: [leaf]))
    store.update(Leaf.self, id: 1) { $0.text = 2 }
    #expect(tray.value.only == [Leaf(id: 1, text: 2)])
    #expect(tray.value.writes == 0)
    store.update(Leaf.self, id: 2) { $0.text = 3 }
    #expect(tray.value.slots == [.none, .list([Leaf(id: 2, text: 3)])])
    #expect(tray.value.writes == 1)
  }

  @Test("A collection of another module nests when it says that it is a container")
  func otherCollections() {
    let box = store.store(Box(id: 1, rings: Ring(elements: [[Leaf(id: 1, text: 1)]])))
    store.update(Leaf.self, id: 1) { $0.text = 2 }
    #expect(box.value.rings[0][0].text == 2)
  }
}

/// Every container of containers there is a way to declare by hand.
private struct Crate: Aggregate, Equatable {
  let id: Int
  var grid: [[Leaf]] = []
  var cubes: [[[Leaf]]] = []
  var shelves: [String: [Leaf]] = [:]
  var maybeShelves: [String: [Leaf]]?
  var deepShelves: [String: [Leaf?]]?
  var gaps: [Leaf?] = []
  var keyedGaps: [String: Leaf?] = [:]
  var deep: Leaf??
  var sets: [Set<Leaf>] = []
  var slices: [ArraySlice<Leaf>] = []
  var niches: [String: Niche] = [:]
  var maybeNiches: [String: Niche]?
  var nicheGrid: [[Niche]] = []
  var nicheSet: Set<Niche> = []
  var nicheGaps: [Niche?] = []
  var deepNiche: Niche??
  var pair: (Leaf?, [Leaf]) = (nil, [])

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    [
      .init(\.grid), .init(\.cubes), .init(\.shelves), .init(\.maybeShelves), .init(\.deepShelves), .init(\.gaps),
      .init(\.keyedGaps), .init(\.deep), .init(\.sets), .init(\.slices), .init(wrapper: \.niches),
      .init(wrapper: \.maybeNiches), .init(wrapper: \.nicheGrid), .init(wrapper: \.nicheSet),
      .init(wrapper: \.nicheGaps), .init(wrapper: \.deepNiche), .init(\.pair.0), .init(\.pair.1),
    ]
  }

  init(id: Int) { self.id = id }

  init(full leaf: Leaf) {
    id = 1
    (grid, cubes, shelves, maybeShelves) = ([[leaf], [leaf]], [[[leaf]]], ["a": [leaf]], ["a": [leaf]])
    (deepShelves, gaps, keyedGaps, deep) = (["a": [leaf]], [leaf, nil], ["a": leaf], leaf)
    (sets, slices) = ([[leaf]], [[leaf]])
    (niches, maybeNiches) = (["a": .pair(leaf, leaf)], ["a": .pair(leaf, leaf)])
    (nicheGrid, nicheSet) = ([[.pair(leaf, leaf)]], [.list([leaf])])
    (nicheGaps, deepNiche, pair) = ([nil, .list([leaf])], .pair(leaf, leaf), (leaf, [leaf]))
  }

  var texts: [Int] {
    var all: [Leaf?] = (grid + cubes.flatMap { $0 } + shelves.values + (maybeShelves ?? [:]).values).flatMap { $0 }
    all += (deepShelves ?? [:]).values.flatMap { $0 } + gaps + keyedGaps.values + [deep ?? nil]
    all += sets.flatMap { $0 } + slices.flatMap { $0 } + [pair.0] + pair.1
    let niches = Array(self.niches.values) + (maybeNiches ?? [:]).values + nicheGrid.flatMap { $0 } + nicheSet
    all += (niches + nicheGaps.compactMap { $0 } + [deepNiche ?? nil].compactMap { $0 }).flatMap(\.inside)
    return all.compactMap { $0?.text }
  }

  static func == (a: Crate, b: Crate) -> Bool {
    a.id == b.id && a.grid == b.grid && a.cubes == b.cubes && a.shelves == b.shelves
      && a.maybeShelves == b.maybeShelves && a.deepShelves == b.deepShelves && a.gaps == b.gaps
      && a.keyedGaps == b.keyedGaps && a.deep == b.deep && a.sets == b.sets && a.slices == b.slices
      && a.niches == b.niches && a.maybeNiches == b.maybeNiches && a.nicheGrid == b.nicheGrid
      && a.nicheSet == b.nicheSet && a.nicheGaps == b.nicheGaps && a.deepNiche == b.deepNiche && a.pair == b.pair
  }
}

/// An entity that stands in cycles of containers.
private struct Hub: Aggregate, Equatable {
  let id: Int
  var name = 0
  var rows: [[Hub]] = []
  var web: [String: [Hub]] = [:]
  var gaps: [Hub?] = []
  var spokes: [String: Spoke] = [:]

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    [.init(\.rows), .init(\.web), .init(\.gaps), .init(wrapper: \.spokes)]
  }
}

private enum Spoke: EntityWrapper, Equatable {
  case hub(Hub), none

  var hub: Hub? {
    get { if case .hub(let hub) = self { hub } else { nil } }
    set { self = newValue.map { .hub($0) } ?? .none }
  }

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>] { [.init(parent.appending(path: \.hub))] }
}

/// A wrapper with the identity that `ForEach` wants.
private enum ListRow: EntityWrapper, Identifiable, Hashable {
  case leaf(Leaf), header

  var id: Int { leaf?.id ?? 0 }

  var leaf: Leaf? {
    get { if case .leaf(let leaf) = self { leaf } else { nil } }
    set { self = newValue.map { .leaf($0) } ?? .header }
  }

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>] { [.init(parent.appending(path: \.leaf))] }
}

private struct Table: Aggregate {
  let id: Int
  var first: ListRow
  var rows: [ListRow]
  var named: [String: ListRow]
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    [.init(\.first), .init(\.rows), .init(\.named)]
  }
}

private struct Page<Item: Identifiable & Sendable>: Aggregate {
  let id: Int
  var items: [Item]
  var first: Item?
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.items), .init(\.first)] }
}

private struct Tray: Aggregate {
  let id: Int
  var slots: [Niche] { didSet { writes += 1 } }
  var only: [Leaf] { didSet {} }
  var writes = 0
  init(id: Int, slots: [Niche], only: [Leaf]) { (self.id, self.slots, self.only) = (id, slots, only) }
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(wrapper: \.slots), .init(\.only)] }
}

private struct Box: Aggregate {
  let id: Int
  var rings: Ring<[Leaf]>
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.rings)] }
}

private struct Ring<Element: Sendable>: MutableCollection, Sendable {
  var elements: [Element]
  var startIndex: Int { 0 }
  var endIndex: Int { elements.count }
  func index(after index: Int) -> Int { index + 1 }
  subscript(index: Int) -> Element {
    get { elements[index] }
    set { elements[index] = newValue }
  }
}

extension Ring: EntityContainer {}
