import Concord
import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

extension PendingAboveTests {
  /// What is stored, what the view has saved above it, and what it has not: each property on its own, in the plainest way. The view
  /// and others never change the same property, so that no policy is asked.
  struct Naive {
    enum Value: Equatable {
      case text(String)
      case number(Int?)
      case id(String?)
      case ids([Int])
    }
    typealias Rows = [String: [String: Value]]

    struct Layer {
      var rows: Rows = [:]
      var removed: Set<String> = []

      mutating func merge(_ later: Layer) {
        for (key, values) in later.rows { rows[key, default: [:]].merge(values) { $1 } }
        for key in later.removed { rows[key] = nil }
        removed.formUnion(later.removed)
      }
    }

    var stored: Rows = [:]
    var saved = Layer()
    var unsaved = Layer()

    var shown: Rows {
      var all = saved
      all.merge(unsaved)
      return Self.rows(stored, all)
    }

    mutating func write() {
      stored = Self.rows(stored, saved)
      saved = Layer()
    }

    private static func rows(_ stored: Rows, _ layer: Layer) -> Rows {
      var rows = stored
      for (key, values) in layer.rows { rows[key, default: [:]].merge(values) { $1 } }
      for key in layer.removed { rows[key] = nil }
      for (key, values) in rows {
        guard case .ids(let ids)? = values["reviews"] else { continue }
        let left = ids.filter { rows["r\($0)"] != nil }
        rows[key]?["reviews"] = .ids(left)
      }
      return rows
    }

    /// What the view has changed of an entity, saved or not.
    func isPending(_ key: String, _ property: String? = nil) -> Bool {
      [saved, unsaved].contains { layer in
        layer.removed.contains(key) || layer.rows[key].map { property.map($0.keys.contains) ?? true } ?? false
      }
    }
  }

  @Test("Whatever the view and others do, each shows what the model says", arguments: Case.all)
  func random(_ test: Case) async throws {
    for seed in TestOptions.seeds((TestOptions.steps ?? 0) / 10_000) { try await run(test, seed: seed) }
  }

  private func run(_ test: Case, seed: UInt64) async throws {
    try await withWorld(test) { world in
      var random = SeededGenerator(seed: seed)
      var log: [String] = []
      var next = 10
      var naive = Naive()
      for id in 1...3 { naive.stored["r\(id)"] = ["text": .text("base"), "stars": .number(0)] }
      for id in ["1", "2"] {
        naive.stored["b\(id)"] = ["title": .text("base"), "editor": .id(nil), "reviews": .ids([])]
        naive.stored["a\(id)"] = ["name": .text("base")]
      }
      let isIndirect = test.place != .unsaved
      let view = world.view
      let good = try view.query(
        FetchDescriptor<Review>(predicate: #Predicate { ($0.stars ?? 0) >= 2 }, sortBy: [SortDescriptor(\.id)]))
      let texts = try view.query(
        FetchDescriptor<Review>(
          sortBy: [SortDescriptor(\.text, comparator: .lexical), SortDescriptor(\.id)], fetchLimit: 3))
      let books = try view.query(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title), SortDescriptor(\.id)]))
      let held = try view.find(Book.self, id: "1")

      func reviews(_ rows: Naive.Rows) -> [Int] {
        rows.keys.filter { $0.hasPrefix("r") }.compactMap { Int($0.dropFirst()) }.sorted()
      }

      for step in 0..<60 {
        let shown = naive.shown
        let ids = reviews(shown)
        let book = random.pick(["1", "2"])
        let word = random.pick(["a", "b", "c", "d"]) + "\(step)"
        switch Int.random(in: 0..<15, using: &random) {
        case 0, 1:
          guard let id = ids.randomElement(using: &random) else { continue }
          log.append("view: review \(id) has text \(word)")
          try view.update(Review.self, id: id) { $0.text = word }
          naive.unsaved.rows["r\(id)", default: [:]]["text"] = .text(word)
        case 2:
          log.append("view: book \(book) has title \(word)")
          try view.update(Book.self, id: book) { $0.title = word }
          naive.unsaved.rows["b\(book)", default: [:]]["title"] = .text(word)
        case 3, 4:
          let list = Array(ids.shuffled(using: &random).prefix(.random(in: 0...4, using: &random)))
          log.append("view: book \(book) has reviews \(list)")
          let values = try list.map { try #require(try view.find(Review.self, id: $0)?.value) }
          try view.update(Book.self, id: book) { $0.reviews = values }
          naive.unsaved.rows["b\(book)", default: [:]]["reviews"] = .ids(list)
        case 5:
          let editor = random.pick([nil, "1", "2"])
          log.append("view: book \(book) has editor \(editor ?? "nil")")
          let value = try editor.flatMap { try view.find(Author.self, id: $0)?.value }
          try view.update(Book.self, id: book) { $0.editor = value }
          naive.unsaved.rows["b\(book)", default: [:]]["editor"] = .id(editor)
        case 6:
          guard let id = ids.randomElement(using: &random) else { continue }
          log.append("view: deletes review \(id)")
          try view.delete(Review.self, id: id)
          naive.unsaved.rows["r\(id)"] = nil
          naive.unsaved.removed.insert("r\(id)")
        case 7:
          next += 1
          log.append("view: inserts review \(next)")
          view.insert(Review(id: next, text: word, stars: 1))
          naive.unsaved.rows["r\(next)"] = ["text": .text(word), "stars": .number(1)]
        case 8:
          log.append("view: saves")
          try view.save()
          naive.saved.merge(naive.unsaved)
          naive.unsaved = .init()
          if !isIndirect {
            try await world.container.flush()
            naive.write()
          }
        case 9:
          log.append("view: rolls back")
          view.rollback()
          naive.unsaved = .init()
        case 10, 11:
          let mine = reviews(naive.stored).filter { !naive.isPending("r\($0)", "stars") && ids.contains($0) }
          guard let id = mine.randomElement(using: &random) else { continue }
          let stars = random.pick([nil, 1, 2, 3])
          log.append("others: review \(id) has \(stars.map { "\($0)" } ?? "no") stars")
          try world.store { try $0.update(Review.self, id: id) { $0.stars = stars } }
          naive.stored["r\(id)"]?["stars"] = .number(stars)
        case 12:
          log.append("others: author \(book) has name \(word)")
          try world.store { try $0.update(Book.self, id: book) { $0.author.name = word } }
          naive.stored["a\(book)"]?["name"] = .text(word)
        case 13:
          let inBooks = ["b1", "b2"].flatMap { key -> [Int] in
            if case .ids(let ids)? = naive.stored[key]?["reviews"] { ids } else { [] }
          }
          let mine = reviews(naive.stored).filter { !naive.isPending("r\($0)") && !inBooks.contains($0) }
          guard let id = mine.randomElement(using: &random) else { continue }
          log.append("others: delete review \(id)")
          try world.store { try $0.delete(Review.self, id: id) }
          naive.stored["r\(id)"] = nil
        default:
          guard isIndirect else { continue }
          log.append("written")
          world.gate.openGate()
          world.gate.fail(with: nil)
          try await world.container.flush()
          naive.write()
          if test.place == .saved { world.gate.closeGate() } else { world.gate.fail(with: .locked(store: "x")) }
        }
        world.container.persistentStoreCoordinator.settle()
        let expected = naive.shown
        var found: Naive.Rows = [:]
        func add(_ review: Review) {
          found["r\(review.id)"] = ["text": .text(review.text), "stars": .number(review.stars)]
        }
        func add(_ author: Author) { found["a\(author.id)"] = ["name": .text(author.name)] }
        func add(_ book: Book) {
          found["b\(book.id)"] = [
            "title": .text(book.title), "editor": .id(book.editor?.id), "reviews": .ids(book.reviews.map(\.id)),
          ]
          add(book.author)
          if let editor = book.editor { add(editor) }
          for review in book.reviews { add(review) }
        }
        for review in try view.fetch(FetchDescriptor<Review>()) { add(review) }
        for author in try view.fetch(FetchDescriptor<Author>()) { add(author) }
        for book in try view.fetch(FetchDescriptor<Book>()) { add(book) }
        var problems: [String] = []
        if found != expected { problems.append("fetched \(found), not \(expected)") }
        let all = try view.fetch(FetchDescriptor<Review>())
        let best = all.filter { ($0.stars ?? 0) >= 2 }.sorted { $0.id < $1.id }
        let count = try view.count(FetchDescriptor<Review>(predicate: #Predicate { ($0.stars ?? 0) >= 2 }))
        if count != best.count { problems.append("counted \(count), not \(best.count)") }
        if test.strategy.isKeptUpToDate {
          let firstTexts = Array(all.sorted { ($0.text, $0.id) < ($1.text, $1.id) }.prefix(3))
          if good.value != best { problems.append("the query shows \(good.value), not \(best)") }
          if texts.value != firstTexts { problems.append("the query shows \(texts.value), not \(firstTexts)") }
          for book in books.value { add(book) }
          if let held { add(held.value) }
          if found != expected { problems.append("observers show \(found), not \(expected)") }
        }
        if !problems.isEmpty {
          let steps = log.suffix(30).joined(separator: "\n")
          Issue.record("CONCORD_RANDOM_SEED=\(seed), step \(step), \(test.testDescription): \(problems)\n\(steps)")
          return
        }
      }
      try await world.write()
      naive.saved.merge(naive.unsaved)
      naive.write()
      for id in reviews(naive.shown) {
        let review = try world.container.stored(Review.self, id: id)
        let values = review.map { ["text": Naive.Value.text($0.text), "stars": .number($0.stars)] }
        #expect(values == naive.stored["r\(id)"], "CONCORD_RANDOM_SEED=\(seed)")
      }
      #expect(try view.count(FetchDescriptor<Review>()) == reviews(naive.shown).count, "CONCORD_RANDOM_SEED=\(seed)")
    }
  }
}
