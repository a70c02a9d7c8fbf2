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

    static let all = StoreKind.combinationsOfManySteps.flatMap { kind, strategy in
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

  @Test("What was set back while the first change is being written stays set back", arguments: StoreKind.allCases)
  func setBack(_ kind: StoreKind) async throws {
    let test = Case(kind: kind, strategy: .mixed, place: .unsaved)
    try await withWorld(test) { world in
      let review = try #require(try world.view.find(Review.self, id: 1))
      let texts = Locked<[String]>([])
      let subscription = review.observe(buffering: .every) { review in texts.withLock { $0.append(review.text) } }
      world.gate.closeGateBehind()
      try world.view.update(Review.self, id: 1) { $0.text = "own" }
      try world.view.save()
      #expect(try await eventually { try world.others.find(Review.self, id: 1)?.text == "own" })
      try world.view.update(Review.self, id: 1) { $0.text = "base" }
      try world.view.save()
      let below = BackgroundContext(parent: world.view)
      #expect(try below.find(Review.self, id: 1)?.text == "base")
      #expect(try world.view.find(Review.self, id: 1)?.value.text == "base")
      try await world.write()
      #expect(try world.container.stored(Review.self, id: 1)?.text == "base")
      await world.view.store.settled()
      #expect(texts.withLock { $0 } == ["base", "own", "base"])
      subscription.unsubscribe()
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

  @Test("In cycles, what others remove and change is followed around what the view has pending", arguments: Case.all)
  func cycles(_ test: Case) async throws {
    try await withWorld(test) { world in
      // A removal changes who refers to what goes, and is the fresher one.
      world.view.mergePolicy = .objectTrump
      let people = (1...3).map { Person(id: $0, name: "\($0)") }
      try world.store { context in
        for person in people { context.insert(person) }
        try context.update(Person.self, id: 1) { $0.friends = [people[1]] }
        try context.update(Person.self, id: 2) { $0.friends = [people[0]] }
        context.insert(Team(id: 1, name: "team", members: [1: people[0], 2: people[1]]))
      }
      let first = try #require(try world.view.find(Person.self, id: 1))
      let team = try #require(try world.view.find(Team.self, id: 1))
      try world.change { view in
        let others = try [2, 3].map { try #require(try view.find(Person.self, id: $0)).value }
        try view.update(Person.self, id: 1) { $0.friends = others }
        try view.update(Person.self, id: 3) { $0.team = team.value }
      }
      try world.store { context in
        try context.update(Person.self, id: 2) { $0.name = "two" }
        try context.update(Team.self, id: 1) { $0.name = "others" }
      }
      _ = (try world.view.find(Person.self, id: 1), try world.view.find(Team.self, id: 1))
      #expect(first.value.friends.map(\.name) == ["two", "3"])
      #expect(team.value.name == "others" && team.value.members.count == 2)
      try world.store { try $0.delete(Person.self, id: 2) }
      #expect(try world.view.find(Person.self, id: 1)?.value.friends.map(\.id) == [3])
      #expect(try world.view.find(Team.self, id: 1)?.value.members.keys.sorted() == [1])
      try world.store { try $0.delete(Team.self, id: 1) }
      #expect(try world.view.find(Person.self, id: 3)?.value.team == nil)
      #expect(try world.view.find(Team.self, id: 1) == nil && team.isRemoved)
      try await world.write()
      #expect(try world.container.stored(Person.self, id: 1)?.friends.map(\.id) == [3])
      #expect(first.value.friends.map(\.id) == [3])
    }
  }

  @Test("Wrappers, dictionaries, optionals and odd ids lie above what others store", arguments: Case.all)
  func shapes(_ test: Case) async throws {
    try await withWorld(test) { world in
      for id in ["", " ", "a'b\"c", "é", "e\u{301}", "%_\\", "👩🏽‍🚀\r\n", "\0x"] {
        let author = Author(id: id, name: "base")
        try world.store { context in
          context.insert(Book(id: id, title: "base", author: author, editor: author, medium: .note("base")))
        }
        let book = try #require(try world.view.find(Book.self, id: id), "\(id.debugDescription)")
        let review = try #require(try world.view.find(Review.self, id: 3)).value
        try world.change { view in
          try view.update(Book.self, id: id) { book in
            book.editor = nil
            book.medium = .required(review)
            book.byLanguage = ["é": review]
          }
        }
        try world.store { context in
          try context.update(Book.self, id: id) { book in
            book.title = "others"
            book.author.name = "others"
            book.extras = [.author(author), .note("x")]
            book.byNumber = [7: author]
          }
        }
        _ = try world.view.find(Book.self, id: id)
        let others = Author(id: id, name: "others")
        let both = Book(
          id: id, title: "others", author: others, byLanguage: ["é": review], byNumber: [7: others],
          medium: .required(review), extras: [.author(others), .note("x")])
        #expect(book.value == both, "\(id.debugDescription)")
      }
      try await world.write()
      for book in try world.others.fetch(FetchDescriptor<Book>()) where !["1", "2"].contains(book.id) {
        #expect(book.editor == nil && book.title == "others" && book.byLanguage.count == 1 && book.extras.count == 2)
      }
    }
  }

  @Test("What the view inserts and deletes above what others insert, change and delete", arguments: Case.all)
  func wholeEntities(_ test: Case) async throws {
    try await withWorld(test) { world in
      let view = world.view
      let shown = try (1...3).map { try #require(try view.find(Review.self, id: $0)) }
      // Others insert the same one.
      try world.change { $0.insert(Review(id: 10, text: "own", stars: 1)) }
      try world.store { $0.insert(Review(id: 10, text: "others", stars: 9)) }
      #expect(try view.find(Review.self, id: 10)?.value == Review(id: 10, text: "own", stars: 1))
      // A whole one above a change above what others have stored.
      try world.change { try $0.update(Review.self, id: 1) { $0.text = "own" } }
      try world.store { try $0.update(Review.self, id: 1) { $0.stars = 9 } }
      try world.change { $0.insert(Review(id: 1, text: "whole", stars: 0)) }
      #expect(shown[0].value == Review(id: 1, text: "whole", stars: 0))
      // Deleted here, changed there; deleted there, changed here.
      try world.store { try $0.update(Review.self, id: 2) { $0.stars = 9 } }
      try world.change { try $0.delete(Review.self, id: 2) }
      try world.change { try $0.update(Review.self, id: 3) { $0.text = "own" } }
      try world.store { try $0.delete(Review.self, id: 3) }
      #expect(shown[1].isRemoved)
      #expect(try view.fetch(FetchDescriptor<Review>(sortBy: [SortDescriptor(\.id)])).map(\.id) == [1, 3, 10])
      if test.place == .unsaved {
        view.rollback()
        #expect(
          try view.fetch(FetchDescriptor<Review>(sortBy: [SortDescriptor(\.id)])).map(\.stars) == [9, 9, 9])
        #expect(shown[0].value.text == "base" && shown[2].isRemoved)
        return
      }
      try await world.write()
      let stored = try world.others.fetch(FetchDescriptor<Review>(sortBy: [SortDescriptor(\.id)]))
      #expect(stored == [Review(id: 1, text: "whole", stars: 0), Review(id: 10, text: "others", stars: 9)])
      #expect(try view.fetch(FetchDescriptor<Review>(sortBy: [SortDescriptor(\.id)])) == stored)
      #expect(shown[0].value == stored[0] && shown[2].isRemoved)
    }
  }

  @Test("A context nested in a view sees all of them, and its save conflicts with none", arguments: StoreKind.allCases)
  func nested(_ kind: StoreKind) async throws {
    for place in Place.allCases {
      try await withWorld(Case(kind: kind, strategy: .indirectNested, place: place)) { world in
        let child = world.container.newBackgroundContext()
        child.mergePolicy = .error
        world.view.mergePolicy = .error
        try world.change { try $0.update(Book.self, id: "1") { $0.title = "view" } }
        try child.update(Book.self, id: "1") { $0.isbn = "child" }
        try world.store { try $0.update(Book.self, id: "1") { $0.author.name = "others" } }
        try world.store { try $0.update(Book.self, id: "1") { $0.editor = Author(id: "9", name: "editor") } }
        var all = Book(
          id: "1", title: "view", isbn: "child", author: Author(id: "1", name: "others"),
          editor: Author(id: "9", name: "editor"))
        #expect(try child.find(Book.self, id: "1") == all)
        try child.update(Book.self, id: "1") { $0.editor = nil }
        all.editor = nil
        try child.save()
        #expect(try world.view.find(Book.self, id: "1")?.value == all)
        try world.store { try $0.update(Book.self, id: "1") { $0.author.name = "again" } }
        all.author.name = "again"
        #expect(try world.view.find(Book.self, id: "1")?.value == all)
        try await world.write()
        #expect(try world.container.stored(Book.self, id: "1") == all)
      }
    }
  }
}
