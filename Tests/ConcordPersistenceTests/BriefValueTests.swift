import Concord
import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

/// A brief value, which leaves relations of its cycle out, says nothing of them: wherever it is given, they stay as they are.
@Suite("Brief values that are given back")
struct BriefValueTests {
  /// The context that changes.
  enum Place: CaseIterable { case background, view, aboveView }

  struct Case: CustomTestStringConvertible, Sendable {
    let kind: StoreKind
    let strategy: StrategyKind
    let place: Place

    var testDescription: String { "\(kind), \(strategy), \(place)" }

    static let all = StoreKind.combinationsOfManySteps.flatMap { kind, strategy in
      Place.allCases.map { Case(kind: kind, strategy: strategy, place: $0) }
    }
  }

  /// A context, or the view, as what both can do.
  struct World {
    let container: any PersistentContainer
    let context: BackgroundContext
    let isView: Bool

    func find<T: PersistentEntity>(_ type: T.Type, _ id: T.ID) throws -> T {
      try #require(isView ? try container.viewContext.find(type, id: id)?.value : try context.find(type, id: id))
    }
    func update<T: PersistentEntity>(_ type: T.Type, _ id: T.ID, _ body: (inout T) throws -> Void) throws -> Bool {
      try isView ? container.viewContext.update(type, id: id, body) : context.update(type, id: id, body)
    }
    /// Changes an entity, which must not be refused.
    func change<T: PersistentEntity>(_ type: T.Type, _ id: T.ID, _ body: (inout T) throws -> Void) throws {
      let isTaken = try update(type, id, body)
      #expect(isTaken)
    }
    func insert<T: PersistentEntity>(_ value: T) {
      isView ? container.viewContext.insert(value) : context.insert(value)
    }
    func save() async throws {
      if !isView { try context.save() }
      try container.viewContext.save()
      try await container.flush()
      container.persistentStoreCoordinator.settle()
    }
  }

  private func withWorld(_ test: Case, _ body: (World) async throws -> Void) async throws {
    try await test.strategy.withContainer(
      test.kind,
      model: Model(
        "Brief", entities: [Person.self, Team.self, Station.self, Spouse.self])
    ) { container in
      let context =
        test.place == .aboveView
        ? BackgroundContext(parent: container.viewContext) : container.newBackgroundContext()
      try await body(World(container: container, context: context, isView: test.place == .view))
    }
  }

  /// 1 and 4 know 3; 2 and 3 know each other, so that each is brief inside of the other.
  private func withPeople(_ test: Case, _ body: (World) throws -> Void) async throws {
    try await withWorld(test) { world in
      for id in 1...4 { world.insert(Person(id: id, name: "base")) }
      for (id, friend) in [(2, 3), (3, 2), (1, 3)] {
        let friend = try world.find(Person.self, friend)
        try world.change(Person.self, id) { $0.friends = [friend] }
      }
      try await world.save()
      try body(world)
      try await world.save()
      for (id, friends) in [(1, [3]), (2, [3]), (3, [2]), (4, [])] {
        #expect(try world.container.stored(Person.self, id: id)?.friends.map(\.id) == friends, "\(id)")
      }
    }
  }

  @Test("Friends that come brief keep their friends, also where they stood whole", arguments: Case.all)
  func assigned(_ test: Case) async throws {
    try await withPeople(test) { world in
      let second = try world.find(Person.self, 2)
      #expect(second.friends.map(\.id) == [3] && second.friends[0].friends.isEmpty)
      try world.change(Person.self, 1) {
        #expect($0.friends[0].friends.map(\.id) == [2])
        $0.friends = second.friends
      }
    }
  }

  @Test("A brief value that is inserted, or put in the place of the whole one, keeps its friends", arguments: Case.all)
  func whole(_ test: Case) async throws {
    try await withPeople(test) { world in
      var third = try world.find(Person.self, 2).friends[0]
      third.name = "inserted"
      world.insert(third)
      #expect(try world.find(Person.self, 3).name == "inserted")
      #expect(try world.find(Person.self, 3).friends.map(\.id) == [2])
      third.name = "updated"
      try world.change(Person.self, 3) { $0 = third }
      #expect(try world.find(Person.self, 3).name == "updated")
      // What was not shown is no value for others either.
      let hidden = third.friends
      try world.change(Person.self, 1) { $0.friends = hidden }
    }
  }

  @Test("A merge of brief values keeps their friends", arguments: Case.all.filter { $0.place != .view })
  func merged(_ test: Case) async throws {
    try await withPeople(test) { world in
      var third = try world.find(Person.self, 2).friends[0]
      for (name, columns) in [("by id", [StoredColumn.key]), ("by name", [.position(1)])] {
        if columns == [.key] { third.name = name }
        third.team = Team(id: columns == [.key] ? 1 : 2, name: name)
        let request = MergeRequest(
          objects: [third], uniqueness: columns, ignored: [], subset: nil, condition: nil, keepsMissing: true,
          stamp: nil)
        _ = try world.context.merge(request)
        let stored = try world.find(Person.self, 3)
        #expect(stored.name == "by id" && stored.team?.name == name && stored.friends.map(\.id) == [2])
      }
    }
  }

  @Test("What is emptied by hand is empty", arguments: Case.all)
  func emptied(_ test: Case) async throws {
    try await withWorld(test) { world in
      world.insert(
        Person(id: 1, name: "base", friends: [Person(id: 2, name: "base", friends: [Person(id: 3, name: "base")])]))
      try await world.save()
      try world.change(Person.self, 1) { $0.friends[0].friends.removeAll() }
      #expect(try world.find(Person.self, 2).friends.isEmpty)
      world.insert(Person(id: 1, name: "base"))
      #expect(try world.find(Person.self, 1).friends.isEmpty)
      try await world.save()
      #expect(try world.container.stored(Person.self, id: 2)?.friends == [])
    }
  }

  @Test("Wrappers that are left out stay", arguments: Case.all)
  func wrappers(_ test: Case) async throws {
    try await withWorld(test) { world in
      for id in 1...3 { world.insert(Station(id: id, name: "base")) }
      for (id, other) in [(2, 3), (3, 2), (1, 3)] {
        let other = try world.find(Station.self, other)
        try world.change(Station.self, id) {
          $0.links = [.to(other), .end]
          $0.main = [.to(other)]
        }
      }
      try await world.save()
      let second = try world.find(Station.self, 2)
      try world.change(Station.self, 1) {
        #expect($0.links[0].to?.links.count == 2 && $0.main?[0].to?.main?.count == 1)
        ($0.links, $0.main) = (second.links, second.main)
      }
      if let third = second.links[0].to { world.insert(third) }
      try await world.save()
      let stored = try #require(try world.container.stored(Station.self, id: 3))
      #expect(stored.links.map { $0.to?.id } == [2, nil] && stored.main?.map { $0.to?.id } == [2])
    }
  }

  @Test("An absence that may come from a brief value, or from the closure, is refused", arguments: Case.all)
  func undecidable(_ test: Case) async throws {
    try await withWorld(test) { world in
      for id in 1...4 { world.insert(Spouse(id: id, name: "base")) }
      for (id, partner) in [(2, 3), (3, 2), (1, 3), (4, 1)] {
        let partner = try world.find(Spouse.self, partner)
        try world.change(Spouse.self, id) { $0.partner = partner }
      }
      try await world.save()
      let second = try world.find(Spouse.self, 2)
      #expect(second.partner?.id == 3 && second.partner?.partner == nil)
      let isTaken = try world.update(Spouse.self, 1) {
        #expect($0.partner?.partner?.id == 2)
        $0.name = "edited"
        $0.partner = second.partner
      }
      #expect(!isTaken)
      #expect(try world.find(Spouse.self, 1).name == "base")
      // In no cycle nothing is left out, so that it was the closure.
      try world.change(Spouse.self, 4) { $0.partner?.partner = nil }
      #expect(try world.find(Spouse.self, 1).partner == nil)
      // Nor is anything left out of the entity itself.
      try world.change(Spouse.self, 3) { $0.partner = nil }
      try await world.save()
      #expect(try world.container.stored(Spouse.self, id: 1)?.partner == nil)
      #expect(try world.container.stored(Spouse.self, id: 2)?.partner?.id == 3)
      #expect(try world.container.stored(Spouse.self, id: 3)?.partner == nil)
    }
  }

  // MARK: At random

  @Test("Whatever values are given back, brief or whole, only what was said changes", arguments: Case.all)
  func random(_ test: Case) async throws {
    for seed in TestOptions.seeds(TestOptions.steps.map { $0 / 1_000 } ?? 2) {
      try await withWorld(test) { try await run($0, test, seed: seed) }
    }
  }

  private struct Naive: Equatable {
    var name = "base"
    var friends: [Int] = []
  }

  private func run(_ world: World, _ test: Case, seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    var log: [String] = []
    var naive = Dictionary(uniqueKeysWithValues: (1...5).map { ($0, Naive()) })
    for id in naive.keys { world.insert(Person(id: id, name: "base")) }

    /// A value that a context shows, or one inside of it.
    func shown() throws -> Person {
      var value = try world.find(Person.self, random.pick(Array(1...5)))
      var path = "\(value.id)"
      while !value.friends.isEmpty, Bool.random(using: &random) {
        value = random.pick(value.friends)
        path += ".\(value.id)"
      }
      log.append("of \(path), with \(value.friends.map(\.id)):")
      return value
    }
    /// The friends of a value that is given for an entity: they stay where the value leaves them out.
    func friends(of value: Person, given id: Int) -> [Int] {
      let isLeftOut = value.friends.isEmpty && naive[value.id]?.friends != []
      return isLeftOut ? naive[id]?.friends ?? [] : value.friends.map(\.id)
    }

    for step in 0..<30 {
      let id = Int.random(in: 1...5, using: &random)
      var value = try shown()
      switch Int.random(in: 0..<8, using: &random) {
      case 0, 1:
        log.append("\(step): friends of \(id)")
        _ = try world.update(Person.self, id) { $0.friends = value.friends }
        let given = friends(of: value, given: id)
        naive[id]?.friends = given
      case 2, 3, 4:
        log.append("\(step): the friend of \(id)")
        var list = [value]
        let other = try shown()
        if other.id != value.id { list.append(other) }
        _ = try world.update(Person.self, id) { $0.friends = list }
        naive[id]?.friends = list.map(\.id)
      case 5:
        log.append("\(step): in its own place")
        _ = try world.update(Person.self, value.id) { $0 = value }
      case 6:
        log.append("\(step): renamed, inserted")
        value.name = random.pick(["a", "b"])
        naive[value.id]?.name = value.name
        world.insert(value)
      default:
        log.append("\(step): \(id) emptied, saved")
        _ = try world.update(Person.self, id) { $0.friends = [] }
        naive[id]?.friends = []
        try await world.save()
      }
      for (id, expected) in naive {
        let found = try world.find(Person.self, id)
        if Naive(name: found.name, friends: found.friends.map(\.id)) != expected {
          Issue.record(
            "CONCORD_RANDOM_SEED=\(seed), \(test.testDescription): \(id) is \(found), not \(expected)\n\(log.joined(separator: "\n"))"
          )
          return
        }
      }
    }
    try await world.save()
    for (id, expected) in naive {
      let found = try world.container.stored(Person.self, id: id)
      #expect(
        found.map { Naive(name: $0.name, friends: $0.friends.map(\.id)) } == expected, "CONCORD_RANDOM_SEED=\(seed)")
    }
  }
}

/// An entity with one other of its kind, which may be absent.
struct Spouse: PersistentEntity, Aggregate, Equatable {
  let id: Int
  var name: String
  private var partners: [Spouse] = []

  var partner: Spouse? {
    get { partners.first }
    set { partners = newValue.map { [$0] } ?? [] }
  }

  static let persistentProperties: [PersistentProperty<Spouse>] = [
    .init("id", \.id), .init("name", \.name), .init("partner", \.partner),
  ]
  init(from row: inout RowReader) throws {
    self.init(id: try row.read(), name: try row.read())
    partner = try row.read()
  }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(name)
    try row.write(partner)
  }

  init(id: Int, name: String) {
    self.id = id
    self.name = name
  }
}
