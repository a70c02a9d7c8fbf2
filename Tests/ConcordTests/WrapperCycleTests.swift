import Concord
import Testing

/// Places of members in members: several payloads, arrays, nested wrappers. A case that loses a payload becomes `none`.
private indirect enum Bond: EntityWrapper, Equatable {
  case pair(Member, Member), list([Member]), maybe(Member?), both(Bond, Bond), label(Tag), none

  var pair0: Member? {
    get { if case .pair(let value, _) = self { value } else { nil } }
    set {
      guard case .pair(_, let other) = self else { return }
      self = newValue.map { .pair($0, other) } ?? .none
    }
  }

  var pair1: Member? {
    get { if case .pair(_, let value) = self { value } else { nil } }
    set {
      guard case .pair(let other, _) = self else { return }
      self = newValue.map { .pair(other, $0) } ?? .none
    }
  }

  var list: [Member]? {
    get { if case .list(let value) = self { value } else { nil } }
    set { if let newValue { self = .list(newValue) } else if case .list = self { self = .none } }
  }

  var maybe: Member?? {
    get { if case .maybe(let value) = self { .some(value) } else { .none } }
    set { if let newValue { self = .maybe(newValue) } else if case .maybe = self { self = .none } }
  }

  var both0: Bond? {
    get { if case .both(let value, _) = self { value } else { nil } }
    set {
      guard case .both(_, let other) = self else { return }
      self = newValue.map { .both($0, other) } ?? .none
    }
  }

  var both1: Bond? {
    get { if case .both(_, let value) = self { value } else { nil } }
    set {
      guard case .both(let other, _) = self else { return }
      self = newValue.map { .both(other, $0) } ?? .none
    }
  }

  var label: Tag? {
    get { if case .label(let value) = self { value } else { nil } }
    set { if let newValue { self = .label(newValue) } else if case .label = self { self = .none } }
  }

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>] {
    [
      .init(parent.appending(path: \.pair0)), .init(parent.appending(path: \.pair1)),
      .init(parent.appending(path: \.list)), .init(parent.appending(path: \.maybe)),
      .init(wrapper: parent.appending(path: \.both0)), .init(wrapper: parent.appending(path: \.both1)),
      .init(parent.appending(path: \.label)),
    ]
  }

  var members: [Member] {
    switch self {
    case .pair(let first, let second): [first, second]
    case .list(let list): list
    case .maybe(let member): member.map { [$0] } ?? []
    case .both(let first, let second): first.members + second.members
    case .label, .none: []
    }
  }
}

private struct Member: Aggregate, Equatable {
  let id: Int
  var name = 0
  var bonds: [Bond] = []
  var single: Bond = .none
  var tag: Tag?

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    [.init(wrapper: \.bonds), .init(wrapper: \.single), .init(\.tag)]
  }
}

/// Keeps its bonds sorted by the names of those in them.
private struct SortedMember: Aggregate, Equatable {
  let id: Int
  var name = 0
  var others: [SortedBond] = [] {
    didSet { others.sort { ($0.member?.name ?? 0, $0.id) < ($1.member?.name ?? 0, $1.id) } }
  }
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(wrapper: \.others)] }
}

private struct SortedBond: EntityWrapper, Equatable {
  var id: Int { box.first?.id ?? -1 }
  var member: SortedMember? {
    get { box.first }
    set { box = newValue.map { [$0] } ?? [] }
  }
  // A struct cannot contain itself but through something that allocates.
  private var box: [SortedMember]

  init(_ member: SortedMember) { box = [member] }

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>] { [.init(parent.appending(path: \.member))] }
}

/// What the members are bound by, as a function of the members themselves.
private let shapes: [@Sendable ([Member]) -> [Bond]] = [
  { [.pair($0[0], $0[1]), .list([$0[0]])] },
  { [.pair($0[1], $0[2]), .pair($0[2], $0[0]), .pair($0[0], $0[1])] },
  { [.list($0), .none, .list($0.reversed())] },
  { [.maybe($0[0]), .maybe(nil), .maybe($0[2]), .pair($0[1], $0[1])] },
  { [.both(.pair($0[0], $0[1]), .list([$0[2]])), .list($0)] },
  { [.both(.both(.maybe($0[1]), .none), .pair($0[2], $0[2])), .pair($0[0], $0[2])] },
]

@Suite("Wrappers in cycles")
struct WrapperCycleTests {
  private let store = EntityStore(delivery: .immediate)

  /// Three members bound to each other, and to themselves.
  private func build(_ shape: Int) -> [EntityObserver<Member>] {
    let members = (0..<3).map { store.store(Member(id: $0, name: $0, tag: Tag(id: $0, text: 0))) }
    for id in 0..<3 {
      // As they are by now: without their bonds they would say that they have none.
      let current = members.map(\.value)
      store.update(Member.self, id: id) {
        $0.bonds = shapes[shape](current)
        $0.single = shapes[(shape + 1) % shapes.count](current)[0]
      }
    }
    return members
  }

  private func expectNames(_ names: [Int], _ members: [EntityObserver<Member>]) {
    for member in members {
      let value = member.value
      #expect(value.name == names[value.id])
      for inner in value.bonds.flatMap(\.members) + value.single.members { #expect(inner.name == names[inner.id]) }
    }
  }

  @Test("Reading shows everybody's own fields at every place", arguments: shapes.indices)
  func read(shape: Int) {
    let members = build(shape)
    expectNames([0, 1, 2], members)
    for id in [1, 0, 2, 1] {
      store.update(Member.self, id: id) { $0.name += 10 }
      store.update(Tag.self, id: id) { $0.text += 1 }
    }
    expectNames([10, 21, 12], members)
    #expect(members.map { $0.value.tag?.text } == [1, 2, 1])
    #expect(store._checkInvariants() == [])
  }

  @Test("Those who stand inside are brief", arguments: shapes.indices)
  func brief(shape: Int) {
    for member in build(shape) {
      for inner in member.value.bonds.flatMap(\.members) + member.value.single.members {
        #expect(inner.name == inner.id && inner.tag == Tag(id: inner.id, text: 0))
        #expect(inner.bonds.isEmpty && inner.single.members.isEmpty)
      }
    }
  }

  @Test("Removing one takes out that one", arguments: shapes.indices, 0..<3)
  func removed(shape: Int, id: Int) {
    let members = build(shape)
    store.remove(Member.self, id: id)
    #expect(store.find(Member.self, id: id) == nil)
    for member in members where member.value.id != id {
      let value = member.value
      #expect(!(value.bonds.flatMap(\.members) + value.single.members).contains { $0.id == id })
      // Of a pair that lost one, the other goes too; everybody else stays.
      let flat = (0..<3).map { Member(id: $0) }
      let expected = shapes[shape](flat).map { bond -> [Int] in without(id, bond).members.map(\.id) }
      #expect(value.bonds.map { $0.members.map(\.id) } == expected)
    }
    #expect(store._checkInvariants() == [])
    store.update(Member.self, id: (id + 1) % 3) { $0.name = 50 }
    var names = [0, 1, 2]
    names[(id + 1) % 3] = 50
    expectNames(names, members.filter { $0.value.id != id })
    #expect(store._checkInvariants() == [])
  }

  private func without(_ id: Int, _ bond: Bond) -> Bond {
    switch bond {
    case .pair(let first, let second): first.id == id || second.id == id ? .none : bond
    case .list(let list): .list(list.filter { $0.id != id })
    case .maybe(let member): .maybe(member.flatMap { $0.id == id ? nil : $0 })
    case .both(let first, let second): .both(without(id, first), without(id, second))
    case .label, .none: bond
    }
  }

  @Test("Storing what was read changes nothing", arguments: shapes.indices)
  func storedAgain(shape: Int) {
    let members = build(shape)
    let before = members.map(\.value)
    for member in members { store.store(member.value) }
    #expect(members.map(\.value) == before)
    #expect(store._checkInvariants() == [])
  }

  @Test("A cycle opens and closes as cases change", arguments: shapes.indices)
  func opened(shape: Int) {
    let members = build(shape)
    for id in 0..<3 {
      store.update(Member.self, id: id) {
        $0.bonds = [.label(Tag(id: 9, text: 9))]
        $0.single = .none
      }
    }
    #expect(members.map(\.value.bonds) == Array(repeating: [.label(Tag(id: 9, text: 9))], count: 3))
    store.update(Member.self, id: 0) { $0.bonds = [.list([members[1].value])] }
    #expect(members[0].value.bonds.first?.members.first?.bonds == [.label(Tag(id: 9, text: 9))])
    store.update(Member.self, id: 1) { $0.bonds = [.pair(members[0].value, members[2].value)] }
    #expect(members[0].value.bonds.first?.members.first?.bonds == [])
    store.update(Member.self, id: 1) { $0.bonds = [] }
    #expect(members[0].value.bonds.first?.members.map(\.id) == [1])
    #expect(store._checkInvariants() == [])
  }

  @Test("Wrappers kept sorted by a didSet, of members of the cycle")
  func sorted() {
    let members = (0..<4).map { store.store(SortedMember(id: $0, name: $0)) }
    for id in 0..<4 {
      let others = members.map(\.value).filter { $0.id != id }
      store.update(SortedMember.self, id: id) { $0.others = others.map(SortedBond.init) }
    }
    var names = [0, 1, 2, 3]
    for (step, id) in [0, 3, 1, 2, 0, 1].enumerated() {
      names[id] = step % 2 == 0 ? 20 - step : step - 20
      store.update(SortedMember.self, id: id) { $0.name = names[id] }
      for member in members {
        let value = member.value
        let ids = (0..<4).filter { $0 != value.id }.sorted { (names[$0], $0) < (names[$1], $1) }
        #expect(value.name == names[value.id])
        #expect(value.others.map(\.id) == ids)
        #expect(value.others.map { $0.member?.name } == ids.map { names[$0] })
      }
    }
    store.remove(SortedMember.self, id: 2)
    for member in members where member.value.id != 2 {
      #expect(Set(member.value.others.compactMap(\.member?.id)) == Set([0, 1, 3]).subtracting([member.value.id]))
    }
    #expect(store._checkInvariants() == [])
  }
}
