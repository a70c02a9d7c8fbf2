import Foundation
import Testing

@testable import ConcordPersistence

/// A place in a row of seats, which nobody shares.
private struct Seat: PersistentEntity, Aggregate, Equatable {
  let id: Int
  var place: Int
  var guests: [Review]

  static let persistentProperties: [PersistentProperty<Seat>] = [
    .init("id", \.id), .init("place", \.place, .unique), .init("guests", \.guests),
  ]
  init(_ id: Int, _ place: Int, _ guests: [Review] = []) { (self.id, self.place, self.guests) = (id, place, guests) }
  init(from row: inout RowReader) throws { self.init(try row.read(), try row.read(), try row.read()) }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(place)
    try row.write(guests)
  }
}

@Suite("Unique values")
struct UniqueValueTests {
  private let guest = Review(id: 1, text: "guest")

  /// Saves seats in a context of each strategy and each store, and gives them to the body.
  private func withSeats(
    _ strategy: StrategyKind, _ kind: StoreKind, _ seats: [Seat],
    _ body: (any PersistentContainer, BackgroundContext) throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let container = strategy.container(try Model("Library", entities: [Seat.self, Review.self]))
    let store = try container.attachPersistentStore(at: folder, for: StoreConfiguration(type: kind.type))
    defer { try? container.detach(persistentStore: store) }
    let context = container.newBackgroundContext()
    for seat in seats { context.insert(seat) }
    try context.save()
    try body(container, context)
    try await container.flush()
    let seats = try context.fetch(FetchDescriptor<Seat>())
    let stored = try BackgroundContext(parent: container.persistentStoreCoordinator).fetch(FetchDescriptor<Seat>())
    #expect(stored == seats)
  }

  @Test("What is removed gives its value to what the same save inserts", arguments: StoreKind.combinations)
  func replacement(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    try await withSeats(strategy, kind, [Seat(1, 1), Seat(2, 2, [guest])]) { container, context in
      try context.delete(Seat.self, id: 1)
      context.insert(Seat(3, 1, [guest]))
      try context.save()
      #expect(try context.fetch(FetchDescriptor<Seat>()) == [Seat(2, 2, [guest]), Seat(3, 1, [guest])])
      try container.viewContext.delete(Seat.self, id: 2)
      container.viewContext.insert(Seat(4, 2))
      try container.viewContext.save()
    }
  }

  @Test("One save may exchange values, or hand them on", arguments: StoreKind.combinations)
  func exchange(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    let seats = (1...5).map { Seat($0, $0, [guest]) }
    try await withSeats(strategy, kind, seats) { _, context in
      for id in 1...5 { try context.update(Seat.self, id: id) { $0.place = id % 5 + 1 } }
      try context.save()
      #expect(try context.fetch(FetchDescriptor<Seat>()).map(\.place) == [2, 3, 4, 5, 1])
      for id in 1...5 { context.insert(Seat(id, 5 - id, [guest, guest])) }
      try context.save()
      let found = try context.fetch(FetchDescriptor<Seat>())
      #expect(found.map(\.place) == [4, 3, 2, 1, 0] && found.allSatisfy { $0.guests == [guest, guest] })
    }
  }

  @Test("A value that another one keeps is refused, and nothing changes", arguments: StoreKind.allCases)
  func taken(_ kind: StoreKind) throws {
    try kind.withCoordinator(Model("Library", entities: [Seat.self, Review.self])) { coordinator in
      let context = coordinator.newContext()
      for id in 1...3 { context.insert(Seat(id, id, [guest])) }
      try context.save()
      try context.update(Seat.self, id: 1) { $0.place = 2 }
      try context.update(Seat.self, id: 2) { $0.place = 3 }
      #expect(reason { try context.save() } == "another Seat has the same place")
      #expect(try coordinator.newContext().fetch(FetchDescriptor<Seat>()) == (1...3).map { Seat($0, $0, [guest]) })
      try context.update(Seat.self, id: 3) { $0.place = 1 }
      try context.save()
      #expect(try coordinator.newContext().fetch(FetchDescriptor<Seat>()).map(\.place) == [2, 3, 1])
    }
  }

  @Test(
    "What loses against another context keeps its value", arguments: StoreKind.allCases,
    [MergePolicy.byStamp, .storeTrump, .objectTrump])
  func policies(_ kind: StoreKind, _ policy: MergePolicy) throws {
    try kind.withCoordinator(Model("Library", entities: [Seat.self, Review.self])) { coordinator in
      let context = coordinator.newContext()
      for id in 1...3 { context.insert(Seat(id, id), modifiedAt: 10) }
      try context.save()
      context.mergePolicy = policy
      try context.update(Seat.self, id: 1, modifiedAt: 11) { $0.place = 2 }
      try context.update(Seat.self, id: 2, modifiedAt: 11) { $0.place = 1 }
      let other = coordinator.newContext()
      try other.update(Seat.self, id: 3, modifiedAt: 12) { $0.guests = [guest] }
      try other.update(Seat.self, id: 2, modifiedAt: 12) { $0.guests = [guest] }
      try other.save()
      try context.save()
      let found = try coordinator.newContext().fetch(FetchDescriptor<Seat>())
      #expect(found == [Seat(1, 2), Seat(2, 1, [guest]), Seat(3, 3, [guest])])
    }
  }
}
