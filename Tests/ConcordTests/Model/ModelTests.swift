import Testing

/// The model is what the store is judged by, so it is itself held to examples worked out by hand from the design.
@Suite("The model")
struct ModelTests {
  private static func person(
    _ id: Int, _ name: Int = 0, friends: [Tree] = [], partner: Tree? = nil, tag: Tree? = nil, team: Tree? = nil
  ) -> Tree {
    func one(_ tree: Tree?) -> Relation<Tree> {
      tree.map { Relation(slots: [Slot(child: $0)]) } ?? Relation(isNil: true)
    }
    return Tree(
      ref: Ref(.person, id), own: [name],
      relations: [
        Relation(slots: friends.map { Slot(child: $0) }), one(partner), one(tag), one(team), Relation(slots: [Slot()]),
      ])
  }

  private static func tag(_ id: Int, _ text: Int = 0) -> Tree { Tree(ref: Ref(.tag, id), own: [text]) }

  private static func team(_ id: Int, lead: Tree) -> Tree {
    Tree(
      ref: Ref(.team, id), own: [0],
      relations: [Relation(slots: [Slot(child: lead)]), Relation(isNil: true)])
  }

  private static func model() -> Model { Model(unstampedWritesWin: false) }

  @Test("Two friends: each is full once, and far where it comes again")
  func twoFriends() {
    var model = Self.model()
    model.store([Self.person(0, 1, friends: [Self.person(1, 2)])], handle: 0)
    model.store([Self.person(1, 3, friends: [Self.person(0, 4, friends: [Self.person(1, 5)])])])
    // 0 shows 1 in full, 1 shows 0 without friends.
    let far = Self.person(0, 4)
    #expect(model.read(Ref(.person, 0)) == Self.person(0, 4, friends: [Self.person(1, 3, friends: [far])]))
  }

  @Test("A friend of herself shows herself without friends")
  func selfCycle() {
    var model = Self.model()
    model.store([Self.person(0, 1, friends: [Self.person(0, 9)])], handle: 0)
    #expect(model.read(Ref(.person, 0)) == Self.person(0, 1, friends: [Self.person(0, 1)]))
  }

  @Test("The last of equally near occurrences is the full one")
  func tie() {
    var model = Self.model()
    let inner = Self.person(1, 0, friends: [Self.person(0)])
    model.store([Self.person(0, 0, friends: [inner, inner])], handle: 0)
    let full = Self.person(1, 0, friends: [Self.person(0)])
    #expect(model.read(Ref(.person, 0)) == Self.person(0, 0, friends: [Self.person(1), full]))
  }

  @Test("A required relation into the cycle is shown, in its far form")
  func requiredInCycle() {
    var model = Self.model()
    // 0 is in a team that she leads herself, and has a friend in it.
    let team = Self.team(0, lead: Self.person(0))
    model.store([Self.person(0, 0, friends: [Self.person(1, 0, team: team)], team: team)], handle: 0)
    // Nearest: 0 at the top, 1 and the team below it. The team under 1 is far, and must show its lead.
    let farTeam = Self.team(0, lead: Self.person(0))
    let expected = Self.person(
      0, 0, friends: [Self.person(1, 0, team: farTeam)], team: Self.team(0, lead: Self.person(0)))
    #expect(model.read(Ref(.person, 0)) == expected)
  }

  @Test("Out of a cycle all is shown everywhere")
  func outOfCycle() {
    var model = Self.model()
    let tagged = Self.person(0, 0, tag: Self.tag(0, 5))
    model.store([Self.person(1, 0, friends: [tagged, tagged])], handle: 0)
    #expect(model.read(Ref(.person, 1)) == Self.person(1, 0, friends: [tagged, tagged]))
    // In a cycle, what leads out of it stays.
    model.store([Self.person(0, 0, friends: [Self.person(1, 0, friends: [Self.person(0)])], tag: Self.tag(0, 5))])
    let far = Self.person(0, 0, tag: Self.tag(0, 5))
    #expect(
      model.read(Ref(.person, 1))
        == Self.person(1, 0, friends: [Self.person(0, 0, friends: [Self.person(1)], tag: Self.tag(0, 5))]))
    #expect(far.relations[2] == model.read(Ref(.person, 0))?.relations[2])
  }

  @Test("The outermost value wins, among equals the last")
  func conflict() {
    var model = Self.model()
    model.store(
      [Self.person(0, 0, friends: [Self.person(1, 1, tag: Self.tag(0, 7)), Self.person(1, 2)], tag: Self.tag(0, 8))],
      handle: 0)
    let expected = Self.person(0, 0, friends: [Self.person(1, 2), Self.person(1, 2)], tag: Self.tag(0, 8))
    #expect(model.read(Ref(.person, 0)) == expected)
    #expect(model.contains(Ref(.tag, 0)))
  }

  @Test("A stale aggregate changes nothing of its own, but may carry something fresh")
  func stale() {
    var model = Self.model()
    model.store([Self.tag(0, 1)], stamp: 5, handle: 1)
    model.store([Self.person(0, 1, tag: Self.tag(0, 2))], stamp: 3, handle: 0)
    #expect(model.read(Ref(.person, 0)) == Self.person(0, 1, tag: Self.tag(0, 1)))
    model.store([Self.person(0, 2, tag: Self.tag(1, 2))], stamp: 3)
    #expect(model.read(Ref(.person, 0)) == Self.person(0, 1, tag: Self.tag(0, 1)))
    model.store([Self.person(0, 9, friends: [Self.person(1)], tag: Self.tag(0, 3))], stamp: 3)
    #expect(model.read(Ref(.tag, 0)) == Self.tag(0, 1))
    #expect(!model.contains(Ref(.person, 1)))
  }

  @Test("Without a stamp the clock decides, and a stamp ahead of it stays ahead")
  func clock() {
    var model = Self.model()
    model.store([Self.tag(0, 1)], stamp: 1e12, handle: 0)
    model.store([Self.tag(0, 2)])
    #expect(model.read(Ref(.tag, 0)) == Self.tag(0, 1))
    let outcome1 = model.update(Ref(.tag, 0), stamp: nil, edits: [.own(occurrence: 0, value: 3)])
    #expect(outcome1 == .taken(false))
    var other = Model(unstampedWritesWin: true)
    other.store([Self.tag(0, 1)], stamp: 1e12, handle: 0)
    other.store([Self.tag(0, 2)])
    #expect(other.read(Ref(.tag, 0)) == Self.tag(0, 2))
    other.store([Self.tag(0, 3)], stamp: 1e11)
    #expect(other.read(Ref(.tag, 0)) == Self.tag(0, 2))
  }

  @Test("An edit in a far form changes the entity's own fields, and keeps what was left out")
  func farEdit() {
    var model = Self.model()
    model.store([Self.person(0, 0, friends: [Self.person(1, 0, friends: [Self.person(0)])])], handle: 0)
    // Occurrences: 0, 1, 0 again.
    let outcome2 = model.update(Ref(.person, 0), stamp: nil, edits: [.own(occurrence: 2, value: 7)])
    #expect(outcome2 == .taken(true))
    let expected = Self.person(0, 7, friends: [Self.person(1, 0, friends: [Self.person(0, 7)])])
    #expect(model.read(Ref(.person, 0)) == expected)
  }

  @Test("Nobody keeps a cycle alive")
  func releasedCycle() {
    var model = Self.model()
    model.store([Self.person(0, 0, friends: [Self.person(1, 0, friends: [Self.person(0)])])], handle: 0)
    #expect(model.allRefs.count == 2)
    model.handles[0] = nil
    model.release()
    #expect(model.allRefs.isEmpty)
  }

  @Test("Removing takes out of lists and optionals, and removes parents that require it")
  func remove() {
    var model = Self.model()
    let team = Self.team(0, lead: Self.person(1))
    model.store([Self.person(0, 0, friends: [Self.person(1), Self.person(2)], team: team)], handle: 0)
    let outcome3 = model.remove(Ref(.person, 1))
    #expect(outcome3)
    #expect(model.read(Ref(.person, 0)) == Self.person(0, 0, friends: [Self.person(2)]))
    #expect(!model.contains(Ref(.team, 0)))
    let outcome4 = model.remove(Ref(.person, 1))
    #expect(!outcome4)
  }

  @Test("An observer is told when something below it changes, and not otherwise")
  func notices() {
    var model = Self.model()
    model.store([Self.person(0, 0, tag: Self.tag(0, 1))], handle: 0)
    let outcome5 = model.observe(0, as: 1, isPart: false)
    #expect(outcome5)
    model.notices = [:]
    model.store([Self.tag(0, 1)])
    #expect(model.notices.isEmpty)
    model.store([Self.tag(0, 2)])
    #expect(model.notices[1]?.map(\.acceptable) == [[.one(Self.person(0, 0, tag: Self.tag(0, 2)))]])
    model.notices = [:]
    let before = model
    model.begin()
    model.store([Self.tag(0, 3)])
    model.rollBack(to: before)
    #expect(model.notices.isEmpty)
    #expect(model.read(Ref(.tag, 0)) == Self.tag(0, 2))
  }

  @Test("An alias keeps its entity alive, and is re-pointed only by something newer")
  func alias() {
    var model = Self.model()
    let name = Model.AliasName(kind: .tag, isCollection: false, name: 0)
    model.store([Self.tag(0, 1)], named: name, stamp: 5)
    #expect(model.contains(Ref(.tag, 0)))
    model.store([Self.tag(1, 1)], named: name, stamp: 4)
    #expect(model.reading(.alias(name)) == .one(Self.tag(0, 1)))
    #expect(!model.contains(Ref(.tag, 1)))
    let outcome6 = model.update(named: name, stamp: 6, edits: [.id(1)])
    #expect(outcome6 == .taken(true))
    #expect(model.reading(.alias(name)) == .one(Self.tag(1, 1)))
    #expect(!model.contains(Ref(.tag, 0)))
  }
}
