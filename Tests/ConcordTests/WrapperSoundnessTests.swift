import Concord
import Testing

private struct Author: Identifiable, Hashable {
  let id: String
  var name = 0

  init(_ id: String, _ name: Int = 0) { (self.id, self.name) = (id, name) }
}

/// A wrapper with payloads of many kinds, each reached as `@EntityWrapper` writes it: a case that loses a payload
/// becomes `none`.
private indirect enum Chapter: EntityWrapper, Equatable {
  case pair(Author, Author), list([Author]), maybe(Author?), named([String: Author]), group(Set<Author>)
  case both(Chapter, Chapter), parts([Chapter]), none

  var pair0: Author? {
    get { if case .pair(let value, _) = self { value } else { nil } }
    set {
      guard case .pair(_, let other) = self else { return }
      self = newValue.map { .pair($0, other) } ?? .none
    }
  }

  var pair1: Author? {
    get { if case .pair(_, let value) = self { value } else { nil } }
    set {
      guard case .pair(let other, _) = self else { return }
      self = newValue.map { .pair(other, $0) } ?? .none
    }
  }

  var list: [Author]? {
    get { if case .list(let value) = self { value } else { nil } }
    set { if let newValue { self = .list(newValue) } else if case .list = self { self = .none } }
  }

  var maybe: Author?? {
    get { if case .maybe(let value) = self { .some(value) } else { .none } }
    set { if let newValue { self = .maybe(newValue) } else if case .maybe = self { self = .none } }
  }

  var named: [String: Author]? {
    get { if case .named(let value) = self { value } else { nil } }
    set { if let newValue { self = .named(newValue) } else if case .named = self { self = .none } }
  }

  var group: Set<Author>? {
    get { if case .group(let value) = self { value } else { nil } }
    set { if let newValue { self = .group(newValue) } else if case .group = self { self = .none } }
  }

  var both0: Chapter? {
    get { if case .both(let value, _) = self { value } else { nil } }
    set {
      guard case .both(_, let other) = self else { return }
      self = newValue.map { .both($0, other) } ?? .none
    }
  }

  var both1: Chapter? {
    get { if case .both(_, let value) = self { value } else { nil } }
    set {
      guard case .both(let other, _) = self else { return }
      self = newValue.map { .both(other, $0) } ?? .none
    }
  }

  var parts: [Chapter]? {
    get { if case .parts(let value) = self { value } else { nil } }
    set { if let newValue { self = .parts(newValue) } else if case .parts = self { self = .none } }
  }

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>] {
    [
      .init(parent.appending(path: \.pair0)), .init(parent.appending(path: \.pair1)),
      .init(parent.appending(path: \.list)), .init(parent.appending(path: \.maybe)),
      .init(parent.appending(path: \.named)), .init(parent.appending(path: \.group)),
      .init(wrapper: parent.appending(path: \.both0)), .init(wrapper: parent.appending(path: \.both1)),
      .init(wrapper: parent.appending(path: \.parts)),
    ]
  }
}

extension Chapter {
  /// All authors in it.
  var authors: [Author] {
    switch self {
    case .pair(let first, let second): [first, second]
    case .list(let list): list
    case .maybe(let author): author.map { [$0] } ?? []
    case .named(let named): Array(named.values)
    case .group(let group): Array(group)
    case .both(let first, let second): first.authors + second.authors
    case .parts(let parts): parts.flatMap(\.authors)
    case .none: []
    }
  }

  /// The same with other authors, or without some.
  func mapped(_ change: (Author) -> Author?) -> Chapter {
    switch self {
    case .pair(let first, let second):
      if let first = change(first), let second = change(second) { .pair(first, second) } else { .none }
    case .list(let list): .list(list.compactMap(change))
    case .maybe(let author): .maybe(author.flatMap(change))
    case .named(let named): .named(named.compactMapValues(change))
    case .group(let group): .group(Set(group.compactMap(change)))
    case .both(let first, let second): .both(first.mapped(change), second.mapped(change))
    case .parts(let parts): .parts(parts.map { $0.mapped(change) })
    case .none: .none
    }
  }

  func renamed(_ id: String, _ name: Int) -> Chapter { mapped { $0.id == id ? Author(id, name) : $0 } }
  func without(_ id: String) -> Chapter { mapped { $0.id == id ? nil : $0 } }
}

/// A struct that is a wrapper.
private struct Panel: EntityWrapper, Equatable {
  var head: Author?
  var part: Chapter
  var more: [Chapter]

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>] {
    [
      .init(parent.appending(path: \.head)), .init(wrapper: parent.appending(path: \.part)),
      .init(wrapper: parent.appending(path: \.more)),
    ]
  }
}

/// Wrappers in every place where one can stand.
private struct Shelf: Aggregate, Equatable {
  let id: Int
  var parts: [Chapter]
  var single: Chapter = .none
  var optional: Chapter?
  var more: [Chapter]?
  var panel: Panel?
  var panels: [Panel] = []

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    [
      .init(wrapper: \.parts), .init(wrapper: \.single), .init(wrapper: \.optional), .init(wrapper: \.more),
      .init(wrapper: \.panel), .init(wrapper: \.panels),
    ]
  }

  /// The same parts in all places.
  init(_ parts: [Chapter]) {
    id = 0
    self.parts = parts
    single = parts.first ?? .none
    optional = parts.last
    more = parts.reversed()
    panel = Panel(head: parts.first?.authors.first, part: parts.last ?? .none, more: parts)
    panels = parts.map { Panel(head: $0.authors.last, part: $0, more: [$0, .none, $0]) }
  }

  func mapped(_ change: (Author) -> Author?) -> Shelf {
    func panel(_ panel: Panel) -> Panel {
      Panel(
        head: panel.head.flatMap(change), part: panel.part.mapped(change),
        more: panel.more.map { $0.mapped(change) })
    }
    var copy = self
    copy.parts = parts.map { $0.mapped(change) }
    copy.single = single.mapped(change)
    copy.optional = optional?.mapped(change)
    copy.more = more?.map { $0.mapped(change) }
    copy.panel = self.panel.map(panel)
    copy.panels = panels.map(panel)
    return copy
  }

  func renamed(_ id: String, _ name: Int) -> Shelf { mapped { $0.id == id ? Author(id, name) : $0 } }
  func without(_ id: String) -> Shelf { mapped { $0.id == id ? nil : $0 } }
}

/// Keeps its parts in the order of their authors' names.
private struct SortedShelf: Aggregate, Equatable {
  let id: Int
  var parts: [Chapter] { didSet { parts = Self.sorted(parts) } }
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(wrapper: \.parts)] }

  init(_ parts: [Chapter]) { (id, self.parts) = (0, Self.sorted(parts)) }

  static func sorted(_ parts: [Chapter]) -> [Chapter] {
    parts.sorted { $0.authors.map(\.name).lexicographicallyPrecedes($1.authors.map(\.name)) }
  }
}

/// The elements that a setter of one payload makes go: the array shrinks while it is walked.
private struct CompactShelf: Aggregate, Equatable {
  let id: Int
  var parts: [Chapter] { didSet { parts.removeAll { $0 == .none } } }
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(wrapper: \.parts)] }
}

private let a = Author("a")
private let b = Author("b")
private let c = Author("c")

private let programs: [[Chapter]] = [
  [.pair(a, b), .list([a])],
  [.pair(a, b), .pair(b, c), .pair(c, a)],
  [.pair(a, a), .list([b, a, b]), .pair(b, b)],
  [.list([a, b, c]), .none, .list([c, b, a]), .pair(a, c)],
  [.maybe(a), .maybe(nil), .pair(c, b), .maybe(b), .list([])],
  [.named(["1": a, "2": b, "3": a]), .pair(b, a), .named([:]), .named(["1": c])],
  [.group([a, b, c]), .pair(b, c), .group([a]), .list([c, c])],
  [.both(.pair(a, b), .list([a, c])), .pair(c, b)],
  [.both(.both(.pair(c, a), .maybe(b)), .none), .list([b]), .both(.none, .pair(b, b))],
  [.parts([.pair(a, b), .list([a]), .parts([.pair(b, c)])]), .pair(b, c)],
  [.list([a]), .both(.parts([.pair(a, c), .none]), .named(["x": b])), .group([c])],
]

@Suite("Wrappers may change their shape while the store writes into them")
struct WrapperSoundnessTests {
  private let store = EntityStore(delivery: .immediate)

  @Test("Removing an entity takes out that entity, and no other", arguments: programs, ["a", "b", "c"])
  private func removed(parts: [Chapter], id: String) {
    let keep = store.store([a, b, c])
    let shelf = store.store(Shelf(parts))
    let expected = Shelf(parts).without(id)
    store.remove(Author.self, id: id)
    #expect(shelf.value == expected)
    #expect(store._checkInvariants() == [])
    #expect(keep.value == [a, b, c].filter { $0.id != id })
  }

  @Test("Removing them one after the other, with changes in between", arguments: programs)
  private func removedInTurn(parts: [Chapter]) {
    for order in [["a", "b", "c"], ["c", "b", "a"], ["b", "a", "c"]] {
      let keep = store.store([a, b, c])
      let shelf = store.store(Shelf(parts))
      var expected = Shelf(parts)
      for (step, id) in order.enumerated() {
        store.remove(Author.self, id: id)
        expected = expected.without(id)
        for other in order[(step + 1)...] {
          store.update(Author.self, id: other) { $0.name = step + 1 }
          expected = expected.renamed(other, step + 1)
        }
        #expect(shelf.value == expected)
        #expect(store._checkInvariants() == [])
      }
      store.removeAll()
      withExtendedLifetime(keep) {}
    }
  }

  @Test("An observed parent is told of the removal with the right entities in it", arguments: programs)
  private func observed(parts: [Chapter]) {
    let log = Log<Shelf>()
    let subscription = store.store(Shelf(parts)).observe { log.append($0) }
    store.remove(Author.self, id: "b")
    store.update(Author.self, id: "a") { $0.name = 1 }
    #expect(log.last == Shelf(parts).without("b").renamed("a", 1))
    store.remove(Author.self, id: "a")
    #expect(log.last == Shelf(parts).without("b").without("a"))
    #expect(store._checkInvariants() == [])
    subscription.unsubscribe()
  }

  @Test("An update of an entity shows at every place of every wrapper", arguments: programs)
  private func updated(parts: [Chapter]) {
    let shelf = store.store(Shelf(parts))
    var expected = Shelf(parts)
    for (number, id) in ["a", "b", "c", "b", "a"].enumerated() {
      if store.update(Author.self, id: id, update: { $0.name = number + 1 }) {
        expected = expected.renamed(id, number + 1)
      }
      #expect(shelf.value == expected)
    }
    #expect(store._checkInvariants() == [])
  }

  @Test("A case becomes another case in an update, with other entities in it", arguments: programs, programs)
  private func exchanged(old: [Chapter], new: [Chapter]) {
    let keep = store.store([a, b, c])
    let shelf = store.store(Shelf(old))
    store.update(Author.self, id: "a") { $0.name = 1 }
    store.update(Author.self, id: "b") { $0.name = 2 }
    let current = Shelf(new).renamed("a", 1).renamed("b", 2)
    store.update(Shelf.self, id: 0) { $0 = current }
    #expect(shelf.value == current)
    store.update(Author.self, id: "c") { $0.name = 3 }
    #expect(shelf.value == current.renamed("c", 3))
    store.remove(Author.self, id: "a")
    #expect(shelf.value == current.renamed("c", 3).without("a"))
    #expect(store._checkInvariants() == [])
    withExtendedLifetime(keep) {}
  }

  @Test("Wrappers that a didSet keeps sorted show what the store has, in their order", arguments: programs)
  private func sorted(parts: [Chapter]) {
    let keep = store.store([a, b, c])
    let shelf = store.store(SortedShelf(parts))
    var expected = parts
    for (number, id) in ["a", "b", "c", "a", "c", "b"].enumerated() {
      let name = number % 2 == 0 ? 10 - number : number - 10
      store.update(Author.self, id: id) { $0.name = name }
      expected = expected.map { $0.renamed(id, name) }
      let value = shelf.value
      #expect(value.parts.count == expected.count)
      for part in expected { #expect(value.parts.contains(part)) }
      #expect(value.parts.map { $0.authors.count } == SortedShelf.sorted(value.parts).map { $0.authors.count })
    }
    store.remove(Author.self, id: "b")
    for part in expected { #expect(shelf.value.parts.contains(part.without("b"))) }
    #expect(store._checkInvariants() == [])
    withExtendedLifetime(keep) {}
  }

  @Test("Wrappers that a didSet throws out when they are empty", arguments: programs, ["a", "b", "c"])
  private func compacted(parts: [Chapter], id: String) {
    let keep = store.store([a, b, c])
    let shelf = store.store(CompactShelf(id: 0, parts: parts.filter { $0 != .none }))
    store.remove(Author.self, id: id)
    let expected = parts.map { $0.without(id) }.filter { $0 != .none }
    #expect(store.find(CompactShelf.self, id: 0)?.value.parts.filter { $0 != .none } == expected)
    for (number, other) in ["a", "b", "c"].enumerated() where other != id {
      store.update(Author.self, id: other) { $0.name = number + 5 }
      for author in shelf.value.parts.flatMap(\.authors) where author.id == other { #expect(author.name == number + 5) }
    }
    #expect(store._checkInvariants() == [])
    withExtendedLifetime(keep) {}
  }

  @Test("What a wrapper no longer shows is released, what it shows is kept", arguments: programs, ["a", "b", "c"])
  private func kept(parts: [Chapter], id: String) {
    let shelf = store.store(Shelf(parts))
    store.remove(Author.self, id: id)
    let expected = Shelf(parts).without(id)
    let heads = expected.panels.compactMap(\.head) + (expected.panel?.head.map { [$0] } ?? [])
    let shown = Set((expected.parts.flatMap(\.authors) + heads).map(\.id))
    for author in ["a", "b", "c"] {
      #expect((store.find(Author.self, id: author) != nil) == shown.contains(author), "\(author)")
    }
    withExtendedLifetime(shelf) {}
    #expect(store._checkInvariants() == [])
  }

  @Test("A removal inside a transaction that throws brings the wrappers back", arguments: programs)
  private func undone(parts: [Chapter]) {
    let shelf = store.store(Shelf(parts))
    try? store.transaction { store in
      store.remove(Author.self, id: "a")
      _ = shelf.value
      store.remove(Author.self, id: "b")
      _ = shelf.value
      throw Refused()
    }
    #expect(shelf.value == Shelf(parts))
    store.update(Author.self, id: "b") { $0.name = 4 }
    #expect(shelf.value == Shelf(parts).renamed("b", 4))
    #expect(store._checkInvariants() == [])
  }
}
