import Concord
import ConcordModel
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("Lasting: what was found in earlier runs, or by others")
struct RetentionUsesTests {
  /// A container with its store, on the rows that all of them share.
  private func container(
    _ kind: StoreKind, _ folder: URL
  ) throws -> (container: GenericPersistentContainer<ContextStrategy.Direct>, rows: any RowStore) {
    let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Uses", model: try libraryModel())
    let store = try kind.open(container.model, in: folder)
    try container.persistentStoreCoordinator.attach(store, configuration: "")
    return (container, store)
  }

  private func notes(_ rows: any RowStore) throws -> Set<String> {
    try rows.read { reading in
      var names: Set<String> = []
      try reading.notes(in: "retention.uses Review", after: nil) { name, _ in
        names.insert(name)
        return true
      }
      return names
    }
  }

  #if Persistence
    @Test("Uses are known to the next run, and to others, until the entity goes", arguments: StoreKind.lasting)
    func lasting(_ kind: StoreKind) throws {
      try withFolder { folder in
        let long = Date().timeIntervalSinceReferenceDate - 10_000
        do {
          let (first, rows) = try container(kind, folder)
          let context = first.newBackgroundContext()
          for id in 0..<20 { context.insert(Review(id: id, text: "", stars: id), modifiedAt: long + Double(id)) }
          try context.save()
          try first.keep(Review.self, .used(within: .seconds(100_000)))
          for id in 0..<5 { #expect(try first.viewContext.find(Review.self, id: id) != nil) }
          // Others that look meanwhile know nothing of it; they do when the store is detached.
          #expect(try notes(rows).isEmpty)
          #expect(first.persistentStoreCoordinator.detach(rows))
          #expect(try notes(rows) == Set((0..<5).map { "i\($0)" }))
          try rows.close()
        }
        let (second, rows) = try container(kind, folder)
        defer { try? rows.close() }
        let context = second.newBackgroundContext()
        // The four of the five that were found last.
        let found = try second.persistentStoreCoordinator.lastUses(of: second.model.entity(Review.self))
        let latest = (0..<5).sorted { (found[.integer(Int64($0))] ?? 0) > (found[.integer(Int64($1))] ?? 0) }.prefix(4)
        #expect(found.count == 5)
        try context.purge(Review.self, keeping: .atMost(4))
        #expect(try Set(context.fetch(FetchDescriptor<Review>()).map(\.id)) == Set(latest))
        #expect(try notes(rows) == Set(latest.map { "i\($0)" }))
        try context.purge(Review.self, keeping: .used(within: .seconds(3_600)))
        #expect(try context.count(FetchDescriptor<Review>()) == 4)
        // Those that were deleted are forgotten by the next purge.
        try context.delete(Review.self, id: latest[0])
        try context.save()
        try context.purge(Review.self, keeping: .used(within: .seconds(3_600)))
        #expect(try context.count(FetchDescriptor<Review>()) == 3)
        #expect(try notes(rows) == Set(latest.dropFirst().map { "i\($0)" }))
        try context.purge(Review.self, keeping: .used(within: .zero))
        #expect(try notes(rows).isEmpty)
      }
    }

    @Test("What cannot be written is written with the next uses, or goes with its store", arguments: StoreKind.lasting)
    func later(_ kind: StoreKind) throws {
      try withFolder { folder in
        let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Uses", model: try libraryModel())
        let (coordinator, view) = (container.persistentStoreCoordinator, container.viewContext)
        let store = GateStore(try kind.open(container.model, in: folder))
        defer { try? store.close() }
        try coordinator.attach(store, configuration: "")
        let context = container.newBackgroundContext()
        for id in 0..<3 { context.insert(Review(id: id, text: "", stars: id)) }
        try context.save()
        try container.keep(Review.self, .atMost(10))
        #expect(try view.find(Review.self, id: 0) != nil)
        store.fail(with: .locked(store: "test"))
        coordinator.saveUses()
        #expect(try notes(store).isEmpty)
        store.fail(with: nil)
        #expect(try view.find(Review.self, id: 1) != nil)
        coordinator.saveUses()
        #expect(try notes(store) == ["i0", "i1"])
        // What is attached next may be another user's.
        #expect(try view.find(Review.self, id: 2) != nil)
        store.fail(with: .locked(store: "test"))
        coordinator.detach(store)
        store.fail(with: nil)
        try coordinator.attach(store, configuration: "")
        coordinator.saveUses()
        #expect(try notes(store) == ["i0", "i1"])
      }
    }

    @Test("A later use that another process has written stays", arguments: StoreKind.lasting)
    func written(_ kind: StoreKind) throws {
      try withFolder { folder in
        let ((first, rows), (second, others)) = (try container(kind, folder), try container(kind, folder))
        defer { for rows in [rows, others] { try? rows.close() } }
        let context = first.newBackgroundContext()
        context.insert(Review(id: 0, text: ""))
        try context.save()
        let review = try first.model.entity(Review.self)
        for container in [first, second] {
          try container.keep(Review.self, .atMost(10))
          #expect(try container.viewContext.find(Review.self, id: 0) != nil)
        }
        let (earlier, later) = (first.persistentStoreCoordinator, second.persistentStoreCoordinator)
        let latest = try #require(later.uses.dates(of: try second.model.entity(Review.self))[.integer(0)])
        #expect(try #require(earlier.uses.dates(of: review)[.integer(0)]) < latest)
        later.saveUses()
        earlier.saveUses()
        let (third, more) = try container(kind, folder)
        defer { try? more.close() }
        let entity = try third.model.entity(Review.self)
        #expect(third.persistentStoreCoordinator.lastUses(of: entity)[.integer(0)] == latest)
      }
    }
  #endif

  @Test("A name of a note is read as the value that it was made of, and different values have different names")
  func names() {
    let values: [StoredValue] = [
      .null, .integer(0), .integer(.min), .integer(.max), .real(0.5), .real(-0.0), .real(.infinity),
      .real(.leastNonzeroMagnitude),
      .text(""), .text("i0"), .text("\u{301}e"), .text("a\nb\u{0}"), .text("🧑‍🧑‍🧒"), .blob(Data()),
      .blob(Data([0, 255, 10])),
    ]
    for value in values { #expect(StoredValue(noteName: value.noteName[...]) == value, "\(value)") }
    #expect(Set(values.map(\.noteName)).count == values.count)
    for text in ["", "x", "i", "i1.5", "rx", "r-1", "b?", "b="] {
      #expect(StoredValue(noteName: text[...]) == nil, "\(text)")
    }
  }
}
