import Concord
import Foundation
import Testing

@testable import ConcordPersistence

/// What undoing does in a collection that others have changed, too.
@Suite("Undo of elements")
struct UndoElementsTests {
  /// The verses of a hymn before a step, after it, after what others save, and after the step is undone.
  struct Verses: CustomTestStringConvertible {
    let before, step, others, undone: [Int]
    var reasons: [UndoConflict.Reason] = []
    var testDescription: String { "\(before), \(step), \(others)" }
  }

  static let verses: [Verses] = [
    // Behind the nearest of those that stood before it.
    Verses(before: [1, 2, 3, 4], step: [1, 2, 3], others: [1, 2, 3, 9], undone: [1, 2, 3, 4, 9]),
    Verses(before: [1, 2, 3, 4], step: [1, 2, 4], others: [1, 2, 4, 9], undone: [1, 2, 3, 4, 9]),
    Verses(before: [1, 2, 3], step: [1, 3], others: [3, 9, 1], undone: [3, 9, 1, 2]),
    // Others have taken that one out.
    Verses(before: [1, 2, 3, 4], step: [1, 2, 4], others: [1, 4, 9], undone: [1, 3, 4, 9]),
    // None did.
    Verses(before: [1, 2, 3], step: [2, 3], others: [2, 3, 9], undone: [1, 2, 3, 9]),
    Verses(before: [1, 2, 3], step: [3], others: [9, 3], undone: [1, 2, 9, 3]),
    // Behind one that is put back itself.
    Verses(before: [1, 2, 3, 4], step: [1, 4], others: [1, 9, 4], undone: [1, 2, 3, 9, 4]),
    // Others have put one back.
    Verses(before: [1, 2, 3], step: [1], others: [1, 3], undone: [1, 2, 3]),
    // What the step has added goes, wherever it stands.
    Verses(before: [1, 2], step: [1, 5, 2, 6], others: [6, 1, 9, 5, 2], undone: [1, 9, 2]),
    // The order of those that both have is as before, in the places that they have now.
    Verses(before: [1, 2, 3], step: [3, 1, 2], others: [3, 1, 2, 9], undone: [1, 2, 3, 9]),
    Verses(before: [1, 2, 3], step: [3, 1, 2], others: [3, 9, 1, 2], undone: [1, 9, 2, 3]),
    Verses(before: [1, 2, 3], step: [3, 1], others: [3, 9, 1], undone: [1, 2, 9, 3]),
    Verses(before: [1, 2, 3, 4], step: [4, 3, 2, 1], others: [9, 4, 2, 1], undone: [9, 1, 2, 4]),
    // It stays as others have made it since.
    Verses(before: [1, 2, 3], step: [3, 1, 2], others: [2, 3, 1], undone: [2, 3, 1], reasons: [.changedSince]),
    Verses(
      before: [1, 2, 3, 4], step: [3, 1, 2], others: [2, 3, 1], undone: [2, 3, 4, 1], reasons: [.changedSince]),
  ]

  private func verse(_ id: Int) -> Verse { Verse(id: id, text: "\(id)", number: 0) }

  private func with(_ kind: StoreKind, _ body: (any PersistentContainer, ContainerUndoManager) throws -> Void)
    async throws
  {
    try await StrategyKind.direct.withContainer(kind, model: hymnModel()) { container in
      try body(container, container.undoManager)
    }
  }

  private func others(_ container: any PersistentContainer, _ body: (BackgroundContext) throws -> Void) throws {
    let context = container.newBackgroundContext()
    try body(context)
    try context.save()
  }

  private func hymn(_ verses: [Int]) -> Hymn {
    var hymn = Hymn(id: 1)
    hymn.verses = verses.map(verse)
    return hymn
  }

  private func found(_ container: any PersistentContainer) throws -> [Int]? {
    try container.newBackgroundContext().find(Hymn.self, id: 1)?.verses.map(\.id)
  }

  /// Undoes a step, and returns what stays, whether something was undone or not.
  private func reasons(_ undo: ContainerUndoManager) throws -> [UndoConflict.Reason] {
    do { return try undo.undo().conflicts.map(\.reason) } catch UndoError.overtaken(_, let conflicts) {
      return conflicts.map(\.reason)
    }
  }

  @Test(
    "An element is put back beside its neighbour, and what others have done stays", arguments: StoreKind.allCases,
    verses)
  func neighbours(_ kind: StoreKind, _ verses: Verses) async throws {
    try await with(kind) { container, undo in
      for id in 1...9 { container.viewContext.insert(verse(id)) }
      container.viewContext.insert(hymn(verses.before))
      try container.viewContext.save()
      try undo.record("Edit") { $0.insert(hymn(verses.step)) }
      try others(container) { $0.insert(hymn(verses.others)) }
      #expect(try reasons(undo) == verses.reasons)
      #expect(try found(container) == verses.undone)
    }
  }

  @Test("Of several missing elements none is put back, and all others are", arguments: StoreKind.allCases)
  func missing(_ kind: StoreKind) async throws {
    try await with(kind) { container, undo in
      func begin(_ step: [Int]) throws {
        container.viewContext.insert(hymn([1, 2, 3, 4, 5]))
        try container.viewContext.save()
        try undo.record("Edit") { $0.insert(hymn(step)) }
        try others(container) { context in for id in [1, 3] { try context.delete(Verse.self, id: id) } }
      }
      try begin([5])
      #expect(try reasons(undo) == [.notStored])
      #expect(try found(container) == [2, 4, 5])
      // Also where others have changed the collection, too.
      try begin([5])
      try others(container) { $0.insert(hymn([5, 9])) }
      #expect(try reasons(undo) == [.changedSince])
      #expect(try found(container) == [2, 4, 5, 9])
    }
  }

  @Test("Missing entities are told for each property that had one", arguments: StoreKind.allCases)
  func missingInSeveral(_ kind: StoreKind) async throws {
    try await with(kind) { container, undo in
      var before = hymn([1, 2])
      (before.singer, before.title) = (Singer(id: "a", name: "A"), "before")
      container.viewContext.insert(before)
      try container.viewContext.save()
      try undo.record("Edit") { view in
        try view.update(Hymn.self, id: 1) { ($0.singer, $0.title, $0.verses) = (nil, "after", []) }
      }
      try others(container) { context in
        try context.delete(Singer.self, id: "a")
        for id in [1, 2] { try context.delete(Verse.self, id: id) }
      }
      let conflicts = try undo.undo().conflicts
      #expect(conflicts.map(\.property) == ["singer", "verses"] && conflicts.allSatisfy { $0.reason == .notStored })
      let found = try #require(try container.newBackgroundContext().find(Hymn.self, id: 1))
      #expect(found.title == "before" && found.singer == nil && found.verses.isEmpty)
    }
  }

  @Test("A key of a dictionary is not taken for the missing entity with that id", arguments: StoreKind.allCases)
  func keys(_ kind: StoreKind) async throws {
    try await StrategyKind.direct.withContainer(kind) { container in
      let undo = container.undoManager
      let (one, two, three) = (Person(id: 1, name: "1"), Person(id: 2, name: "2"), Person(id: 3, name: "3"))
      container.viewContext.insert(Team(id: 7, name: "", members: [1: two, 2: one, 3: three]))
      try container.viewContext.save()
      try undo.record("Empty") { view in
        try view.update(Team.self, id: 7) { $0.members = [:] }
      }
      try others(container) { try $0.delete(Person.self, id: 1) }
      #expect(try undo.undo().conflicts.map(\.reason) == [.notStored])
      let found = try container.newBackgroundContext().find(Team.self, id: 7)?.members
      #expect(found?.mapValues(\.id) == [1: 2, 3: 3])
      // An entity that stands under another key by now.
      try undo.record("Exchange") { view in
        try view.update(Team.self, id: 7) { $0.members = [1: three, 3: two, 5: three] }
      }
      try others(container) { context in try context.update(Team.self, id: 7) { $0.members[6] = two } }
      #expect(try undo.undo().conflicts.isEmpty)
      let again = try container.newBackgroundContext().find(Team.self, id: 7)?.members
      #expect(again?.mapValues(\.id) == [1: 2, 3: 3, 6: 2])
    }
  }

  @Test("What the step has put under a key stays where others have put something else", arguments: StoreKind.allCases)
  func replacedUnderKey(_ kind: StoreKind) async throws {
    try await StrategyKind.direct.withContainer(kind) { container in
      let undo = container.undoManager
      let people = (1...3).map { Person(id: $0, name: "") }
      for person in people { container.viewContext.insert(person) }
      container.viewContext.insert(Team(id: 7, name: ""))
      try container.viewContext.save()
      try undo.record("Fill") { view in
        try view.update(Team.self, id: 7) { $0.members = [1: people[0], 2: people[1]] }
      }
      try others(container) { context in try context.update(Team.self, id: 7) { $0.members[1] = people[2] } }
      #expect(try undo.undo().conflicts.map(\.reason) == [.changedSince])
      let members = try container.newBackgroundContext().find(Team.self, id: 7)?.members
      #expect(members?.mapValues(\.id) == [1: 3])
    }
  }

  @Test(
    "What others have taken from under a key stays away, and what they have put there instead stays",
    arguments: StoreKind.allCases)
  func changedUnderKey(_ kind: StoreKind) async throws {
    try await StrategyKind.direct.withContainer(kind) { container in
      let undo = container.undoManager
      let people = (1...4).map { Person(id: $0, name: "") }
      for person in people { container.viewContext.insert(person) }
      /// Lets a step give a team other members, and others give it others again, and undoes the step.
      func expect(_ before: [Int: Int], step: [Int: Int], others: [Int: Int], undone: [Int: Int], isDone: Bool) throws {
        func members(_ ids: [Int: Int]) -> [Int: Person] { ids.mapValues { people[$0 - 1] } }
        container.viewContext.insert(Team(id: 7, name: "", members: members(before)))
        try container.viewContext.save()
        try undo.record("Edit") { view in try view.update(Team.self, id: 7) { $0.members = members(step) } }
        try self.others(container) { context in
          try context.update(Team.self, id: 7) { $0.members = members(others) }
        }
        let count = undo.undoSteps.count
        do {
          #expect(try undo.undo().conflicts.map(\.reason) == [.changedSince])
          #expect(isDone && undo.status.canRedo)
        } catch UndoError.overtaken(_, let conflicts) {
          #expect(!isDone && conflicts.map(\.reason) == [.changedSince])
        }
        #expect(undo.undoSteps.count == count - 1)
        let found = try container.newBackgroundContext().find(Team.self, id: 7)?.members
        #expect(found?.mapValues(\.id) == undone)
      }
      try expect([1: 1], step: [1: 2], others: [:], undone: [:], isDone: false)
      try expect([1: 1], step: [:], others: [1: 3], undone: [1: 3], isDone: false)
      // Beside others that are taken back.
      try expect([1: 1, 2: 2], step: [1: 2, 2: 3], others: [2: 3], undone: [2: 2], isDone: true)
      try expect([1: 1, 2: 2], step: [:], others: [1: 3], undone: [1: 3, 2: 2], isDone: true)
    }
  }

  @Test("A key of a dictionary is the same in whichever form others have stored it", arguments: StoreKind.allCases)
  func formsOfKeys(_ kind: StoreKind) async throws {
    let model = try Model("Scales", entities: [Scale.self, Verse.self])
    try await StrategyKind.direct.withContainer(kind, model: model) { container in
      let undo = container.undoManager
      for id in 1...3 { container.viewContext.insert(verse(id)) }
      func check<Key: Hashable>(_ keyPath: WritableKeyPath<Scale, [Key: Verse]>, _ key: Key, _ other: Key) throws {
        /// Lets a step set verses, and others set others, and undoes the step.
        func expect(
          _ before: [Key: Int], step: [Key: Int], others: [Key: Int], undone: [Key: Int], isWhole: Bool
        ) throws {
          func scale(_ verses: [Key: Int]) -> Scale {
            var scale = Scale(id: 1)
            scale[keyPath: keyPath] = verses.mapValues(verse)
            return scale
          }
          container.viewContext.insert(scale(before))
          try container.viewContext.save()
          try undo.record("Edit") { $0.insert(scale(step)) }
          try self.others(container) { $0.insert(scale(others)) }
          #expect(try reasons(undo) == (isWhole ? [] : [.changedSince]), "\(keyPath), \(others)")
          let found = try container.newBackgroundContext().find(Scale.self, id: 1)?[keyPath: keyPath]
          #expect(found?.mapValues(\.id) == undone, "\(keyPath), \(others)")
        }
        try expect([key: 1], step: [:], others: [other: 2], undone: [key: 2], isWhole: false)
        try expect([key: 1], step: [key: 2], others: [other: 3], undone: [key: 3], isWhole: false)
        try expect([:], step: [key: 1], others: [other: 2], undone: [key: 2], isWhole: false)
        // They have put back what was there.
        try expect([key: 1], step: [:], others: [other: 1], undone: [key: 1], isWhole: true)
      }
      try check(\.names, "\u{E9}", "e\u{301}")
      try check(\.weights, 0.0, -0.0)
      try check(\.tones, Tone(name: "\u{E9}"), Tone(name: "e\u{301}"))
    }
  }

  @Test(
    "An array of wrappers, which nothing tells apart, stays as others have changed it", arguments: StoreKind.allCases)
  func wrappers(_ kind: StoreKind) async throws {
    try await StrategyKind.direct.withContainer(kind) { container in
      let undo = container.undoManager
      func extras(_ notes: [String]) -> [Medium] { notes.map { .note($0) } }
      /// Lets a step set notes and the title, and others set other notes, and undoes the step.
      func expect(_ before: [String], step: [String], others: [String], undone: [String], isWhole: Bool) throws {
        container.viewContext.insert(
          Book(id: "1", title: "before", author: Author(id: "1", name: ""), extras: extras(before)))
        try container.viewContext.save()
        try undo.record("Edit") { view in
          try view.update(Book.self, id: "1") { ($0.title, $0.extras) = ("after", extras(step)) }
        }
        try self.others(container) { context in
          try context.update(Book.self, id: "1") { $0.extras = extras(others) }
        }
        let conflicts = try undo.undo().conflicts
        #expect(conflicts.map(\.property) == (isWhole ? [] : ["extras"]), "\(others)")
        #expect(conflicts.allSatisfy { $0.reason == .changedSince })
        let found = try container.newBackgroundContext().find(Book.self, id: "1")
        #expect(found?.title == "before" && found?.extras == extras(undone), "\(others)")
      }
      try expect(["1"], step: ["2"], others: ["3"], undone: ["3"], isWhole: false)
      // They have taken it out, or added one.
      try expect(["1"], step: ["2"], others: [], undone: [], isWhole: false)
      try expect(["1"], step: ["2"], others: ["2", "3"], undone: ["2", "3"], isWhole: false)
      try expect(["1", "2"], step: ["2"], others: ["2", "3"], undone: ["2", "3"], isWhole: false)
      // They have changed nothing, or have put it back.
      try expect(["1"], step: ["2"], others: ["2"], undone: ["1"], isWhole: true)
      try expect(["1"], step: ["2"], others: ["1"], undone: ["1"], isWhole: true)
    }
  }

  @Test("What an inserted entity contains that stays stays, too", arguments: StoreKind.allCases)
  func staysWithContainer(_ kind: StoreKind) async throws {
    try await StrategyKind.direct.withContainer(kind) { container in
      let undo = container.undoManager
      container.viewContext.insert(Person(id: 9, name: "other"))
      try container.viewContext.save()
      let inserted = Person(id: 1, name: "1", friends: [Person(id: 2, name: "2")])
      try undo.record("Insert") { view in
        view.insert(inserted)
        try view.update(Person.self, id: 9) { $0.name = "renamed" }
      }
      try others(container) { context in try context.update(Person.self, id: 9) { $0.friends = [inserted] } }
      #expect(try undo.undo().conflicts.map(\.reason) == [.inUse, .inUse])
      let people = try container.newBackgroundContext().fetch(FetchDescriptor<Person>())
      #expect(people.map(\.id) == [1, 2, 9] && people.last?.name == "other")
      #expect(people.first?.friends.map(\.id) == [2])
    }
  }
}

/// Verses under keys that have several equal forms.
private struct Scale: PersistentEntity, Aggregate, Equatable {
  let id: Int
  var names: [String: Verse] = [:]
  var weights: [Double: Verse] = [:]
  var tones: [Tone: Verse] = [:]

  static let persistentProperties: [PersistentProperty<Scale>] = [
    .init("id", \.id), .init("names", \.names), .init("weights", \.weights), .init("tones", \.tones),
  ]
  init(id: Int) { self.id = id }
  init(from row: inout RowReader) throws {
    id = try row.read()
    names = try row.read()
    weights = try row.read()
    tones = try row.read()
  }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(names)
    try row.write(weights)
    try row.write(tones)
  }
}

private struct Tone: Codable, Hashable { let name: String }
