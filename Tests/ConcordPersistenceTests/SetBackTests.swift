import Concord
import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

/// What a view saves, and changes again while that is being written: screens and readers show what it has now.
@Suite("Set back while the first change is being written")
struct SetBackTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let kind: StoreKind
    let strategy: StrategyKind

    var testDescription: String { "\(kind), \(strategy)" }

    static let all = StoreKind.combinationsOfManySteps.filter { !$1.viewSavesToDisk }.map {
      Case(kind: $0, strategy: $1)
    }
  }

  private func withWorld(_ test: Case, _ body: (PendingAboveTests.World) async throws -> Void) async throws {
    let inner = PendingAboveTests.Case(kind: test.kind, strategy: test.strategy, place: .unsaved)
    try await PendingAboveTests().withWorld(inner, body)
  }

  @Test("What was deleted and inserted as it was before shows no change that is being written", arguments: Case.all)
  func insertedAgain(_ test: Case) async throws {
    try await withWorld(test) { world in
      world.gate.closeGateBehind()
      try world.view.update(Review.self, id: 1) { $0.text = "own" }
      try world.view.save()
      #expect(try await eventually { try world.others.find(Review.self, id: 1)?.text == "own" })
      try world.view.delete(Review.self, id: 1)
      try world.view.save()
      world.view.insert(Review(id: 1, text: "base", stars: 0))
      try world.view.save()
      #expect(try world.view.find(Review.self, id: 1)?.value.text == "base")
      #expect(try BackgroundContext(parent: world.view).find(Review.self, id: 1)?.text == "base")
      try await world.write()
      #expect(try world.container.stored(Review.self, id: 1)?.text == "base")
    }
  }

  @Test("What was deleted and inserted in one save is there, also if others remove it meanwhile", arguments: Case.all)
  func insertedAgainInOneSave(_ test: Case) async throws {
    for isChangedBefore in [false, true] {
      try await withWorld(test) { world in
        world.gate.fail(with: .locked(store: "x"))
        if isChangedBefore { try world.view.update(Review.self, id: 1) { $0.text = "before" } }
        try world.view.save()
        let above = BackgroundContext(parent: world.view)
        try above.delete(Review.self, id: 1)
        above.insert(Review(id: 1, text: "again"))
        try above.save()
        try world.view.save()
        try world.store { try $0.delete(Review.self, id: 1) }
        try await world.write()
        #expect(try world.container.stored(Review.self, id: 1)?.text == "again", "\(isChangedBefore)")
      }
    }
  }

  @Test("What was set back wins over what others stored before, whenever the saves are written", arguments: Case.all)
  func aboveOthers(_ test: Case) async throws {
    for policy in [MergePolicy.byStamp, .objectTrump] {
      for isTogether in [true, false] {
        try await withWorld(test) { world in
          world.view.mergePolicy = policy
          world.gate.fail(with: .locked(store: "x"))
          try world.view.update(Review.self, id: 1) { $0.text = "own" }
          try world.view.save()
          try world.store { try $0.update(Review.self, id: 1) { $0.text = "others" } }
          if !isTogether { try await world.write() }
          try world.view.update(Review.self, id: 1) { $0.text = "base" }
          try world.view.save()
          #expect(try world.view.find(Review.self, id: 1)?.value.text == "base", "\(policy), \(isTogether)")
          try await world.write()
          #expect(try world.view.find(Review.self, id: 1)?.value.text == "base", "\(policy), \(isTogether)")
          #expect(try world.container.stored(Review.self, id: 1)?.text == "base", "\(policy), \(isTogether)")
        }
      }
    }
  }

  @Test("A relation that leads back into a cycle can be emptied", arguments: Case.all)
  func emptied(_ test: Case) async throws {
    try await withWorld(test) { world in
      try world.store { context in
        for id in 1...2 { context.insert(Person(id: id, name: "base")) }
        for (id, friend) in [(1, 2), (2, 1)] {
          let friend = try #require(try context.find(Person.self, id: friend))
          try context.update(Person.self, id: id) { $0.friends = [friend] }
        }
      }
      let person = try #require(try world.view.find(Person.self, id: 1))
      #expect(person.value.friends.map(\.id) == [2])
      try world.view.update(Person.self, id: 1) { $0.friends = [] }
      #expect(person.value.friends.isEmpty)
      try await world.write()
      #expect(try world.container.stored(Person.self, id: 1)?.friends == [])
      #expect(try world.container.stored(Person.self, id: 2)?.friends.map(\.id) == [1])
    }
  }

  @Test("What is brief where it comes from loses nothing where it stood whole", arguments: Case.all)
  func fromElsewhere(_ test: Case) async throws {
    try await withWorld(test) { world in
      try world.store { context in
        for id in 1...3 { context.insert(Person(id: id, name: "base")) }
        for (id, friend) in [(2, 3), (3, 2), (1, 3)] {
          let friend = try #require(try context.find(Person.self, id: friend))
          try context.update(Person.self, id: id) { $0.friends = [friend] }
        }
      }
      // 3 stands whole in 1, which is in no cycle with it, and brief in 2.
      let second = try #require(try world.view.find(Person.self, id: 2)).value
      #expect(second.friends.map(\.id) == [3] && second.friends[0].friends.isEmpty)
      try world.view.update(Person.self, id: 1) {
        #expect($0.friends[0].friends.map(\.id) == [2])
        $0.friends = [second]
      }
      #expect(try world.view.find(Person.self, id: 3)?.value.friends.map(\.id) == [2])
      try await world.write()
      #expect(try world.container.stored(Person.self, id: 3)?.friends.map(\.id) == [2])
      #expect(try world.container.stored(Person.self, id: 1)?.friends.map(\.id) == [2])
    }
  }

  /// 1 knows 2 and 3, who know each other: both stand whole in 1, and each is brief in the other.
  private func withFriends(_ test: Case, _ body: (PendingAboveTests.World) throws -> Void) async throws {
    try await withWorld(test) { world in
      try world.store { context in
        for id in 1...3 { context.insert(Person(id: id, name: "base")) }
        for (id, friends) in [(2, [3]), (3, [2]), (1, [2, 3])] {
          let friends = try friends.map { try #require(try context.find(Person.self, id: $0)) }
          try context.update(Person.self, id: id) { $0.friends = friends }
        }
      }
      try body(world)
      let shown = try (1...3).map { try world.view.find(Person.self, id: $0)?.value }
      try await world.write()
      #expect(try (1...3).map { try world.container.stored(Person.self, id: $0) } == shown)
    }
  }

  @Test("What stands nowhere but where it is brief loses nothing by an edit of it there", arguments: Case.all)
  func editedWhereBrief(_ test: Case) async throws {
    try await withFriends(test) { world in
      try world.view.update(Person.self, id: 1) {
        $0.friends.removeLast()
        $0.friends[0].friends[0].name = "edited"
      }
      let third = try #require(try world.view.find(Person.self, id: 3)).value
      #expect(third.name == "edited" && third.friends.map(\.id) == [2])
      #expect(try world.view.find(Person.self, id: 1)?.value.friends.map(\.id) == [2])
    }
  }

  @Test("What is emptied where it stood whole is empty, though it was brief further inside", arguments: Case.all)
  func emptiedInside(_ test: Case) async throws {
    try await withFriends(test) { world in
      try world.view.update(Person.self, id: 1) { $0.friends[1].friends = [] }
      #expect(try world.view.find(Person.self, id: 3)?.value.friends == [])
      #expect(try world.view.find(Person.self, id: 2)?.value.friends.map(\.id) == [3])
    }
    // Further inside, and whole there as well.
    try await withFriends(test) { world in
      try world.store { context in
        context.insert(Person(id: 4, name: "base"))
        let first = try #require(try context.find(Person.self, id: 1))
        try context.update(Person.self, id: 4) { $0.friends = [first, first.friends[1]] }
      }
      try world.view.update(Person.self, id: 4) { $0.friends[0].friends[1].friends = [] }
      #expect(try world.view.find(Person.self, id: 3)?.value.friends == [])
    }
    // As far inside as where it is brief.
    try await withFriends(test) { world in
      try world.store { context in
        context.insert(Person(id: 4, name: "base", friends: [try #require(try context.find(Person.self, id: 3))]))
        let friends = try [2, 4].map { try #require(try context.find(Person.self, id: $0)) }
        try context.update(Person.self, id: 1) { $0.friends = friends }
      }
      try world.view.update(Person.self, id: 1) { $0.friends[1].friends[0].friends = [] }
      #expect(try world.view.find(Person.self, id: 3)?.value.friends == [])
    }
  }

  @Test("What takes the place of what it stood in loses nothing", arguments: Case.all)
  func friendsOfFriends(_ test: Case) async throws {
    try await withFriends(test) { world in
      try world.view.update(Person.self, id: 1) { $0.friends = $0.friends[0].friends }
      #expect(try world.view.find(Person.self, id: 1)?.value.friends.map(\.id) == [3])
      #expect(try world.view.find(Person.self, id: 3)?.value.friends.map(\.id) == [2])
    }
  }

  // MARK: At random

  private enum Value: Hashable {
    case text(String?)
    case number(Int?)
    case ids([Int])
  }
  private typealias Rows = [String: [String: Value]]

  /// Few values, so that most changes set something back.
  private struct Naive {
    var now: Rows = [:]
    var saved: Rows = [:]

    mutating func delete(_ key: String, _ id: Int, outOf property: String) {
      now[key] = nil
      for other in now.keys {
        guard case .ids(let ids)? = now[other]?[property] else { continue }
        now[other]?[property] = .ids(ids.filter { $0 != id })
      }
    }
  }

  @Test("Whatever is set back, each reader shows what the model says", arguments: Case.all)
  func random(_ test: Case) async throws {
    for seed in TestOptions.seeds(TestOptions.steps.map { $0 / 1_000 } ?? 5) {
      try await withWorld(test) { try await run($0, test, seed: seed) }
    }
  }

  private func run(_ world: PendingAboveTests.World, _ test: Case, seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    var log: [String] = []
    var naive = Naive()
    let (view, gate) = (world.view, world.gate)
    try world.store { context in
      for id in 4...6 { context.insert(Review(id: id, text: "base", stars: 0)) }
      for id in 1...4 { context.insert(Person(id: id, name: "base")) }
    }
    for id in 1...6 { naive.now["r\(id)"] = ["text": .text("base"), "stars": .number(0)] }
    for id in 1...4 { naive.now["p\(id)"] = ["name": .text("base"), "friends": .ids([])] }
    for id in ["1", "2"] {
      naive.now["b\(id)"] = ["title": .text("base"), "editor": .text(nil), "reviews": .ids([]), "note": .text(nil)]
    }
    naive.saved = naive.now
    let shownReviews = try (1...3).map { try #require(try view.find(Review.self, id: $0)) }
    let shownBook = try #require(try view.find(Book.self, id: "2"))
    let shownPeople = try (1...2).map { try #require(try view.find(Person.self, id: $0)) }
    let query = try view.query(
      FetchDescriptor<Review>(predicate: #Predicate { $0.text == "base" }, sortBy: [SortDescriptor(\.id)]))
    let words = ["base", "a", "b"]

    func ids(_ prefix: String) -> [Int] {
      naive.now.keys.filter { $0.hasPrefix(prefix) }.compactMap { Int($0.dropFirst()) }.sorted()
    }

    /// Changes something in a context.
    func change(_ context: BackgroundContext) throws {
      let word = random.pick(words)
      switch Int.random(in: 0..<12, using: &random) {
      case 0, 1, 2:
        guard let id = ids("r").randomElement(using: &random) else { return }
        log.append("review \(id): text \(word)")
        try context.update(Review.self, id: id) { $0.text = word }
        naive.now["r\(id)"]?["text"] = .text(word)
      case 3:
        guard let id = ids("r").filter({ $0 > 3 }).randomElement(using: &random) else { return }
        let stars = random.pick([nil, 0, 1])
        log.append("review \(id): stars \(stars.map { "\($0)" } ?? "nil")")
        try context.update(Review.self, id: id) { $0.stars = stars }
        naive.now["r\(id)"]?["stars"] = .number(stars)
      case 4, 5:
        guard let book = ids("b").randomElement(using: &random) else { return }
        let editor = random.pick([nil, "1", "2"])
        let note = random.pick([nil, "n"])
        let list = Array(ids("r").shuffled(using: &random).prefix(random.pick([0, 0, 1, 2])))
        log.append("book \(book): title \(word), editor \(editor ?? "nil"), reviews \(list), note \(note ?? "nil")")
        let value = try editor.flatMap { try context.find(Author.self, id: $0) }
        let reviews = try list.map { try #require(try context.find(Review.self, id: $0)) }
        try context.update(Book.self, id: "\(book)") {
          ($0.title, $0.editor, $0.reviews) = (word, value, reviews)
          $0.medium = note.map { .note($0) } ?? .none
        }
        naive.now["b\(book)"] = [
          "title": .text(word), "editor": .text(editor), "reviews": .ids(list), "note": .text(note),
        ]
      case 6, 7:
        guard let id = ids("p").randomElement(using: &random) else { return }
        let list = Array(ids("p").shuffled(using: &random).prefix(random.pick([0, 1, 2])))
        log.append("person \(id): friends \(list)")
        let friends = try list.map { try #require(try context.find(Person.self, id: $0)) }
        try context.update(Person.self, id: id) { $0.friends = friends }
        naive.now["p\(id)"]?["friends"] = .ids(list)
      case 8:
        guard let id = ids("p").randomElement(using: &random) else { return }
        log.append("person \(id): name \(word)")
        try context.update(Person.self, id: id) { $0.name = word }
        naive.now["p\(id)"]?["name"] = .text(word)
      case 9:
        let id = Int.random(in: 4...6, using: &random)
        if ids("r").contains(id) {
          log.append("review \(id): deleted")
          try context.delete(Review.self, id: id)
          naive.delete("r\(id)", id, outOf: "reviews")
        } else {
          let stars = random.pick([nil, 0, 1])
          log.append("review \(id): inserted with \(word), \(stars.map { "\($0)" } ?? "nil")")
          context.insert(Review(id: id, text: word, stars: stars))
          naive.now["r\(id)"] = ["text": .text(word), "stars": .number(stars)]
        }
      case 10:
        let id = Int.random(in: 3...4, using: &random)
        if ids("p").contains(id) {
          log.append("person \(id): deleted")
          try context.delete(Person.self, id: id)
          naive.delete("p\(id)", id, outOf: "friends")
        } else {
          log.append("person \(id): inserted with \(word)")
          context.insert(Person(id: id, name: word))
          naive.now["p\(id)"] = ["name": .text(word), "friends": .ids([])]
        }
      default:
        if ids("b").contains(1) {
          log.append("book 1: deleted")
          try context.delete(Book.self, id: "1")
          naive.now["b1"] = nil
        } else {
          log.append("book 1: inserted with \(word)")
          context.insert(Book(id: "1", title: word, author: Author(id: "1", name: "base")))
          naive.now["b1"] = ["title": .text(word), "editor": .text(nil), "reviews": .ids([]), "note": .text(nil)]
        }
      }
    }

    for step in 0..<80 {
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<6:
        // One of the view's own calls, or a context above the view that saves at once.
        log.append("above:")
        let above = BackgroundContext(parent: view)
        let before = naive.now
        for _ in 0..<Int.random(in: 1...3, using: &random) { try change(above) }
        if Int.random(in: 0..<4, using: &random) == 0 {
          log.append("rolled back")
          naive.now = before
        } else {
          log.append("saved above, and all")
          // Who has nothing to save saves nothing of the view's.
          if above.hasChanges { naive.saved = naive.now }
          try above.save()
        }
      case 6..<11:
        guard let id = ids("r").randomElement(using: &random) else { continue }
        let word = random.pick(words)
        log.append("view, review \(id): text \(word)")
        try view.update(Review.self, id: id) { $0.text = word }
        naive.now["r\(id)"]?["text"] = .text(word)
      case 11:
        let id = Int.random(in: 4...6, using: &random)
        if ids("r").contains(id) {
          log.append("view, review \(id): deleted")
          try view.delete(Review.self, id: id)
          naive.delete("r\(id)", id, outOf: "reviews")
        } else {
          let word = random.pick(words)
          log.append("view, review \(id): inserted with \(word), 0")
          view.insert(Review(id: id, text: word, stars: 0))
          naive.now["r\(id)"] = ["text": .text(word), "stars": .number(0)]
        }
      case 12..<15:
        log.append("view: saves")
        try view.save()
        naive.saved = naive.now
      case 15:
        log.append("view: rolls back")
        view.rollback()
        naive.now = naive.saved
      case 16:
        let id = Int.random(in: 1...3, using: &random)
        let stars = random.pick([nil, 0, 1])
        log.append("others, review \(id): stars \(stars.map { "\($0)" } ?? "nil")")
        try world.store { try $0.update(Review.self, id: id) { $0.stars = stars } }
        naive.now["r\(id)"]?["stars"] = .number(stars)
        naive.saved["r\(id)"]?["stars"] = .number(stars)
      case 17:
        log.append("some are written")
        gate.openGate()
        gate.fail(with: nil)
        if Bool.random(using: &random) { try await world.container.flush() }
      default:
        let mode = random.pick(["behind", "closed", "fails"])
        log.append("gate: \(mode)")
        switch mode {
        case "behind": gate.closeGateBehind()
        case "closed": gate.closeGate()
        default: gate.fail(with: .locked(store: "x"))
        }
      }
      if Int.random(in: 0..<4, using: &random) == 0 { usleep(300) }
      world.container.persistentStoreCoordinator.settle()

      var problems: [String] = []
      func compare(_ what: String, _ reviews: [Review], _ books: [Book], _ people: [Person]) {
        var found: Rows = [:]
        for review in reviews { found["r\(review.id)"] = rows(review) }
        for book in books { found["b\(book.id)"] = rows(book) }
        for person in people { found["p\(person.id)"] = rows(person) }
        for key in Set(found.keys).union(naive.now.keys).sorted() where found[key] != naive.now[key] {
          problems.append("\(what) has \(key) as \(found[key] ?? [:]), not \(naive.now[key] ?? [:])")
        }
      }
      compare(
        "view", try view.fetch(FetchDescriptor<Review>()), try view.fetch(FetchDescriptor<Book>()),
        try view.fetch(FetchDescriptor<Person>()))
      let above = BackgroundContext(parent: view)
      compare(
        "above", try above.fetch(FetchDescriptor<Review>()), try above.fetch(FetchDescriptor<Book>()),
        try above.fetch(FetchDescriptor<Person>()))
      for review in shownReviews where rows(review.value) != naive.now["r\(review.value.id)"] {
        problems.append("shown \(review.value)")
      }
      for person in shownPeople where rows(person.value) != naive.now["p\(person.value.id)"] {
        problems.append("shown \(person.value)")
      }
      if rows(shownBook.value) != naive.now["b2"] { problems.append("shown \(shownBook.value)") }
      let bases = ids("r").filter { naive.now["r\($0)"]?["text"] == .text("base") }
      if query.value.map(\.id) != bases { problems.append("query \(query.value.map(\.id)), not \(bases)") }
      let count = try view.count(FetchDescriptor<Review>(predicate: #Predicate { $0.text == "base" }))
      if count != bases.count { problems.append("counted \(count), not \(bases.count)") }
      if !problems.isEmpty {
        let steps = log.suffix(40).joined(separator: "\n")
        Issue.record(
          "CONCORD_RANDOM_SEED=\(seed), step \(step), \(test.testDescription): \(problems)\n\(steps)")
        gate.openGate()
        gate.fail(with: nil)
        return
      }
    }
    try await world.write()
    var stored: Rows = [:]
    let reading = BackgroundContext(parent: world.container.persistentStoreCoordinator)
    for review in try reading.fetch(FetchDescriptor<Review>()) { stored["r\(review.id)"] = rows(review) }
    for book in try reading.fetch(FetchDescriptor<Book>()) { stored["b\(book.id)"] = rows(book) }
    for person in try reading.fetch(FetchDescriptor<Person>()) { stored["p\(person.id)"] = rows(person) }
    #expect(stored == naive.now, "CONCORD_RANDOM_SEED=\(seed), \(test.testDescription)")
  }

  private func rows(_ review: Review) -> [String: Value] {
    ["text": .text(review.text), "stars": .number(review.stars)]
  }
  private func rows(_ book: Book) -> [String: Value] {
    [
      "title": .text(book.title), "editor": .text(book.editor?.id), "reviews": .ids(book.reviews.map(\.id)),
      "note": .text(book.medium.note),
    ]
  }
  private func rows(_ person: Person) -> [String: Value] {
    ["name": .text(person.name), "friends": .ids(person.friends.map(\.id))]
  }
}
