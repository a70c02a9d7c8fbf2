import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("Rows without an answer that a pending change mends")
struct MendedRowTests {
  enum Mending: CaseIterable { case updated, deleted, updatedAmongMany }

  @Test(
    "A row that has an answer as the context shows it has one for whoever asks the context, whatever is stored",
    arguments: StoreKind.allCases, Mending.allCases)
  func mended(_ kind: StoreKind, _ mending: Mending) throws {
    try kind.withCoordinator(essayModel()) { coordinator in
      let context = coordinator.newContext()
      let count = mending == .updatedAmongMany ? PendingReading.mostLeftOut + 20 : 20
      for id in 1...count { context.insert(Essay(id, "word", "a", year: id % 5)) }
      try context.save()
      for id in stride(from: 5, through: count, by: 5) {
        if mending == .deleted {
          try context.delete(Essay.self, id: id)
        } else {
          try context.update(Essay.self, id: id) { $0.year = 5 }
        }
      }
      if mending == .updatedAmongMany {
        for id in 1...count { try context.update(Essay.self, id: id) { $0.title = "word \(id)" } }
      }
      let present = try context.fetch(FetchDescriptor<Essay>(sortBy: [SortDescriptor(\.id)]))
      let predicate = #Predicate<Essay> { 10 / $0.year > 2 }
      let expected = try present.filter { try predicate.evaluate($0) }.map(\.id)
      func descriptor(_ limit: Int? = nil) -> FetchDescriptor<Essay> {
        FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.id)], fetchLimit: limit)
      }
      #expect(try context.fetch(descriptor()).map(\.id) == expected)
      #expect(try context.fetch(descriptor(3)).map(\.id) == Array(expected.prefix(3)))
      #expect(try context.count(descriptor()) == expected.count)
      #expect(try context.count(descriptor(3)) == 3)
      #expect(try context.aggregate(Essay.self, where: predicate, .count) == expected.count)
      #expect(try context.delete(Essay.self, where: predicate) == expected.count)
    }
  }

  @Test(
    "Many parts that may fail are written once each, besides many rows that are left out", arguments: StoreKind.allCases
  )
  func manyParts(_ kind: StoreKind) throws {
    let model = try essayModel()
    try kind.withCoordinator(model) { coordinator in
      let context = coordinator.newContext()
      let (most, entity) = (PendingReading.mostLeftOut, try model.entity(Essay.self))
      for id in 1...most + 10 { context.insert(Essay(id, "word", "a", year: id > most ? id % 4 + 1 : 0)) }
      try context.save()
      let keys = (1...most).map { StoredValue.integer(Int64($0)) }
      func find(
        _ predicate: Predicate<Essay>, _ join: ([StoredCondition]) -> StoredCondition
      ) throws -> Set<StoredValue> {
        let part = FetchPlan(FetchDescriptor(predicate: predicate), entity, model).condition
        #expect(part.mayFail)
        let condition = join(Array(repeating: part, count: 12)).leavingOut(Set(keys))
        var found: Set<StoredValue> = []
        try coordinator.read([entity]) { reading in
          try reading.rows(RowQuery(entity, where: condition)) { key, _ in
            found.insert(key)
            return true
          }
        }
        return found
      }
      let (zero, five) = (0, 5)
      let rest = Set((most + 1...most + 10).map { StoredValue.integer(Int64($0)) })
      #expect(try find(#Predicate { 10 / $0.year > zero }) { .all($0) } == rest)
      #expect(try find(#Predicate { 10 / $0.year > five }) { .any($0) } == [.integer(304), .integer(308)])
    }
  }

  @Test("A part that may fail stands behind many others, and between them", arguments: StoreKind.allCases, [1, 17, 60])
  func behindMany(_ kind: StoreKind, _ count: Int) throws {
    let model = try essayModel()
    try kind.withCoordinator(model) { coordinator in
      let context = coordinator.newContext()
      for id in 1...6 { context.insert(Essay(id, "word", "a", year: id)) }
      try context.save()
      let entity = try model.entity(Essay.self)
      func condition(_ predicate: Predicate<Essay>) -> StoredCondition {
        FetchPlan(FetchDescriptor(predicate: predicate), entity, model).condition
      }
      func find(_ condition: StoredCondition) throws -> Set<StoredValue> {
        #expect(condition.fitsStatement)
        var found: Set<StoredValue> = []
        try coordinator.read([entity]) { reading in
          try reading.rows(RowQuery(entity, where: condition)) { key, _ in
            found.insert(key)
            return true
          }
        }
        return found
      }
      let (two, three) = (2, 3)
      let divided = condition(#Predicate { 10 / $0.year > two })
      let subtracted = condition(#Predicate { $0.year - 1 != three })
      let (here, elsewhere) = (
        condition(#Predicate { $0.title == "word" }), condition(#Predicate { $0.title == "other" })
      )
      #expect(divided.mayFail && subtracted.mayFail && !here.mayFail && !elsewhere.mayFail)
      let (present, absent) = (Array(repeating: here, count: count), Array(repeating: elsewhere, count: count))
      #expect(try find(.all(present + [divided])) == [.integer(1), .integer(2), .integer(3)])
      #expect(try find(.any(absent + [divided])) == [.integer(1), .integer(2), .integer(3)])
      #expect(
        try find(.all(present + [subtracted] + present + [divided] + present))
          == [.integer(1), .integer(2), .integer(3)])
      #expect(
        try find(.any(absent + [divided] + absent + [.not(subtracted)] + absent))
          == [.integer(1), .integer(2), .integer(3), .integer(4)])
      // A statement has few levels.
      let inTurn = (0..<8).flatMap { _ in [here, divided] }
      #expect(!StoredCondition.all(inTurn).fitsStatement && !StoredCondition.any(inTurn).fitsStatement)
    }
  }

  @Test(
    "Where saving is left to a context in the background, what is saved already counts",
    arguments: StrategyKind.allCases)
  func saved(_ strategy: StrategyKind) async throws {
    try await strategy.withContainer(.memory, model: essayModel()) { error in
      Issue.record("\(error)")
    } _: { container in
      let context = container.newBackgroundContext()
      for id in 1...20 { context.insert(Essay(id, "word", "a", year: id % 5)) }
      try context.save()
      let view = container.viewContext
      let predicate = #Predicate<Essay> { 10 / $0.year > 2 }
      for turn in 1...20 {
        for id in stride(from: 5, through: 20, by: 5) { try context.update(Essay.self, id: id) { $0.year = 0 } }
        try context.save()
        for id in stride(from: 5, through: 20, by: 5) { try context.update(Essay.self, id: id) { $0.year = turn } }
        try context.save()
        let count = try view.fetch(FetchDescriptor<Essay>()).count { 10 / $0.year > 2 }
        #expect(try view.count(FetchDescriptor<Essay>(predicate: predicate)) == count)
      }
      try await container.flush()
    }
  }
}
