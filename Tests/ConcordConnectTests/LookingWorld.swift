import Concord
import ConcordTestShared
import ConcordTestSupport
import Foundation

@testable import ConcordConnect

/// Connects over one store, each with a context, and with live results whose answers are known.
struct LookingWorld {
  private(set) var log: [String] = []
  private var sides: [Side] = []
  private var random: SeededNumbers
  /// The search and the condition of the last step.
  private var (query, condition) = (SearchQuery(""), #Predicate<Book> { _ in true })

  private struct Side {
    let name: String
    let connect: TestConnect
    let context: BackgroundContext
    let live: [LiveAnswer]
  }

  init(_ connects: [TestConnect], _ random: SeededNumbers) throws {
    self.random = random
    for (index, connect) in connects.enumerated() {
      connect.suspended = true
      connect.outbox.register(Alteration.self, Retitle.self)
      let live = try (0..<4).map { _ in try LiveAnswer(connect.viewContext, &self.random) }
      sides.append(
        Side(name: "side \(index)", connect: connect, context: connect.newBackgroundContext(), live: live))
      for answer in live { log.append("side \(index): \(answer.name)") }
    }
  }

  // MARK: Steps

  private static let ids = 1...14
  private static let words = [
    "red", "Réd", "pony", "ponies", "straße", "STRASSE", "ﬁsh", "fish", "検索", "a-b", "İs", "is", "e\u{301}", "\u{E9}",
    "x\0y",
  ]
  fileprivate static let searches = [
    "red", "-red", "pon*", "\"red pony\"", "strasse OR fish", "NOT (red OR pony)", "検索 OR is -fish", "\u{E9}", "fi*",
    "",
  ]

  private mutating func book() -> Book {
    let words = (0..<Int.random(in: 0...4, using: &random)).map { _ in random.pick(Self.words) }
    return Book(
      id: .random(in: Self.ids, using: &random), title: words.joined(separator: random.pick([" ", "-", ", "])),
      price: Double(Int.random(in: -3..<8, using: &random)), shelf: .random(in: 0..<4, using: &random))
  }

  /// Does something, which may be refused.
  mutating func step() async {
    let side = random.pick(sides)
    let (connect, context) = (side.connect, side.context)
    let (view, undo) = (connect.viewContext, connect.undoManager)
    let book = book()
    let (id, title, isFirst) = (book.id, book.title, Bool.random(using: &random))
    let text = random.pick(Self.searches)
    let least = Double(Int.random(in: 0..<8, using: &random))
    query = SearchQuery(text)
    condition = isFirst ? #Predicate { $0.price >= least } : Book.matching(query)
    let condition = condition
    let those = isFirst ? "from \(least) on" : "with '\(text)'"
    let what: String
    let act: () async throws -> Void
    switch Int.random(in: 0..<21, using: &random) {
    case 0, 1:
      what = "saves \(book)"
      act = {
        context.insert(book)
        try context.save()
      }
    case 2: (what, act) = ("inserts \(book)", { context.insert(book) })
    case 3:
      what = "deletes \(id), and saves"
      act = {
        try context.delete(Book.self, id: id)
        try context.save()
      }
    case 4:
      what = "sets those \(those) to '\(title)'"
      act = { try context.update(Book.self, where: condition) { $0.title = title } }
    case 5:
      what = "sets those \(those) to '\(title)', and saves"
      act = {
        try context.update(Book.self, where: condition) { $0.title = title }
        try context.save()
      }
    case 6:
      what = "deletes those \(those), and saves"
      act = {
        try context.delete(Book.self, where: condition)
        try context.save()
      }
    case 7: (what, act) = ("view: inserts \(book)", { view.insert(book) })
    case 8:
      what = "view: sets those \(those) to '\(title)'"
      act = { try view.update(Book.self, where: condition) { $0.title = title } }
    case 9: (what, act) = ("view: deletes \(id)", { try view.delete(Book.self, id: id) })
    case 10: (what, act) = ("view: saves", { try view.save() })
    case 11: (what, act) = ("view: rolls back", { view.rollback() })
    case 12:
      what = "records: sets those \(those) to '\(title)'"
      act = { try undo.record("Set") { _ = try $0.update(Book.self, where: condition) { $0.title = title } } }
    case 13:
      what = "records: inserts \(book), deletes those \(those)"
      act = {
        try undo.record("Insert and delete") { view in
          view.insert(book)
          _ = try view.delete(Book.self, where: condition)
        }
      }
    case 14: (what, act) = ("undoes", { try undo.undo() })
    case 15: (what, act) = ("redoes", { try undo.redo() })
    case 16:
      let kind: Alteration.Kind = random.pick([.put(book), .remove(id), .raise(id, by: 1)])
      (what, act) = ("forwards \(kind)", { try await connect.forward(Alteration(kind: kind)) })
    case 17:
      what = "forwards as a step that the title of \(id) is '\(title)'"
      act = { try await connect.forward(Retitle(book: id, title: title), as: "Retitle") }
    case 18:
      let forwarded = connect.outbox.undoManager
      what = "\(isFirst ? "undoes" : "redoes") what was forwarded"
      act = { _ = try await isFirst ? forwarded.undo() : forwarded.redo() }
    case 19:
      what = "purges all but those \(those)"
      act = { _ = try context.purge(Book.self, keeping: .matching(condition)) }
    default:
      what = "sends"
      // One of them sends for all.
      let connects = sides.map(\.connect)
      act = {
        for connect in connects { connect.suspended = false }
        for connect in connects { await connect.outbox.idle() }
        for connect in connects { connect.suspended = true }
      }
    }
    var outcome = ""
    do { try await act() } catch { outcome = ": \(error)" }
    log.append("\(side.name) \(what)\(outcome)")
  }

  // MARK: Comparing

  /// What is not as it has to be.
  func failure() async throws -> String? {
    for side in sides { try await side.connect.flush() }
    for side in sides { side.connect.persistentStoreCoordinator.settle() }
    for side in sides {
      let contexts = [("a new context", side.connect.newBackgroundContext()), ("the context", side.context)]
      for (name, context) in contexts {
        if let failure = try failure(in: context) { return "\(side.name), \(name): \(failure)" }
      }
      let all = try side.connect.viewContext.fetch(FetchDescriptor<Book>())
      let count = try side.connect.viewContext.aggregate(Book.self, where: condition, .count)
      let expected = try all.count { try condition.evaluate($0) }
      if count != expected { return "\(side.name), the view counts \(count), not \(expected)" }
    }
    // What another one has saved is shown when it is told.
    var failure: String?
    _ = try await eventually {
      failure = try sides.lazy.compactMap { try shownFailure(of: $0) }.first
      return failure == nil
    }
    return failure
  }

  private func failure(in context: BackgroundContext) throws -> String? {
    let all = try context.fetch(FetchDescriptor<Book>())
    let found = try context.fetch(FetchDescriptor<Book>(search: query))
    let hits = try all.hits(of: query)
    if found != hits { return "a search for '\(query)' finds \(found), not \(hits)" }
    let some = try all.filter { try condition.evaluate($0) }
    let (count, sum, least, most) = try context.aggregate(
      Book.self, where: condition, .count, .sum(\.price), .min(\.title), .max(\.shelf))
    let first = some.map(\.title).min { $0.composed.lexicographicallyPrecedes($1.composed) }
    let (total, highest) = (some.map(\.price).reduce(0, +), some.map(\.shelf).max())
    if count != some.count || sum != total || least != first || most != highest {
      return "aggregates \((count, sum, least, most)) of \(some)"
    }
    let groups = try context.aggregate(Book.self, where: condition, by: \.title, .count)
    let expected = Dictionary(some.map { ($0.title, 1) }, uniquingKeysWith: +)
    return groups == expected ? nil : "groups \(groups), not \(expected)"
  }

  private func shownFailure(of side: Side) throws -> String? {
    let (connect, view) = (side.connect, side.connect.viewContext)
    let shown = try Self.ids.compactMap { try view.find(Book.self, id: $0) }.filter { !$0.isRemoved }.map(\.value)
    for answer in side.live { if let failure = try answer.failure(shown) { return "\(side.name), \(failure)" } }
    // Without changes a view shows what is stored.
    if view.hasChanges || !connect.outbox.pending.isEmpty { return nil }
    let stored = try connect.stored(Book.self)
    return shown == stored ? nil : "\(side.name) shows \(shown), not \(stored)"
  }
}

/// A live result, and what it has to be for what is shown.
private struct LiveAnswer {
  let name: String
  private let difference: ([Book]) throws -> (found: Any, expected: Any)?

  init(_ view: ViewContext, _ random: inout SeededNumbers) throws {
    let limit = random.pick([nil, 0, 1, 3])
    let least = Double(Int.random(in: 0..<6, using: &random))
    let condition = Bool.random(using: &random) ? #Predicate<Book> { $0.price >= least } : nil
    func those(_ shown: [Book]) throws -> [Book] { try shown.filter { try condition?.evaluate($0) ?? true } }
    let (which, limitName) = (condition == nil ? "all" : "from \(least) on", limit.map { ", at most \($0)" } ?? "")
    switch Int.random(in: 0..<3, using: &random) {
    case 0:
      let text = random.pick(LookingWorld.searches)
      let query = SearchQuery(text)
      let hits = try view.search(query, in: Book.self, where: condition, limit: limit)
      name = "the search for '\(text)', \(which)\(limitName)"
      difference = { shown in
        let (found, expected) = (hits.value.map(\.entity), try those(shown).hits(of: query).prefix(limit ?? .max))
        return found == Array(expected) ? nil : (found, expected)
      }
    case 1:
      let (offset, order) = (random.pick([nil, 1, 2]), Int.random(in: 0..<3, using: &random))
      let sorts: [[SortDescriptor<Book>]] = [[], [SortDescriptor(\.price)], [SortDescriptor(\.shelf, order: .reverse)]]
      let live = try view.query(
        FetchDescriptor<Book>(predicate: condition, sortBy: sorts[order], fetchLimit: limit, fetchOffset: offset))
      name = "the query in order \(order), \(which)\(limitName), without the first \(offset ?? 0)"
      difference = { shown in
        let sorted = try those(shown).sorted { a, b in
          switch order {
          case 1: (a.price, a.id) < (b.price, b.id)
          case 2: (-a.shelf, a.id) < (-b.shelf, b.id)
          default: a.id < b.id
          }
        }
        let expected = Array(sorted.dropFirst(offset ?? 0).prefix(limit ?? .max))
        return live.value == expected ? nil : (live.value, expected)
      }
    default:
      let live = try view.query(FetchDescriptor<Book>(predicate: condition)).sections(by: \.title)
      name = "the sections of \(which)"
      difference = { shown in
        let expected = Dictionary(grouping: try those(shown), by: \.title)
        let found = Dictionary(uniqueKeysWithValues: live.value.map { ($0.id, Array($0.elements)) })
        return found == expected ? nil : (found, expected)
      }
    }
  }

  func failure(_ shown: [Book]) throws -> String? {
    try difference(shown).map { "\(name): \($0.found), not \($0.expected)" }
  }
}

extension [Book] {
  /// The hits of a search, the best first.
  fileprivate func hits(of query: SearchQuery) throws -> [Book] {
    try filter { try Book.matching(query).evaluate($0) }
      .sorted { ($0[searchRank: query], -$0.id) > ($1[searchRank: query], -$1.id) }
  }
}

extension String {
  /// The scalars by which texts are ordered.
  fileprivate var composed: [UInt32] { precomposedStringWithCanonicalMapping.unicodeScalars.map(\.value) }
}

extension SeededNumbers {
  fileprivate mutating func pick<T>(_ list: [T]) -> T { list[Int.random(in: list.indices, using: &self)] }
}
