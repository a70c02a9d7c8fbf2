import Concord
import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

/// Compares what a fetch gives with what the predicate, evaluated in memory, gives of the same entities.
@Suite("Predicates")
struct PredicateTests {
  private func model() throws -> Model { try Model("M", entities: [Sample.self, Author.self, Review.self]) }

  private struct Case {
    let predicate: Predicate<Sample>
    /// Whether the store evaluates all of it.
    let isStored: Bool
  }

  /// Each operator, with values that are there.
  private func cases(_ random: inout SeededGenerator) -> [Case] {
    let (i, j) = (Int.random(in: -1..<4, using: &random), Int.random(in: -1..<4, using: &random))
    let o: Int? = random.pick([nil, 0, 1, 3])
    let r = random.pick(Sample.reals)
    let or: Double? = random.pick([nil] + Sample.reals.map { $0 })
    let f = random.pick(Sample.singles)
    let d = Date(timeIntervalSinceReferenceDate: random.pick([0, -0.0, 1, 1e9]))
    let t = random.pick(Sample.texts)
    let ascii = random.pick(["", "K", "a;b", "`", "Emma", "x\0y", "no", "KKKK"])
    let ot: String? = random.pick([nil, "K", "emma"])
    let u = random.pick(Sample.uuids)
    let l = random.pick(Sample.larges)
    let dec: Decimal = random.pick([0, 1.5, 7])
    let (low, high) = (min(i, j), max(i, j))
    let numbers = [i, j, 2]
    let texts = [ascii, "emma"]
    let range = low..<high
    let closed = low...high
    let from = low...
    let reals = [r, 1, -0.0]
    let name = random.pick(["a", "\u{E9}", "b"])
    let optionals: [Int?] = [nil, i]
    let good = Sample.Grade.good
    return [
      Case(predicate: #Predicate { $0.number == i }, isStored: true),
      Case(predicate: #Predicate { i != $0.number }, isStored: true),
      Case(predicate: #Predicate { $0.number < i }, isStored: true),
      Case(predicate: #Predicate { i < $0.number }, isStored: true),
      Case(predicate: #Predicate { $0.number <= i || $0.indexed >= j }, isStored: true),
      Case(predicate: #Predicate { !($0.number > i && $0.indexed == j) }, isStored: true),
      Case(predicate: #Predicate { $0.id == i }, isStored: true),
      Case(predicate: #Predicate { $0.id > j }, isStored: true),
      Case(predicate: #Predicate { $0.number == $0.indexed }, isStored: true),
      Case(predicate: #Predicate { $0.number < $0.indexed }, isStored: true),
      Case(predicate: #Predicate { $0.number < i + j }, isStored: true),
      Case(predicate: #Predicate { $0.indexed + 1 < 3 && $0.number < 100 }, isStored: true),
      Case(predicate: #Predicate { $0.optional == o }, isStored: true),
      Case(predicate: #Predicate { $0.optional != o }, isStored: true),
      Case(predicate: #Predicate { $0.optional == nil }, isStored: true),
      Case(predicate: #Predicate { !($0.optional == 1) }, isStored: true),
      Case(predicate: #Predicate { ($0.optional ?? 1) > i }, isStored: true),
      Case(predicate: #Predicate { ($0.optional ?? 1) == i }, isStored: true),
      Case(predicate: #Predicate { !(($0.optional ?? 1) != i) }, isStored: true),
      Case(predicate: #Predicate { if let x = $0.optional { x > i } else { false } }, isStored: true),
      Case(predicate: #Predicate { $0.optional.flatMap { $0 > i } == true }, isStored: true),
      Case(predicate: #Predicate { $0.large == l }, isStored: true),
      Case(predicate: #Predicate { $0.large < l }, isStored: true),
      Case(predicate: #Predicate { $0.large >= l }, isStored: true),
      Case(predicate: #Predicate { $0.real == r }, isStored: true),
      Case(predicate: #Predicate { $0.real != r }, isStored: true),
      Case(predicate: #Predicate { $0.real < r }, isStored: true),
      Case(predicate: #Predicate { $0.real <= r }, isStored: true),
      Case(predicate: #Predicate { !($0.real > r) }, isStored: true),
      Case(predicate: #Predicate { $0.real >= r }, isStored: true),
      Case(predicate: #Predicate { reals.contains($0.real) }, isStored: true),
      Case(predicate: #Predicate { $0.optionalReal == or }, isStored: true),
      Case(predicate: #Predicate { $0.optionalReal != or }, isStored: true),
      Case(predicate: #Predicate { $0.single == f }, isStored: true),
      Case(predicate: #Predicate { $0.single < f }, isStored: true),
      Case(predicate: #Predicate { !($0.single >= f) }, isStored: true),
      Case(predicate: #Predicate { $0.date == d }, isStored: true),
      Case(predicate: #Predicate { $0.date < d }, isStored: true),
      Case(predicate: #Predicate { $0.date >= d }, isStored: true),
      Case(predicate: #Predicate { $0.text == ascii }, isStored: true),
      Case(predicate: #Predicate { $0.text != ascii }, isStored: true),
      Case(predicate: #Predicate { $0.text == t }, isStored: true),
      Case(predicate: #Predicate { $0.text < t }, isStored: true),
      Case(predicate: #Predicate { texts.contains($0.text) }, isStored: true),
      Case(predicate: #Predicate { $0.text.contains("m") }, isStored: true),
      Case(predicate: #Predicate { $0.text.starts(with: ascii) }, isStored: true),
      Case(predicate: #Predicate { $0.text.isEmpty }, isStored: true),
      Case(predicate: #Predicate { $0.optionalText == ot }, isStored: true),
      Case(predicate: #Predicate { $0.optionalText != ot }, isStored: true),
      Case(predicate: #Predicate { $0.flag }, isStored: true),
      Case(predicate: #Predicate { !$0.flag }, isStored: true),
      Case(predicate: #Predicate { $0.flag == true || $0.flag == false }, isStored: true),
      Case(predicate: #Predicate { $0.uuid == u }, isStored: true),
      Case(predicate: #Predicate { $0.decimal == dec }, isStored: true),
      Case(predicate: #Predicate { $0.decimal < dec }, isStored: false),
      Case(predicate: #Predicate { numbers.contains($0.number) }, isStored: true),
      Case(predicate: #Predicate { optionals.contains($0.optional) }, isStored: true),
      Case(predicate: #Predicate { range.contains($0.number) }, isStored: true),
      Case(predicate: #Predicate { closed.contains($0.number) }, isStored: true),
      Case(predicate: #Predicate { from.contains($0.number) }, isStored: true),
      Case(predicate: #Predicate { $0.owner.id == name }, isStored: true),
      Case(predicate: #Predicate { $0.owner.id != name }, isStored: true),
      Case(predicate: #Predicate { $0.owner.name == "A" }, isStored: true),
      Case(predicate: #Predicate { $0.helper == nil }, isStored: true),
      Case(predicate: #Predicate { $0.helper?.id == name }, isStored: true),
      Case(predicate: #Predicate { $0.reviews.isEmpty }, isStored: true),
      Case(predicate: #Predicate { $0.reviews.contains { $0.id == 1 } }, isStored: true),
      Case(predicate: #Predicate { $0.flag && $0.text.contains("m") && $0.number > i }, isStored: true),
      Case(predicate: #Predicate { ($0.flag ? $0.number : $0.indexed) > i }, isStored: true),
      Case(predicate: #Predicate { $0.grade == good }, isStored: false),
      Case(predicate: #Predicate { $0.reviews.count > 0 }, isStored: true),
      Case(predicate: #Predicate { $0.reviews.allSatisfy { $0.text == "" } }, isStored: true),
      Case(predicate: #Predicate { sample in sample.reviews.contains { $0.id == sample.indexed } }, isStored: true),
      Case(predicate: #Predicate { $0.helper?.name == "A" }, isStored: true),
      Case(predicate: #Predicate { $0.optionalText?.contains("m") == true }, isStored: true),
      Case(predicate: #Predicate { ($0.optionalText ?? ascii) < t }, isStored: true),
      Case(predicate: #Predicate { ($0.optionalText ?? "K") == $0.text }, isStored: true),
      Case(predicate: #Predicate { $0.text.count >= $0.indexed }, isStored: true),
      Case(predicate: #Predicate { $0.real + $0.real > r }, isStored: true),
      Case(predicate: #Predicate { $0.single * 2 <= f }, isStored: true),
      Case(predicate: #Predicate { -$0.indexed < $0.indexed - 3 }, isStored: true),
      Case(predicate: #Predicate { $0.indexed % 2 == 1 && $0.indexed / 2 == 1 }, isStored: true),
      Case(predicate: #Predicate { $0.date < $0.date || $0.real == ($0.optionalReal ?? 1) }, isStored: true),
      Case(predicate: #Predicate { !($0.text > t) }, isStored: true),
      Case(predicate: #Predicate { _ in i > j }, isStored: true),
    ]
  }

  private func orders() -> [[SortDescriptor<Sample>]] {
    [
      [], [SortDescriptor(\.number)], [SortDescriptor(\.indexed, order: .reverse), SortDescriptor(\.number)],
      [SortDescriptor(\.optional)], [SortDescriptor(\.optional, order: .reverse)], [SortDescriptor(\.large)],
      [SortDescriptor(\.date, order: .reverse)], [SortDescriptor(\.text)],
      [SortDescriptor(\.text, comparator: .lexical, order: .reverse)], [SortDescriptor(\.id, order: .reverse)],
      [SortDescriptor(\.indexed), SortDescriptor(\.text), SortDescriptor(\.id)], [SortDescriptor(\.owner.name)],
    ]
  }

  @Test("A store finds the rows that evaluation in memory finds, in its order", arguments: StoreKind.allCases)
  func agrees(_ kind: StoreKind) throws {
    let seed = TestOptions.seed()
    var random = SeededGenerator(seed: seed)
    for _ in 0..<3 {
      try kind.withCoordinator(model()) { coordinator in
        let context = coordinator.newContext()
        for id in 0..<40 { context.insert(Sample(id: id, &random)) }
        try context.save()
        // Some of them are not saved.
        for id in 30..<50 { context.insert(Sample(id: id, &random)) }
        for id in 10..<15 { try context.delete(Sample.self, id: id) }
        let all = try context.fetch(FetchDescriptor<Sample>())
        #expect(all.map(\.id) == Array(0..<10) + Array(15..<50))
        let entity = try coordinator.model.entity(Sample.self)
        for (number, test) in cases(&random).enumerated() {
          let order = random.pick(orders())
          let limit: Int? = random.pick([nil, 0, 3, 10, 100, .max])
          let offset: Int? = random.pick([nil, 0, 2, 50])
          let comment: Comment =
            "CONCORD_RANDOM_SEED=\(seed): case \(number), \(order), \(limit as Any), \(offset as Any)"
          let descriptor = FetchDescriptor(
            predicate: test.predicate, sortBy: order, fetchLimit: limit, fetchOffset: offset)
          let plan = FetchPlan(descriptor, entity, coordinator.model)
          #expect(plan.isExact == test.isStored, comment)
          let wanted = try all.filter { try test.predicate.evaluate($0) }
          let sorted = wanted.enumerated().sorted {
            let result = order.compare($0.element, $1.element)
            return result == .orderedSame ? $0.offset < $1.offset : result == .orderedAscending
          }.map(\.element.id)
          let found = try context.fetch(descriptor).map(\.id)
          let expected = Array(sorted.dropFirst(offset ?? 0).prefix(limit ?? .max))
          #expect(found == expected, comment)
          #expect(try context.count(descriptor) == expected.count, comment)
        }
      }
    }
  }

  @Test("What throws in memory throws, and does not where an earlier part is false", arguments: StoreKind.allCases)
  func throwing(_ kind: StoreKind) throws {
    try kind.withCoordinator(model()) { coordinator in
      var random = SeededGenerator(seed: 1)
      let context = coordinator.newContext()
      for id in 0..<20 { context.insert(Sample(id: id, &random)) }
      try context.save()
      #expect(throws: (any Error).self) {
        try context.fetch(FetchDescriptor<Sample>(predicate: #Predicate { $0.optional! > 1 && $0.id < 0 }))
      }
      #expect(
        try context.fetch(FetchDescriptor<Sample>(predicate: #Predicate { $0.id < 0 && $0.optional! > 1 })).isEmpty)
    }
  }

  @Test("Texts that are equal to ASCII in another form are the three that are looked for")
  func canonicalForms() {
    for scalar in (Unicode.Scalar(0x80)!.value...0x10FFFF).compactMap(Unicode.Scalar.init) {
      let composed = String(Character(scalar)).canonicallyComposed
      guard composed.utf8.contains(where: { $0 < 0x80 }) else { continue }
      #expect(
        ["\u{212A}", "\u{37E}", "\u{1FEF}"].contains { $0.unicodeScalars.elementsEqual([scalar]) }, "\(scalar.value)")
    }
  }

  @Test("Values are bound, whatever is in them", arguments: StoreKind.allCases)
  func binding(_ kind: StoreKind) throws {
    try kind.withCoordinator(model()) { coordinator in
      var random = SeededGenerator(seed: 2)
      let context = coordinator.newContext()
      var sample = Sample(id: 1, &random)
      sample.text = "x' OR 1=1; DROP TABLE \"Sample\"; --"
      context.insert(sample)
      context.insert(Sample(id: 2, &random))
      try context.save()
      let text = sample.text
      #expect(try context.fetch(FetchDescriptor<Sample>(predicate: #Predicate { $0.text == text })).map(\.id) == [1])
      let other = "' OR '1'='1"
      #expect(try context.count(FetchDescriptor<Sample>(predicate: #Predicate { $0.text == other })) == 0)
      #expect(try context.count(FetchDescriptor<Sample>()) == 2)
    }
  }

  #if Persistence
    @Test("Declared indexes are used, by predicates and by orders")
    func indexes() throws {
      try withFolder { folder in
        let model = try model()
        let store = try SQLiteStore(url: folder.appending(path: "a.sqlite"), entities: model.entities)
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.attach(store, configuration: "")
        let entity = try model.entity(Sample.self)
        func plan(_ descriptor: FetchDescriptor<Sample>) throws -> String {
          let plan = FetchPlan(descriptor, entity, model)
          let query = try coordinator.newContext().performAndWait { _ in
            try store.read { try #require(try plan.wholeQuery($0)) }
          }
          return try store.queryPlan(query)
        }
        let (text, name) = ("emma", "a")
        let cases: [(Predicate<Sample>?, [SortDescriptor<Sample>], String)] = [
          (#Predicate { $0.indexed == 3 }, [], "USING INDEX Sample.indexed (indexed=?)"),
          (#Predicate { $0.indexed > 3 }, [SortDescriptor(\.indexed)], "USING INDEX Sample.indexed (indexed>?)"),
          (#Predicate { $0.real > 3 }, [], "USING INDEX Sample.real (real>? AND real<?)"),
          (#Predicate { $0.text == text }, [], "USING INDEX Sample.text (text=?)"),
          (#Predicate { $0.owner.id == name }, [], "USING INDEX Sample.owner (owner=?)"),
          (#Predicate { $0.id == 3 }, [], "USING INTEGER PRIMARY KEY (rowid=?)"),
          (nil, [SortDescriptor(\.indexed)], "SCAN Sample USING INDEX Sample.indexed"),
          (nil, [SortDescriptor(\.real, order: .reverse)], "SCAN Sample USING INDEX Sample.real"),
          (nil, [SortDescriptor(\.id, order: .reverse)], "SCAN Sample"),
        ]
        for (predicate, order, expected) in cases {
          let found = try plan(FetchDescriptor(predicate: predicate, sortBy: order, fetchLimit: 50))
          #expect(found.contains(expected), "\(found)")
          #expect(!found.contains("TEMP B-TREE FOR ORDER BY") || predicate != nil, "\(found)")
        }
      }
    }
  #endif
}
