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

  private static func team(_ id: Int, lead: Tree, mates: [Tree]? = nil) -> Tree {
    let mates = mates.map { Relation(slots: $0.map { Slot(child: $0) }) } ?? Relation(isNil: true)
    return Tree(ref: Ref(.team, id), own: [0], relations: [Relation(slots: [Slot(child: lead)]), mates])
  }

  private static func model() -> Model { Model(unstampedWritesWin: false) }

  /// Somebody shown without her friends, because some of them lead back to whom she stands in.
  private static func brief(_ id: Int, _ name: Int = 0, tag: Tree? = nil, team: Tree? = nil) -> Tree {
    var tree = person(id, name, tag: tag, team: team)
    tree.relations[0] = Relation(isOmitted: true)
    return tree
  }

  // MARK: - Reading

  @Test("Two friends: each is whole by itself, and brief in the other")
  func twoFriends() {
    var model = Self.model()
    model.store([Self.person(0, 1, friends: [Self.person(1, 2)])], handle: 0)
    model.store([Self.person(1, 3, friends: [Self.person(0, 4, friends: [Self.person(1, 5)])])])
    #expect(model.read(Ref(.person, 0)) == Self.person(0, 4, friends: [Self.brief(1, 3)]))
    #expect(model.read(Ref(.person, 1)) == Self.person(1, 3, friends: [Self.brief(0, 4)]))
  }

  @Test("A friend of herself shows herself without friends")
  func selfCycle() {
    var model = Self.model()
    model.store([Self.person(0, 1, friends: [Self.person(0, 9)])], handle: 0)
    #expect(model.read(Ref(.person, 0)) == Self.person(0, 1, friends: [Self.brief(0, 1)]))
  }

  @Test("A relation with one entity of the cycle is left out as a whole, one without is shown")
  func wholeRelation() {
    var model = Self.model()
    let second = Self.person(1, 0, friends: [Self.person(0), Self.person(2)], partner: Self.person(2))
    model.store([Self.person(0, 0, friends: [second])], handle: 0)
    var brief = Self.brief(1)
    brief.relations[1] = Relation(slots: [Slot(child: Self.person(2))])
    #expect(model.read(Ref(.person, 0)) == Self.person(0, 0, friends: [brief]))
    #expect(model.read(Ref(.person, 1))?.relations[0].slots.count == 2)
  }

  @Test("An optional is nil where it is left out, and an optional collection left out is not nil")
  func leftOutOptionals() {
    var model = Self.model()
    let team = Self.team(0, lead: Self.person(1), mates: [Self.person(0)])
    model.store([Self.person(0, 0, partner: Self.person(0), team: team)], handle: 0)
    var brief = Self.team(0, lead: Self.person(1))
    brief.relations[1] = Relation(isOmitted: true)
    #expect(model.read(Ref(.person, 0)) == Self.person(0, 0, partner: Self.person(0), team: brief))
  }

  @Test("A wrapper that can be emptied is empty where it is left out")
  func leftOutWrapper() {
    func seated(_ id: Int, _ name: Int, on other: Tree) -> Tree {
      var tree = Self.person(id, name)
      tree.relations[4] = Relation(slots: [Slot(key: 2, child: other)])
      return tree
    }
    var model = Self.model()
    model.store([seated(0, 0, on: seated(1, 1, on: Self.person(0)))], handle: 0)
    #expect(model.read(Ref(.person, 0)) == seated(0, 0, on: Self.person(1, 1)))
    model.store([seated(0, 0, on: Self.person(1, 2))])
    #expect(model.read(Ref(.person, 1)) == seated(1, 2, on: Self.person(0)))
    model.store([Self.person(1, 3)])
    #expect(model.read(Ref(.person, 1)) == Self.person(1, 3))
  }

  @Test("A required relation into the cycle is shown, brief")
  func requiredInCycle() {
    var model = Self.model()
    // 0 is in a team that she leads herself, and has a friend in it.
    let team = Self.team(0, lead: Self.person(0))
    model.store([Self.person(0, 0, friends: [Self.person(1, 0, team: team)], team: team)], handle: 0)
    let shown = Self.team(0, lead: Self.brief(0))
    #expect(model.read(Ref(.person, 0)) == Self.person(0, 0, friends: [Self.person(1)], team: shown))
    #expect(model.read(Ref(.person, 1)) == Self.person(1, 0, team: shown))
  }

  @Test("Out of a cycle all is shown everywhere")
  func outOfCycle() {
    var model = Self.model()
    let tagged = Self.person(0, 0, tag: Self.tag(0, 5))
    model.store([Self.person(1, 0, friends: [tagged, tagged])], handle: 0)
    #expect(model.read(Ref(.person, 1)) == Self.person(1, 0, friends: [tagged, tagged]))
    // In a cycle, what leads out of it stays.
    model.store([Self.person(0, 0, friends: [Self.person(1, 0, friends: [Self.person(0)])], tag: Self.tag(0, 5))])
    #expect(model.read(Ref(.person, 1)) == Self.person(1, 0, friends: [Self.brief(0, 0, tag: Self.tag(0, 5))]))
  }

  @Test("Above a cycle those in it are whole")
  func aboveCycle() {
    var model = Self.model()
    let lead = Self.person(0, 0, friends: [Self.person(1, 0, friends: [Self.person(0)])])
    model.store([Self.team(0, lead: lead)], handle: 0)
    #expect(model.read(Ref(.team, 0)) == Self.team(0, lead: Self.person(0, 0, friends: [Self.brief(1)])))
  }

  // MARK: - Coming back

  @Test("Somebody taken out of a friend, changed and stored keeps her friends")
  func storedBack() {
    var model = Self.model()
    model.store([Self.person(0, 0, friends: [Self.person(1, 0, friends: [Self.person(0)])])], handle: 0)
    model.store([Self.brief(1, 7)])
    #expect(model.read(Ref(.person, 0)) == Self.person(0, 0, friends: [Self.brief(1, 7)]))
    model.store([Self.person(1, 8)])
    #expect(model.read(Ref(.person, 0)) == Self.person(0, 0, friends: [Self.person(1, 8)]))
    model.store([Self.brief(2, 1)], handle: 1)
    #expect(model.read(Ref(.person, 2)) == Self.person(2, 1))
  }

  @Test("Nil stands for what was left out directly inside of the cycle, and is nil elsewhere")
  func nilInside() {
    var model = Self.model()
    let second = Self.person(1, 0, friends: [Self.person(0)], partner: Self.person(0), tag: Self.tag(0))
    model.store([Self.person(0, 0, friends: [second])], handle: 0)
    model.store([Self.person(0, 0, friends: [Self.brief(1, 1, tag: Self.tag(0))])])
    #expect(model.read(Ref(.person, 1))?.relations[1].isNil == false)
    // What leads out of the cycle is shown, and can be taken away.
    model.store([Self.person(0, 0, friends: [Self.brief(1, 1)])])
    #expect(model.read(Ref(.person, 1))?.relations[1].isNil == false)
    #expect(model.read(Ref(.person, 1))?.relations[2].isNil == true)
    model.store([Self.team(0, lead: Self.brief(1, 1))], handle: 1)
    #expect(model.read(Ref(.person, 1))?.relations[1].isNil == true)
  }

  // MARK: - Updating

  @Test("An edit of a brief form changes own fields, and what it does not show stays")
  func briefEdit() {
    var model = Self.model()
    model.store([Self.person(0, 0, friends: [Self.person(1, 0, friends: [Self.person(0)])])], handle: 0)
    // Occurrences: 0, 1.
    let refused = Edit.relation(occurrence: 1, of: .person, place: 0, Relation(slots: [Slot(child: Self.person(2))]))
    let outcome = model.update(Ref(.person, 0), stamp: nil, edits: [.own(occurrence: 1, value: 7), refused])
    #expect(outcome == .taken(true))
    #expect(model.read(Ref(.person, 1)) == Self.person(1, 7, friends: [Self.brief(0)]))
    #expect(!model.contains(Ref(.person, 2)))
  }

  @Test("What moved as it was is not written, in its whole form or its brief one")
  func moved() {
    let model = Self.model()
    let second = Self.person(1, 0, friends: [Self.person(0)])
    for form in [Self.brief(1), Self.person(1, 0, friends: [Self.brief(0)])] {
      var copy = model
      copy.store([Self.person(0, 0, friends: [second])], stamp: 1, handle: 0)
      let moved = Edit.relation(occurrence: 0, of: .person, place: 1, Relation(slots: [Slot(child: form)]))
      let outcome = copy.update(Ref(.person, 0), stamp: 2, edits: [moved])
      #expect(outcome == .taken(true))
      #expect(copy.state.records[Ref(.person, 1).index]?.stamp == 1)
    }
  }

  @Test(
    "Storing what was read changes nothing, neither does an update that does nothing",
    arguments: 0..<(TestOptions.isLong ? 12 : 3))
  func readAndStored(_ seed: UInt64) {
    func contents(_ model: Model) -> [Tree] { model.allRefs.compactMap(model.read) }
    var generator = OperationGenerator(seed: seed, makesCycles: true)
    var model = Model(unstampedWritesWin: true)
    for _ in 0..<60 {
      if case .store(let tree, _, let stamp, let edits, let handle) = generator.next(model) {
        model.store([tree], stamp: stamp, edits: edits, handle: handle)
      }
      for ref in model.allRefs {
        guard let tree = model.read(ref) else { continue }
        var copy = model
        copy.store([tree])
        #expect(contents(copy) == contents(model), "\(tree)")
        copy = model
        _ = copy.update(ref, stamp: nil, edits: [])
        #expect(contents(copy) == contents(model), "\(tree)")
        // A brief form by itself lacks optionals only.
        guard let brief = model.brief(ref) else { continue }
        copy = model
        copy.store([brief], handle: 1_000)
        #expect(copy.read(ref)?.own == tree.own)
        for place in tree.activePlaces where tree.ref.kind.relationKinds[place].brief?.isOmitted == true {
          #expect(copy.read(ref)?.relations[place].refs == tree.relations[place].refs, "\(tree)")
        }
      }
    }
  }

  // MARK: - As before

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

  @Test("Without a stamp a write is newer than what is stored, and a stamp ahead of the clock stays ahead")
  func clock() {
    var model = Self.model()
    model.store([Self.tag(0, 1)], stamp: 1e12, handle: 0)
    model.store([Self.tag(0, 2)])
    #expect(model.read(Ref(.tag, 0)) == Self.tag(0, 2))
    let outcome1 = model.update(Ref(.tag, 0), stamp: nil, edits: [.own(occurrence: 0, value: 3)])
    #expect(outcome1 == .taken(true))
    model.store([Self.tag(0, 4)], stamp: 1e12)
    #expect(model.read(Ref(.tag, 0)) == Self.tag(0, 3))
    model.store([Self.tag(0, 5)], stamp: 1e12 + 1)
    #expect(model.read(Ref(.tag, 0)) == Self.tag(0, 5))
    var other = Model(unstampedWritesWin: true)
    other.store([Self.tag(0, 1)], stamp: 1e12, handle: 0)
    other.store([Self.tag(0, 2)])
    #expect(other.read(Ref(.tag, 0)) == Self.tag(0, 2))
    other.store([Self.tag(0, 3)], stamp: 1e11)
    #expect(other.read(Ref(.tag, 0)) == Self.tag(0, 2))
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
