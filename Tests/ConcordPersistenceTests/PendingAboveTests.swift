import Concord
import Foundation
import Testing

@testable import ConcordPersistence

/// What a view has pending lies above what others store meanwhile, property by property.
@Suite("Pending changes above what others store")
struct PendingAboveTests {
  /// Where what the view has changed waits: in the view, until the store lets somebody write, or until the store can be written to.
  enum Place: CaseIterable { case unsaved, saved, refused }

  struct Case: CustomTestStringConvertible, Sendable {
    let kind: StoreKind
    let strategy: StrategyKind
    let place: Place

    var testDescription: String { "\(kind), \(strategy), \(place)" }

    static let all = StoreKind.combinations.flatMap { kind, strategy in
      Place.allCases.filter { $0 == .unsaved || !strategy.viewSavesToDisk }.map {
        Case(kind: kind, strategy: strategy, place: $0)
      }
    }
  }

  /// A view whose changes wait, and others who write to the same store.
  struct World {
    let test: Case
    let container: any PersistentContainer
    let gate: GateStore
    let others: BackgroundContext
    let errors: Locked<[String]>

    var view: ViewContext { container.viewContext }

    /// Changes the view; the changes wait.
    func change(_ body: (ViewContext) throws -> Void) throws {
      try body(view)
      if test.place != .unsaved { try view.save() }
    }

    /// Lets others write.
    func store(_ body: (BackgroundContext) throws -> Void) throws {
      try body(others)
      try others.save()
      container.persistentStoreCoordinator.settle()
      // Whoever is not told reads again.
      if !test.strategy.isKeptUpToDate {
        for id in 1...3 { _ = try view.find(Review.self, id: id) }
        for id in ["1", "2"] { _ = try view.find(Book.self, id: id) }
      }
    }

    /// Lets the changes be written.
    func write() async throws {
      try view.save()
      gate.openGate()
      gate.fail(with: nil)
      try await container.flush()
      container.persistentStoreCoordinator.settle()
    }
  }

  func withWorld(_ test: Case, _ body: (World) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let errors = Locked<[String]>([])
    let container = test.strategy.container(try libraryModel()) { error in
      if (error as? BackgroundSaveError)?.isPending == true { return }
      errors.withLock { $0.append("\(error)") }
    }
    let inner = try test.kind.open(container.model, in: folder)
    let gate = GateStore(inner)
    try container.persistentStoreCoordinator.attach(gate, configuration: "")
    let coordinator = PersistentStoreCoordinator(model: container.model)
    try coordinator.attach(inner, configuration: "")
    let others = coordinator.newContext()
    for id in 1...3 { others.insert(Review(id: id, text: "base", stars: 0)) }
    for id in ["1", "2"] { others.insert(Book(id: id, title: "base", author: Author(id: id, name: "base"))) }
    try others.save()
    if test.place == .saved { gate.closeGate() }
    if test.place == .refused { gate.fail(with: .locked(store: "x")) }
    try await body(World(test: test, container: container, gate: gate, others: others, errors: errors))
    gate.openGate()
    gate.fail(with: nil)
    try await container.flush()
    container.persistentStoreCoordinator.settle()
    #expect(errors.withLock { $0 } == [])
    container.persistentStoreCoordinator.detach(gate)
    try inner.close()
  }

  @Test("Each property that only others have changed is followed", arguments: Case.all)
  func otherProperty(_ test: Case) async throws {
    try await withWorld(test) { world in
      let review = try #require(try world.view.find(Review.self, id: 1))
      let query = try world.view.query(
        FetchDescriptor<Review>(predicate: #Predicate { $0.stars == 5 }, sortBy: [SortDescriptor(\.id)]))
      try world.change { try $0.update(Review.self, id: 1) { $0.text = "own" } }
      try world.store { try $0.update(Review.self, id: 1) { $0.stars = 5 } }
      let both = Review(id: 1, text: "own", stars: 5)
      #expect(review.value == both)
      #expect(try world.view.fetch(FetchDescriptor<Review>(predicate: #Predicate { $0.stars == 5 })) == [both])
      #expect(try world.view.count(FetchDescriptor<Review>(predicate: #Predicate { $0.stars == 0 })) == 2)
      if test.strategy.isKeptUpToDate { #expect(query.value == [both]) }
      try await world.write()
      #expect(review.value == both)
      #expect(try world.container.stored(Review.self, id: 1) == both)
    }
  }

  @Test("What others store again is followed again, whatever the view changes meanwhile", arguments: Case.all)
  func again(_ test: Case) async throws {
    for policy in [MergePolicy.byStamp, .objectTrump, .storeTrump, .error] {
      try await withWorld(test) { world in
        world.view.mergePolicy = policy
        let review = try #require(try world.view.find(Review.self, id: 1))
        for step in 1...3 {
          try world.change { try $0.update(Review.self, id: 1) { $0.text = "own \(step)" } }
          try world.store { try $0.update(Review.self, id: 1) { $0.stars = step } }
          #expect(review.value == Review(id: 1, text: "own \(step)", stars: step), "\(policy)")
        }
        try world.change { try $0.update(Review.self, id: 1) { $0.text = "own" } }
        try await world.write()
        let last = Review(id: 1, text: "own", stars: 3)
        #expect(review.value == last, "\(policy)")
        #expect(try world.container.stored(Review.self, id: 1) == last, "\(policy)")
      }
    }
  }

  @Test("What others have removed is out of what the view has pending", arguments: Case.all)
  func removedInside(_ test: Case) async throws {
    try await withWorld(test) { world in
      let book = try #require(try world.view.find(Book.self, id: "1"))
      let books = try world.view.query(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)]))
      try world.change { view in
        let reviews = try (1...3).map { try #require(try view.find(Review.self, id: $0)).value }
        try view.update(Book.self, id: "1") {
          $0.reviews = reviews.reversed()
          $0.editor = Author(id: "2", name: "base")
          $0.byLanguage = ["de": reviews[1]]
        }
      }
      try world.store { try $0.delete(Review.self, id: 2) }
      #expect(try world.view.find(Book.self, id: "1")?.value.reviews.map(\.id) == [3, 1])
      #expect(book.value.reviews.map(\.id) == [3, 1])
      #expect(book.value.byLanguage.isEmpty)
      #expect(try world.view.fetch(FetchDescriptor<Book>()).count == 2)
      #expect(books.value.count == 2)
      try world.store { try $0.delete(Author.self, id: "2") }
      #expect(book.value.editor == nil)
      #expect(try world.view.find(Book.self, id: "2") == nil)
      #expect(try world.view.fetch(FetchDescriptor<Book>()).count == 1)
      try await world.write()
      #expect(book.value.reviews.map(\.id) == [3, 1])
      #expect(try world.container.stored(Book.self, id: "1") == book.value)
    }
  }

  @Test("A book whose required author others remove goes with what the view has pending of it", arguments: Case.all)
  func removedRequired(_ test: Case) async throws {
    try await withWorld(test) { world in
      let book = try #require(try world.view.find(Book.self, id: "1"))
      let books = try world.view.query(FetchDescriptor<Book>())
      try world.change { try $0.update(Book.self, id: "1") { $0.author = Author(id: "2", name: "base") } }
      try world.store { try $0.delete(Author.self, id: "2") }
      #expect(try world.view.find(Book.self, id: "1") == nil)
      #expect(book.isRemoved)
      #expect(try world.view.count(FetchDescriptor<Book>()) == 0)
      if test.strategy.isKeptUpToDate { #expect(books.value == []) }
      try await world.write()
      #expect(try world.container.stored(Book.self, id: "1") == nil)
    }
  }
}
