import Concord

// The entities of the random test of shapes. What stands in their relations depends on their values: on a mode of their
// own, and on the entities inside of them. `inside` says the same by hand.

/// An entity of the random test of shapes.
protocol ShapeEntity: Identifiable, Hashable, Sendable where ID == Int {
  /// Its own field.
  var text: Int { get set }
  /// What stands in its relations, as they are for this value.
  var inside: [any ShapeEntity] { get }
}

/// What the bits of a mode do.
struct ShapeMode: OptionSet, Hashable, Sendable {
  let rawValue: Int

  static let sorts = ShapeMode(rawValue: 1)
  static let filters = ShapeMode(rawValue: 2)
  static let sortsSlots = ShapeMode(rawValue: 4)
  static let dropsEmptySlots = ShapeMode(rawValue: 8)
  static let isReversed = ShapeMode(rawValue: 16)
  static let showsEven = ShapeMode(rawValue: 32)
  static let showsTop = ShapeMode(rawValue: 64)
  static let hidesSpare = ShapeMode(rawValue: 128)
  static let listsTwice = ShapeMode(rawValue: 256)
  static let hidesMain = ShapeMode(rawValue: 512)
  static let overlaps = ShapeMode(rawValue: 1024)
  static let nests = ShapeMode(rawValue: 2048)

  static let derived: ShapeMode = [.sorts, .filters, .sortsSlots, .dropsEmptySlots, .showsEven, .showsTop]
  static let varying: ShapeMode = [.isReversed, .hidesSpare, .listsTwice, .hidesMain, .overlaps]
}

struct Leaf: ShapeEntity {
  let id: Int
  var text: Int
  var inside: [any ShapeEntity] { [] }
}

extension [Leaf] {
  func inOrder() -> [Leaf] { sorted { ($0.text, $0.id) < ($1.text, $1.id) } }
}

/// A wrapper of leaves. A case that loses a payload becomes `none`, but for `stubborn`, which ignores `nil`.
indirect enum Niche: EntityWrapper, Hashable {
  case pair(Leaf, Leaf), list([Leaf]), maybe(Leaf?), named([Int: Leaf]), both(Niche, Niche), slots([Niche])
  /// The second one is in a relation only while the first one's text is even.
  case shy(Leaf, Leaf)
  case stubborn(Leaf), none

  var first: Leaf? {
    get {
      switch self {
      case .pair(let leaf, _), .shy(let leaf, _), .stubborn(let leaf): leaf
      default: nil
      }
    }
    set {
      switch (self, newValue) {
      case (.pair(_, let other), let leaf?): self = .pair(leaf, other)
      case (.shy(_, let other), let leaf?): self = .shy(leaf, other)
      case (.stubborn, let leaf?): self = .stubborn(leaf)
      case (.pair, nil), (.shy, nil): self = .none
      default: break
      }
    }
  }

  var second: Leaf? {
    get {
      switch self {
      case .pair(_, let leaf), .shy(_, let leaf): leaf
      default: nil
      }
    }
    set {
      switch (self, newValue) {
      case (.pair(let other, _), let leaf?): self = .pair(other, leaf)
      case (.shy(let other, _), let leaf?): self = .shy(other, leaf)
      case (.pair, nil), (.shy, nil): self = .none
      default: break
      }
    }
  }

  var list: [Leaf]? {
    get { if case .list(let list) = self { list } else { nil } }
    set { if let newValue { self = .list(newValue) } else if case .list = self { self = .none } }
  }

  var maybe: Leaf?? {
    get { if case .maybe(let leaf) = self { .some(leaf) } else { .none } }
    set { if let newValue { self = .maybe(newValue) } else if case .maybe = self { self = .none } }
  }

  var named: [Int: Leaf]? {
    get { if case .named(let named) = self { named } else { nil } }
    set { if let newValue { self = .named(newValue) } else if case .named = self { self = .none } }
  }

  var left: Niche? {
    get { if case .both(let slot, _) = self { slot } else { nil } }
    set {
      guard case .both(_, let other) = self else { return }
      self = newValue.map { .both($0, other) } ?? .none
    }
  }

  var right: Niche? {
    get { if case .both(_, let slot) = self { slot } else { nil } }
    set {
      guard case .both(let other, _) = self else { return }
      self = newValue.map { .both(other, $0) } ?? .none
    }
  }

  var slots: [Niche]? {
    get { if case .slots(let slots) = self { slots } else { nil } }
    set { if let newValue { self = .slots(newValue) } else if case .slots = self { self = .none } }
  }

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>] {
    if case .shy(let first, _) = self, first.text % 2 != 0 { return [.init(parent.appending(path: \.first))] }
    return [
      .init(parent.appending(path: \.first)), .init(parent.appending(path: \.second)),
      .init(parent.appending(path: \.list)), .init(parent.appending(path: \.maybe)),
      .init(parent.appending(path: \.named)), .init(wrapper: parent.appending(path: \.left)),
      .init(wrapper: parent.appending(path: \.right)), .init(wrapper: parent.appending(path: \.slots)),
    ]
  }

  var inside: [Leaf] {
    switch self {
    case .pair(let first, let second): [first, second]
    case .list(let list): list
    case .maybe(let leaf): leaf.map { [$0] } ?? []
    case .named(let named): Array(named.values)
    case .both(let left, let right): left.inside + right.inside
    case .slots(let slots): slots.flatMap(\.inside)
    case .shy(let first, let second): first.text % 2 == 0 ? [first, second] : [first]
    case .stubborn(let leaf): [leaf]
    case .none: []
    }
  }

  /// What a list of slots is sorted by.
  var key: [Int] { inside.map { $0.text * 100 + $0.id }.sorted() }
}

struct Pod: ShapeEntity, Aggregate {
  let id: Int
  var text = 0
  var mode: ShapeMode
  var main: Leaf
  var spare: Leaf?
  var list: [Leaf] {
    didSet {
      if mode.contains(.filters) { list.removeAll { $0.text < 0 } }
      if mode.contains(.sorts) { list = list.inOrder() }
    }
  }
  var index: [Int: Leaf] = [:]
  var slot: Niche = .none
  var slots: [Niche] {
    didSet {
      if mode.contains(.dropsEmptySlots) { slots.removeAll { $0 == .none } }
      if mode.contains(.sortsSlots) { slots.sort { $0.key.lexicographicallyPrecedes($1.key) } }
    }
  }

  var nest = Nest()

  /// Some of the list; the setter keeps the others.
  var even: [Leaf] {
    get { list.filter { $0.text % 2 == 0 } }
    set { list = newValue + list.filter { $0.text % 2 != 0 } }
  }

  /// The greatest of the list: writing it may make another one the greatest.
  var top: Leaf? {
    get { list.inOrder().last }
    set {
      guard let top, let index = list.firstIndex(of: top) else { return }
      if let newValue { list[index] = newValue } else { list.remove(at: index) }
    }
  }

  private var hidesMain: Bool { mode.contains(.hidesMain) && main.text > 20 }
  private var hidesSpare: Bool { mode.contains(.hidesSpare) && main.text % 2 == 0 }

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    var relations: [PartialIdentifiableKeyPath<Self>] = []
    if !hidesMain { relations.append(.init(\.main)) }
    if !hidesSpare { relations.append(.init(\.spare)) }
    if mode.contains(.showsEven) {
      relations.append(.init(\.even))
    } else if mode.contains(.showsTop) {
      relations.append(.init(\.top))
    } else {
      relations.append(.init(\.list))
    }
    relations += [.init(\.index), .init(wrapper: \.slot), .init(wrapper: \.slots)]
    if mode.contains(.overlaps) { relations.append(.init(\.slot.list)) }
    if mode.contains(.nests) { relations += Nest.relations(\.nest) }
    if mode.contains(.isReversed) { relations.reverse() }
    if mode.contains(.listsTwice) { relations.append(.init(\.spare)) }
    return relations
  }

  var inside: [any ShapeEntity] {
    var inside: [Leaf] = []
    if !hidesMain { inside.append(main) }
    if !hidesSpare || mode.contains(.listsTwice) { inside += spare.map { [$0] } ?? [] }
    if mode.contains(.showsEven) {
      inside += even
    } else if mode.contains(.showsTop) {
      inside += top.map { [$0] } ?? []
    } else {
      inside += list
    }
    inside += Array(index.values) + slot.inside + slots.flatMap(\.inside)
    return mode.contains(.nests) ? inside + nest.inside : inside
  }
}

struct Rack: ShapeEntity, Aggregate {
  struct Inner: Hashable, Sendable {
    var pod: Pod?
    var leaf: Leaf
  }

  let id: Int
  var text = 0
  var mode: ShapeMode
  var pods: [Pod] { didSet { if mode.contains(.sorts) { pods.sort { ($0.text, $0.id) < ($1.text, $1.id) } } } }
  var inner: Inner

  /// The first of the pods.
  var chief: Pod? {
    get { pods.first }
    set {
      guard !pods.isEmpty else { return }
      if let newValue { pods[0] = newValue } else { pods.removeFirst() }
    }
  }

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    var relations: [PartialIdentifiableKeyPath<Self>] = [.init(\.inner.pod), .init(\.inner.leaf)]
    if mode.contains(.showsTop) { relations.append(.init(\.chief)) } else { relations.append(.init(\.pods)) }
    if mode.contains(.overlaps) { relations.insert(.init(\.chief), at: 0) }
    if mode.contains(.listsTwice) { relations.append(.init(\.inner.leaf)) }
    if mode.contains(.isReversed) { relations.reverse() }
    return relations
  }

  var inside: [any ShapeEntity] {
    var inside: [any ShapeEntity] = [inner.leaf]
    if let pod = inner.pod { inside.append(pod) }
    if mode.contains(.showsTop) { inside += chief.map { [$0] } ?? [] } else { inside += pods }
    return inside
  }
}

/// A wrapper of knots.
indirect enum Tie: EntityWrapper, Hashable {
  case one(Knot), two(Knot, Knot), many([Knot]), none

  var first: Knot? {
    get {
      switch self {
      case .one(let knot), .two(let knot, _): knot
      default: nil
      }
    }
    set {
      switch (self, newValue) {
      case (.one, let knot?): self = .one(knot)
      case (.two(_, let other), let knot?): self = .two(knot, other)
      case (.one, nil), (.two, nil): self = .none
      default: break
      }
    }
  }

  var second: Knot? {
    get { if case .two(_, let knot) = self { knot } else { nil } }
    set {
      guard case .two(let other, _) = self else { return }
      self = newValue.map { .two(other, $0) } ?? .none
    }
  }

  var many: [Knot]? {
    get { if case .many(let knots) = self { knots } else { nil } }
    set { if let newValue { self = .many(newValue) } else if case .many = self { self = .none } }
  }

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>] {
    [
      .init(parent.appending(path: \.first)), .init(parent.appending(path: \.second)),
      .init(parent.appending(path: \.many)),
    ]
  }

  var inside: [Knot] {
    switch self {
    case .one(let knot): [knot]
    case .two(let first, let second): [first, second]
    case .many(let knots): knots
    case .none: []
    }
  }
}

/// An entity that can stand in cycles.
struct Knot: ShapeEntity, Aggregate {
  let id: Int
  var text = 0
  var mode: ShapeMode = []
  var knots: [Knot] = [] {
    didSet { if mode.contains(.sorts) { knots.sort { ($0.text, $0.id) < ($1.text, $1.id) } } }
  }
  var tie: Tie = .none
  var ties: [Tie] = []
  var leaf: Leaf?
  var pod: Pod?
  var mesh = Mesh()

  private var hidesLeaf: Bool { mode.contains(.hidesSpare) && text % 2 == 0 }

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    var relations: [PartialIdentifiableKeyPath<Self>] = [
      .init(\.knots), .init(wrapper: \.tie), .init(wrapper: \.ties), .init(\.pod),
    ]
    if !hidesLeaf { relations.append(.init(\.leaf)) }
    if mode.contains(.listsTwice) { relations.append(.init(\.knots)) }
    if mode.contains(.nests) { relations += Mesh.relations(\.mesh) }
    if mode.contains(.isReversed) { relations.reverse() }
    return relations
  }

  var knotsInside: [Knot] {
    knots + tie.inside + ties.flatMap(\.inside) + (mode.contains(.nests) ? mesh.inside : [])
  }

  var inside: [any ShapeEntity] {
    var inside: [any ShapeEntity] = knotsInside
    if let pod { inside.append(pod) }
    if let leaf, !hidesLeaf { inside.append(leaf) }
    return inside
  }

  /// The same, where a wrapper without knots is none: what is left out of it may leave an empty case.
  func plain() -> Knot {
    var knot = self
    if tie.inside.isEmpty { knot.tie = .none }
    knot.ties.removeAll { $0.inside.isEmpty }
    knot.mesh.ties = mesh.ties.filter { !$0.value.inside.isEmpty }
    return knot
  }

  /// As it stands inside another one of its cycle.
  func brief(_ cycle: Set<Int>) -> Knot {
    func leadsBack(_ knots: [Knot]) -> Bool { knots.contains { cycle.contains($0.id) } }
    var brief = self
    if leadsBack(knots) { brief.knots = [] }
    if leadsBack(tie.inside) { brief.tie = .none }
    if leadsBack(ties.flatMap(\.inside)) { brief.ties = [] }
    if mode.contains(.nests) { brief.mesh = mesh.brief(leadsBack) }
    return brief
  }
}
