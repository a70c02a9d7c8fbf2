import Foundation
import Testing

@testable import ConcordPersistence

private struct Event: PersistentEntity, Equatable {
  let id: Int
  var date: Date

  static let persistentProperties: [PersistentProperty<Event>] = [.init("id", \.id), .init("date", \.date, .indexed)]
  init(_ id: Int, _ date: Date) { (self.id, self.date) = (id, date) }
  init(from row: inout RowReader) throws { self.init(try row.read(), try row.read()) }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(date)
  }
}

@Suite("Predicates of dates")
struct DatePredicateTests {
  private static let dates =
    [
      -.infinity, -1e300, -1, -Double.leastNonzeroMagnitude, -0.0, 0, Double.leastNonzeroMagnitude, 0.1, 1, 1e300,
      .infinity, .nan, -.nan, -.signalingNaN,
    ]
    .map { Date(timeIntervalSinceReferenceDate: $0) } + [.distantPast, .distantFuture]

  @Test("Dates at all extremes are compared as Foundation compares them", arguments: StoreKind.allCases)
  func extremes(_ kind: StoreKind) throws {
    try kind.withCoordinator(Model("Events", entities: [Event.self])) { coordinator in
      let context = coordinator.newContext()
      let events = Self.dates.enumerated().map { Event($0, $1) }
      for event in events { context.insert(event) }
      try context.save()
      for date in Self.dates {
        let predicates: [(String, Predicate<Event>)] = [
          ("==", #Predicate { $0.date == date }), ("!=", #Predicate { $0.date != date }),
          ("<", #Predicate { $0.date < date }), (">", #Predicate { $0.date > date }),
          ("<=", #Predicate { $0.date <= date }), (">=", #Predicate { $0.date >= date }),
          ("!<", #Predicate { !($0.date < date) }), ("!<=", #Predicate { !($0.date <= date) }),
          ("mirrored", #Predicate { date <= $0.date }), ("in", #Predicate { ($0.date) >= date && $0.date <= date }),
        ]
        for (name, predicate) in predicates {
          let found = try context.fetch(FetchDescriptor<Event>(predicate: predicate)).map(\.id)
          let expected = try events.filter { try predicate.evaluate($0) }.map(\.id)
          #expect(found == expected, "\(name) \(date.timeIntervalSinceReferenceDate)")
        }
      }
    }
  }

  // Foundation traps where it is asked for the text of such a date.
  @Test("A condition with a date at any extreme can be left to memory, and explained", arguments: StoreKind.allCases)
  func leftToMemory(_ kind: StoreKind) throws {
    try kind.withCoordinator(Model("Events", entities: [Event.self])) { coordinator in
      let context = coordinator.newContext()
      let events = Self.dates.enumerated().map { Event($0, $1) }
      for event in events { context.insert(event) }
      try context.save()
      for date in Self.dates {
        let dates = [date]
        let predicate = #Predicate<Event> { event in dates.filter { $0 == event.date }.count == 1 }
        let found = try context.fetch(FetchDescriptor<Event>(predicate: predicate)).map(\.id)
        #expect(try found == events.filter { try predicate.evaluate($0) }.map(\.id))
        let explanation = try context.explain(FetchDescriptor<Event>(predicate: predicate))
        #expect(explanation.predicate == .memory && !explanation.partsInMemory.isEmpty)
        #expect(!explanation.description.isEmpty)
      }
    }
  }

  #if Persistence
    @Test("The index is used for every comparison of dates, in the order of the ids as in that of the dates")
    func index() throws {
      try withFolder { folder in
        let model = try Model("Events", entities: [Event.self])
        let store = try SQLiteStore(url: folder.appending(path: "a.sqlite"), entities: model.entities)
        defer { try? store.close() }
        let (date, last) = (Date(timeIntervalSinceReferenceDate: 7), Date(timeIntervalSinceReferenceDate: 9))
        let early = Date(timeIntervalSinceReferenceDate: -7)
        let predicates: [Predicate<Event>] = [
          #Predicate { $0.date == date }, #Predicate { $0.date > date }, #Predicate { $0.date >= date },
          #Predicate { $0.date < date }, #Predicate { $0.date <= date }, #Predicate { $0.date < early },
          #Predicate { $0.date <= early }, #Predicate { $0.date >= early },
          #Predicate { $0.date >= date && $0.date < last }, #Predicate { date <= $0.date && $0.date <= last },
        ]
        let entity = try model.entity(Event.self)
        for predicate in predicates {
          for sortBy in [[], [SortDescriptor(\Event.date)], [SortDescriptor(\Event.date, order: .reverse)]] {
            let plan = FetchPlan(FetchDescriptor<Event>(predicate: predicate, sortBy: sortBy), entity, model)
            #expect(plan.isExact)
            let query = try #require(try store.read { try plan.wholeQuery($0) })
            let found = try store.queryPlan(query)
            #expect(found.contains("USING INDEX Event.date"), "\(found) \(plan.condition)")
            #expect(!found.contains("SCAN"), "\(found) \(plan.condition)")
            // The first screen is there before all is sorted.
            if !sortBy.isEmpty { #expect(!found.contains("TEMP B-TREE FOR ORDER BY"), "\(found)") }
          }
        }
      }
    }

    @Test("Of several ends on one side the narrowest is searched for")
    func narrowest() {
      let column = StoredColumn.position(1)
      let ranges = StoredRanges([
        .compares(column, .greater, .real(1)), .compares(column, .less, .real(4)),
        .compares(column, .greaterOrEqual, .real(2)), .compares(column, .lessOrEqual, .real(3)),
        .compares(column, .lessOrEqual, .real(.infinity)), .compares(.position(0), .less, .integer(0)),
      ])
      #expect((0..<6).map(ranges.isEnd) == [false, false, true, true, false, true])
    }
  #endif
}
