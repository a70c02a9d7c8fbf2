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

  #if Persistence
    // SQLite reads all rows where a range has one end only, as `<=` has, which NaN fulfils, too.
    @Test("An index is used where a range has two ends")
    func index() throws {
      try withFolder { folder in
        let model = try Model("Events", entities: [Event.self])
        let store = try SQLiteStore(url: folder.appending(path: "a.sqlite"), entities: model.entities)
        defer { try? store.close() }
        let date = Date(timeIntervalSinceReferenceDate: 7)
        for predicate in [#Predicate<Event> { $0.date > date }, #Predicate<Event> { $0.date == date }] {
          let entity = try model.entity(Event.self)
          let plan = FetchPlan(FetchDescriptor<Event>(predicate: predicate), entity, model)
          #expect(plan.isExact)
          let found = try store.queryPlan(RowQuery(entity, where: plan.condition))
          #expect(found.contains("Event.date"), "\(found) \(plan.condition)")
        }
      }
    }
  #endif
}
