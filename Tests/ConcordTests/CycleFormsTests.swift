import Concord
import Testing

/// Relations of every shape to others of its kind, and to entities outside.
private struct Node: Aggregate, Hashable {
  let id: Int
  var name = 0
  var array: [Node] = []
  var optionalArray: [Node]?
  var dictionary: [Int: Node] = [:]
  var set: Set<Node> = []
  var line: ContiguousArray<Node> = []
  var link: Link = .none
  var links: [Link] = []
  var leaf: Tag?
  var leaves: [Tag] = []
  var optional: Node? {
    get { box.first }
    set { box = newValue.map { [$0] } ?? [] }
  }
  private var box: [Node] = []

  init(_ id: Int, _ name: Int = 0) { (self.id, self.name) = (id, name) }

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    [
      .init(\.array), .init(\.optionalArray), .init(\.dictionary), .init(\.set), .init(\.line), .init(wrapper: \.link),
      .init(wrapper: \.links), .init(\.leaf), .init(\.leaves), .init(\.optional),
    ]
  }
}

private indirect enum Link: EntityWrapper, Hashable {
  case node(Node), leaf(Tag), none

  var node: Node? {
    get { if case .node(let node) = self { node } else { nil } }
    set { if let newValue { self = .node(newValue) } else if case .node = self { self = .none } }
  }

  var leaf: Tag? {
    get { if case .leaf(let leaf) = self { leaf } else { nil } }
    set { if let newValue { self = .leaf(newValue) } else if case .leaf = self { self = .none } }
  }

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>] {
    [.init(parent.appending(path: \.node)), .init(parent.appending(path: \.leaf))]
  }
}

/// A relation in which a node can stand.
private enum Shape: CaseIterable, Sendable {
  case array, optionalArray, dictionary, set, line, link, links, optional

  func put(_ nodes: [Node], into node: inout Node) {
    switch self {
    case .array: node.array = nodes
    case .optionalArray: node.optionalArray = nodes
    case .dictionary: node.dictionary = Dictionary(uniqueKeysWithValues: nodes.map { ($0.id, $0) })
    case .set: node.set = Set(nodes)
    case .line: node.line = ContiguousArray(nodes)
    case .link: node.link = nodes.first.map { .node($0) } ?? .none
    case .links: node.links = nodes.map { .node($0) }
    case .optional: node.optional = nodes.first
    }
  }

  func nodes(of node: Node) -> [Node] {
    switch self {
    case .array: node.array
    case .optionalArray: node.optionalArray ?? []
    case .dictionary: node.dictionary.values.sorted { $0.id < $1.id }
    case .set: node.set.sorted { $0.id < $1.id }
    case .line: Array(node.line)
    case .link: node.link.node.map { [$0] } ?? []
    case .links: node.links.compactMap(\.node)
    case .optional: node.optional.map { [$0] } ?? []
    }
  }

  /// The same, where no array and an empty one are one.
  func plain(_ node: Node) -> Node {
    var node = node
    if node.optionalArray == [] { node.optionalArray = nil }
    return node
  }

  var holdsOne: Bool { self == .link || self == .optional }
}

/// Requires another one of its cycle, behind an array so that it can be.
private struct Office: Aggregate, Equatable {
  let id: Int
  var name = 0
  var clerks: [Clerk] = []
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.clerks)] }
}

private struct Clerk: Aggregate, Equatable {
  let id: Int
  var name = 0
  var office: Office
  var tag: Tag?
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.office), .init(\.tag)] }
}

private struct Outside: Aggregate, Equatable {
  let id: Int
  var node: Node
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.node)] }
}

@Suite("Inside a value, an entity of the same cycle is brief")
struct CycleFormsTests {
  private let store = EntityStore(delivery: .immediate)

  /// Each of them with all others in a relation of that shape, and a leaf.
  private func clique(_ count: Int, _ shape: Shape) -> [EntityObserver<Node>] {
    let nodes = (0..<count).map { id in store.store(node(id)) }
    for id in 0..<count {
      // The next one first, for relations that hold one.
      let others = (1..<count).map { nodes[(id + $0) % count].value }
      store.update(Node.self, id: id) { shape.put(others, into: &$0) }
    }
    return nodes
  }

  private func node(_ id: Int, name: Int = 0, leaf: Int = 0) -> Node {
    var node = Node(id, name)
    node.leaf = Tag(id: id, text: leaf)
    return node
  }

  @Test("Own fields and what leads out; nothing that leads back", arguments: Shape.allCases, [2, 3, 5])
  private func brief(shape: Shape, count: Int) {
    for observer in clique(count, shape) {
      let inner = shape.nodes(of: observer.value)
      #expect(inner.count == (shape.holdsOne ? 1 : count - 1))
      for inner in inner {
        #expect(inner.id != observer.value.id)
        #expect(shape.nodes(of: inner) == [])
        #expect(inner.leaf == Tag(id: inner.id, text: 0))
      }
    }
    #expect(store._checkInvariants() == [])
  }

  @Test("A brief form is the same wherever it stands", arguments: Shape.allCases)
  private func same(shape: Shape) {
    let nodes = clique(4, shape)
    var seen: [Int: Node] = [:]
    for observer in nodes {
      for inner in shape.nodes(of: observer.value) {
        #expect(seen[inner.id, default: inner] == inner)
        seen[inner.id] = inner
      }
    }
    // And no different for who else looks at it.
    let outside = store.store(Outside(id: 0, node: nodes[1].value))
    #expect(outside.value.node == nodes[1].value)
  }

  @Test("A change shows at every place", arguments: Shape.allCases, [true, false])
  private func changed(shape: Shape, isObserved: Bool) {
    let nodes = clique(4, shape)
    let logs = nodes.map { _ in Log<Node>() }
    let subscriptions = isObserved ? zip(nodes, logs).map { node, log in node.observe { log.append($0) } } : []
    var names = [0, 0, 0, 0]
    for (step, id) in [0, 1, 2, 3, 1, 0].enumerated() {
      names[id] = step + 1
      store.update(Node.self, id: id) { $0.name = step + 1 }
      store.update(Tag.self, id: id) { $0.text = step + 1 }
      for (node, log) in zip(nodes, logs) {
        let value = node.value
        #expect(value.name == names[value.id] && value.leaf?.text == names[value.id])
        for inner in shape.nodes(of: value) {
          #expect(inner.name == names[inner.id] && inner.leaf?.text == names[inner.id])
        }
        if isObserved { #expect(log.last == value) }
      }
    }
    #expect(store._checkInvariants() == [])
    for subscription in subscriptions { subscription.unsubscribe() }
  }

  @Test("Only those who show it are told", arguments: Shape.allCases)
  private func notices(shape: Shape) {
    // A ring: 0 shows 1, 1 shows 2, … 5 shows 0.
    let count = 6
    let nodes = (0..<count).map { store.store(node($0)) }
    for id in 0..<count {
      let next = nodes[(id + 1) % count].value
      store.update(Node.self, id: id) { shape.put([next], into: &$0) }
    }
    let log = Log<Int>()
    let subscriptions = nodes.map { $0.observe { log.append($0.id) } }
    log.clear()
    store.update(Node.self, id: 3) { $0.name = 1 }
    #expect(Set(log.values) == [2, 3])
    #expect(log.count == 2)
    log.clear()
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(Set(log.values) == [0, 5])
    for subscription in subscriptions { subscription.unsubscribe() }
  }

  @Test("A relation of which one leads back is left out as a whole", arguments: Shape.allCases)
  private func asAWhole(shape: Shape) {
    guard !shape.holdsOne else { return }
    let zero = store.store(node(0))
    // 1 shows 0, which is of its cycle, and 2, which is not.
    var one = node(1)
    shape.put([zero.value, node(2)], into: &one)
    let first = store.store(one)
    store.update(Node.self, id: 0) { $0.array = [first.value] }
    #expect(shape.nodes(of: first.value).map(\.id) == [0, 2])
    #expect(zero.value.array.map(\.id) == [1])
    #expect(zero.value.array.map { shape.nodes(of: $0) } == [[]])
    #expect(store.find(Node.self, id: 2) != nil)
    // Without the way back it is shown whole.
    store.update(Node.self, id: 1) { node in
      shape.put(shape.nodes(of: node).filter { $0.id == 2 }, into: &node)
    }
    #expect(zero.value.array.map { shape.nodes(of: $0).map(\.id) } == [[2]])
    #expect(store._checkInvariants() == [])
  }

  @Test("Another relation of the same entity, which leads out, is shown whole", arguments: Shape.allCases)
  private func leadsOut(shape: Shape) {
    let zero = store.store(node(0))
    var one = node(1)
    one.array = [zero.value]
    one.leaves = [Tag(id: 10, text: 0), Tag(id: 11, text: 0)]
    var far = node(5)
    far.array = [node(6)]
    if shape != .array { shape.put([far], into: &one) }
    let first = store.store(one)
    store.update(Node.self, id: 0) { $0.optional = first.value }
    let inner = zero.value.optional
    #expect(inner?.array == [])
    #expect(inner?.leaves.map(\.id) == [10, 11])
    if shape != .array, shape != .optional {
      #expect(inner.map { shape.nodes(of: $0) } == [far])
      store.update(Node.self, id: 6) { $0.name = 3 }
      #expect(zero.value.optional.map { shape.nodes(of: $0).map { $0.array.map(\.name) } } == [[3]])
    }
    #expect(store._checkInvariants() == [])
  }

  @Test("Herself among her own", arguments: Shape.allCases)
  private func selfLoop(shape: Shape) {
    let node = store.store(node(0))
    store.update(Node.self, id: 0) { [value = node.value] in shape.put([value], into: &$0) }
    #expect(shape.nodes(of: node.value).map(shape.plain) == [self.node(0)])
    store.update(Node.self, id: 0) { $0.name = 3 }
    #expect(shape.nodes(of: node.value).map(shape.plain) == [self.node(0, name: 3)])
    store.store(node.value)
    #expect(shape.nodes(of: node.value).map(shape.plain) == [self.node(0, name: 3)])
    store.update(Node.self, id: 0) { shape.put([], into: &$0) }
    #expect(shape.plain(node.value) == self.node(0, name: 3))
    #expect(store._checkInvariants() == [])
  }

  @Test("Seen from outside, one of the cycle is as she is on her own")
  func fromOutside() {
    let nodes = clique(3, .array)
    let outside = store.store(Outside(id: 0, node: nodes[0].value))
    #expect(outside.value.node == nodes[0].value)
    store.update(Node.self, id: 2) { $0.name = 4 }
    #expect(outside.value.node.array.map(\.name) == [0, 4])
    #expect(outside.value.node == nodes[0].value)
    store.update(Outside.self, id: 0) { $0.node.name = 7 }
    #expect(nodes[0].value.name == 7)
    #expect(nodes[0].value.array.map(\.id) == [1, 2])
    #expect(nodes[1].value.array.map(\.id) == [2, 0])
  }

  @Test("What is required is shown, brief")
  func required() {
    let office = store.store(Office(id: 0))
    let clerks = (0..<3).map { store.store(Clerk(id: $0, office: office.value, tag: Tag(id: $0, text: 0))) }
    store.update(Office.self, id: 0) { $0.clerks = clerks.map(\.value) }
    #expect(office.value.clerks.map(\.id) == [0, 1, 2])
    for clerk in office.value.clerks {
      #expect(clerk.office == Office(id: 0))
      #expect(clerk.tag == Tag(id: clerk.id, text: 0))
    }
    #expect(clerks[0].value.office == Office(id: 0))
    store.update(Office.self, id: 0) { $0.name = 1 }
    store.update(Clerk.self, id: 1) { $0.name = 2 }
    #expect(office.value.clerks.map(\.name) == [0, 2, 0])
    #expect(office.value.clerks.map(\.office.name) == [1, 1, 1])
    #expect(clerks.map(\.value.office.name) == [1, 1, 1])
    for clerk in clerks { store.store(clerk.value) }
    #expect(office.value.clerks.map(\.id) == [0, 1, 2])
    store.remove(Office.self, id: 0)
    #expect((0..<3).allSatisfy { store.find(Clerk.self, id: $0) == nil })
    #expect(store._checkInvariants() == [])
  }

  @Test("Two cycles that touch: inside one, the other is shown as she is", arguments: Shape.allCases)
  private func twoCycles(shape: Shape) {
    // 0 and 1 show each other, 2 and 3 show each other, and 1 shows 2: two cycles, one way between them.
    let nodes = (0..<4).map { store.store(node($0)) }
    store.update(Node.self, id: 2) { $0.array = [nodes[3].value] }
    store.update(Node.self, id: 3) { $0.array = [nodes[2].value] }
    store.update(Node.self, id: 1) { $0.line = [nodes[0].value] }
    store.update(Node.self, id: 1) { $0.dictionary = [2: nodes[2].value] }
    store.update(Node.self, id: 0) { shape.put([nodes[1].value], into: &$0) }
    let inner = shape.nodes(of: nodes[0].value).first
    #expect(inner?.line == [])
    #expect(inner?.dictionary[2] == nodes[2].value)
    #expect(inner?.dictionary[2]?.array == [node(3)])
    store.update(Node.self, id: 3) { $0.name = 6 }
    #expect(shape.nodes(of: nodes[0].value).first?.dictionary[2]?.array.first?.name == 6)
    // A way back makes one cycle of the two.
    store.update(Node.self, id: 3) { $0.optional = nodes[0].value }
    #expect(shape.nodes(of: nodes[0].value).first?.dictionary == [:])
    #expect(nodes[1].value.dictionary[2]?.array == [])
    store.update(Node.self, id: 3) { $0.optional = nil }
    #expect(shape.nodes(of: nodes[0].value).first?.dictionary[2]?.array.map(\.id) == [3])
    #expect(store._checkInvariants() == [])
  }

  @Test("A cycle that opens shows all again; one that closes leaves out", arguments: Shape.allCases)
  private func opens(shape: Shape) {
    let nodes = clique(3, shape)
    guard !shape.holdsOne else { return }
    store.update(Node.self, id: 0) { shape.put([], into: &$0) }
    // 1 and 2 still show each other, and 0, which shows nobody.
    for id in [1, 2] {
      #expect(Set(shape.nodes(of: nodes[id].value).map(\.id)) == Set([0, 1, 2]).subtracting([id]))
    }
    store.update(Node.self, id: 1) { shape.put([], into: &$0) }
    #expect(shape.nodes(of: nodes[2].value).map { shape.nodes(of: $0) } == [[], []])
    store.update(Node.self, id: 1) { [zero = nodes[0].value] in shape.put([zero], into: &$0) }
    let one = shape.nodes(of: nodes[2].value).first { $0.id == 1 }
    #expect(one.map { shape.nodes(of: $0).map(\.id) } == [0])
    #expect(store._checkInvariants() == [])
  }

  @Test("An edit of what is not shown is refused, and the rest of the update is taken", arguments: Shape.allCases)
  private func hidden(shape: Shape) {
    let nodes = clique(3, shape)
    let before = nodes.map { shape.nodes(of: $0.value).map(\.id) }
    store.update(Node.self, id: 0) { node in
      node.name = 1
      var inner = shape.nodes(of: node)
      inner[0].name = 2
      shape.put([Node(99)], into: &inner[0])
      shape.put(inner, into: &node)
    }
    #expect(nodes[0].value.name == 1)
    #expect(nodes[1].value.name == 2)
    #expect(nodes.map { shape.nodes(of: $0.value).map(\.id) } == before)
    #expect(store.find(Node.self, id: 99) == nil)
    #expect(store._checkInvariants() == [])
  }

  @Test("Removing in a clique takes out one, and leaves all others", arguments: Shape.allCases)
  private func removed(shape: Shape) {
    let nodes = clique(4, shape)
    store.remove(Node.self, id: 1)
    for id in [0, 2, 3] {
      let shown = shape.nodes(of: nodes[id].value).map(\.id)
      #expect(!shown.contains(1))
      if !shape.holdsOne { #expect(Set(shown) == Set([0, 2, 3]).subtracting([id])) }
    }
    store.update(Node.self, id: 3) { $0.name = 5 }
    for id in [0, 2] {
      for inner in shape.nodes(of: nodes[id].value) where inner.id == 3 { #expect(inner.name == 5) }
    }
    #expect(store._checkInvariants() == [])
  }

  @Test("When nobody holds a cycle any longer, it goes as a whole", arguments: Shape.allCases)
  private func released(shape: Shape) {
    do {
      let nodes = clique(5, shape)
      withExtendedLifetime(nodes) {}
    }
    #expect(store._statistics().entities == 0)
    #expect(store._checkInvariants() == [])
  }

  @Test("A transaction that throws leaves the cycle as it was", arguments: Shape.allCases)
  private func undone(shape: Shape) {
    let nodes = clique(4, shape)
    let before = nodes.map(\.value)
    try? store.transaction { store in
      store.update(Node.self, id: 0) { shape.put([], into: &$0) }
      _ = nodes.map(\.value)
      store.remove(Node.self, id: 2)
      store.update(Node.self, id: 3) { $0.name = 9 }
      _ = nodes.map(\.value)
      throw Refused()
    }
    #expect(nodes.map(\.value) == before)
    store.update(Node.self, id: 1) { $0.name = 4 }
    for id in [0, 2, 3] {
      for inner in shape.nodes(of: nodes[id].value) where inner.id == 1 { #expect(inner.name == 4) }
    }
    #expect(store._checkInvariants() == [])
  }
}
