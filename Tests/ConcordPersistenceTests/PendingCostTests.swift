import Concord
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("What pending changes cost")
struct PendingCostTests {
  /// Rows that are read for each of some saves by others, while so much is pending in a view that shows one of the entities.
  private func reads(
    pending count: Int, isSaved: Bool, change: (ViewContext, Int) throws -> Void
  ) async throws -> Int {
    let coordinator = PersistentStoreCoordinator(model: try libraryModel())
    let rows = CountingStore()
    try coordinator.attach(rows, configuration: "")
    let errors: AsyncErrorHandlerBlock = { _ in }
    let root = RootContext(parent: coordinator, errorHandler: errors)
    let view = ViewContext(parent: root, delivery: .immediate, errorHandler: errors)
    let first = coordinator.newContext()
    for id in 0..<count { first.insert(Book(id: "\(id)", title: "", author: Author(id: "\(id % 10)", name: ""))) }
    for id in 0..<count { first.insert(Review(id: id, text: "")) }
    first.insert(Review(id: -1, text: ""))
    try first.save()
    coordinator.settle()
    try view.performAndWait { view in for id in 0..<count { try change(view, id) } }
    let shown = try #require(try view.find(Review.self, id: -1))
    let held = try view.find(Book.self, id: "0")
    rows.isFailing.withLock { $0 = isSaved }
    if isSaved {
      try view.save()
      // What cannot be written is told once, with what it is.
      #expect(throws: StoreError.self) { try root.writePendingChanges() }
    }
    let others = PersistentStoreCoordinator(model: coordinator.model)
    try others.attach(rows.inner, configuration: "")
    let context = others.newContext()
    rows.reads.withLock { $0 = 0 }
    for stars in 1...10 {
      try context.update(Review.self, id: -1) { $0.stars = stars }
      try context.save()
      coordinator.settle()
      #expect(shown.value.stars == stars)
    }
    #expect(held != nil)
    let result = rows.reads.withLock { $0 } / 10
    rows.isFailing.withLock { $0 = false }
    try root.writePendingChanges()
    return result
  }

  @Test("What others save is shown at the same cost, however much is pending", arguments: [false, true])
  func foreignSaves(isSaved: Bool) async throws {
    func expectSame(_ change: (ViewContext, Int) throws -> Void) async throws {
      let few = try await reads(pending: 10, isSaved: isSaved, change: change)
      let many = try await reads(pending: 1_000, isSaved: isSaved, change: change)
      #expect(many <= few)
    }
    try await expectSame { try $0.update(Review.self, id: $1) { $0.text = "own" } }
    // Ten authors are looked for.
    try await expectSame { try $0.update(Book.self, id: "\($1)") { $0.title = "own" } }
  }

  @Test("One of many saves that can never be written is found without writing each alone")
  func oneThatIsGivenUp() async throws {
    let told = Locked<[String]>([])
    let container = StrategyKind.mixed.container(try libraryModel()) { error in
      if let error = error as? BackgroundSaveError, !error.isPending { told.withLock { $0.append("\(error)") } }
    }
    let (_, gate) = try GateStore.attach(to: container)
    let view = container.viewContext
    let author = Author(id: "a", name: "a")
    view.insert(Book(id: "0", title: "", isbn: "x", author: author))
    try view.save()
    try await container.flush()
    gate.fail(with: .locked(store: "x"))
    for id in 1..<200 {
      view.insert(Book(id: "\(id)", title: "", isbn: id == 150 ? "x" : nil, author: author))
      try view.save()
    }
    gate.writes.withLock { $0 = 0 }
    gate.fail(with: nil)
    try await container.flush()
    #expect(gate.writes.withLock { $0 } < 40)
    #expect(try await eventually { told.withLock { $0.count } == 1 })
    let text = told.withLock { $0.first ?? "" }
    #expect(text.hasPrefix("Book '150', Author 'a'") && text.hasSuffix("another Book has the same isbn"), "\(text)")
    #expect(try BackgroundContext(parent: container.persistentStoreCoordinator).count(FetchDescriptor<Book>()) == 199)
  }

  @Test("The changes of a type are found in their order, however many others were made and taken back")
  func keysOfAType() throws {
    let entities = try libraryModel().entities
    let seed = UInt64.random(in: 0..<1_000_000)
    var random = SeededGenerator(seed: seed)
    var pending = PendingChanges()
    for _ in 0..<2_000 {
      let key = EntityKey(random.pick(entities), .integer(.random(in: 0..<40, using: &random)))
      pending[key] =
        Int.random(in: 0..<3, using: &random) == 0 ? PendingChange(base: .unknown, row: nil, stamp: 0) : nil
      for entity in entities {
        #expect(pending.keys(of: entity) == pending.keys.filter { $0.entity == entity }, "seed \(seed)")
      }
    }
    pending.removeAll()
    #expect(entities.allSatisfy { pending.keys(of: $0).isEmpty })
  }

  @Test("A query that is read again within itself gives all rows to each", arguments: StoreKind.allCases)
  func queryWithinItself(_ kind: StoreKind) throws {
    let model = try libraryModel()
    try kind.withStore(model) { store in
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.attach(store, configuration: "")
      let context = coordinator.newContext()
      for id in 0..<5 { context.insert(Review(id: id, text: "")) }
      try context.save()
      let query = RowQuery(try model.entity(Review.self))
      var pairs: [[StoredValue]] = []
      for _ in 0..<2 {
        try store.read { reading in
          try reading.rows(query) { outer, _ in
            try reading.rows(query) { inner, _ in
              pairs.append([outer, inner])
              return true
            }
            return try reading.count(query) == 5
          }
        }
      }
      #expect(pairs.count == 50 && Set(pairs).count == 25)
    }
  }
}
