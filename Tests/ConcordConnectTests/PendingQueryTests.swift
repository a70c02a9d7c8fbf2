import Concord
import ConcordTestShared
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

@Suite("Queries show what is pending")
struct PendingQueryTests {
  /// A live query of either type, beside what it has to show.
  private struct Asked {
    let name: String
    let problem: (PendingQueryWorld) -> String?
    let kept: any Sendable
  }

  private func ask<T: PersistentEntity & Equatable, Key: Hashable & Sendable>(
    _ connect: TestConnect, _ name: String, _ descriptor: FetchDescriptor<T>,
    sections property: any KeyPath<T, Key> & Sendable, _ all: @escaping (PendingQueryWorld) -> [T]
  ) throws -> Asked where T.ID == Int {
    let query = try connect.viewContext.query(descriptor)
    let sections = query.sections(by: property)
    let torn = Locked<[String]>([])
    let isRight: @Sendable ([T]) -> Bool = { shown in
      let isSorted = zip(shown, shown.dropFirst()).allSatisfy { !Self.precedes($1, $0, descriptor.sortBy) }
      let isMeant = shown.allSatisfy { (try? descriptor.predicate?.evaluate($0)) ?? true }
      return isSorted && isMeant && shown.count <= descriptor.fetchLimit ?? .max
    }
    let subscription = query.observe(buffering: .every) { shown in
      if !isRight(shown) { torn.withLock { $0.append("\(shown)") } }
    }
    return Asked(
      name: name,
      problem: { world in
        let found = all(world).filter { (try? descriptor.predicate?.evaluate($0)) ?? true }
          .sorted { Self.precedes($0, $1, descriptor.sortBy) }
        let expected = Array(
          found.dropFirst(descriptor.fetchOffset ?? 0).prefix(descriptor.fetchLimit ?? .max))
        let shown = query.value
        if shown != expected { return "\(name) shows\n\(shown)\nnot\n\(expected)" }
        var keys: [Key] = []
        for value in expected where !keys.contains(value[keyPath: property]) { keys.append(value[keyPath: property]) }
        let grouped = keys.map { key in expected.filter { $0[keyPath: property] == key } }
        if sections.value.map(\.id) != keys || sections.value.map({ Array($0.elements) }) != grouped {
          return "the sections of \(name) are\n\(sections.value)\nnot\n\(grouped)"
        }
        return torn.withLock { $0.first }.map { "\(name) has shown \($0)" }
      }, kept: subscription)
  }

  private static func precedes<T: Identifiable>(_ a: T, _ b: T, _ order: [SortDescriptor<T>]) -> Bool
  where T.ID == Int {
    for descriptor in order {
      switch descriptor.compare(a, b) {
      case .orderedAscending: return true
      case .orderedDescending: return false
      case .orderedSame: continue
      }
    }
    return a.id < b.id
  }

  private func askAny(_ connect: TestConnect, _ generator: inout SeededNumbers) throws -> Asked {
    let limit = [nil, 1, 3, 5].randomElement(using: &generator) ?? nil
    let offset = [nil, 1, 2].randomElement(using: &generator) ?? nil
    let least = Double(Int.random(in: 0..<6, using: &generator))
    let name = ["a", "b", "c"].randomElement(using: &generator) ?? "a"
    let what = "limit \(limit as Any), offset \(offset as Any), \(least), \(name)"
    if Bool.random(using: &generator) {
      let predicates: [Predicate<Book>?] = [
        nil, #Predicate { $0.price >= least }, #Predicate { $0.title == name },
        #Predicate { $0.price < least && $0.title != name },
        Book.matching(SearchQuery("\(name) OR -(a OR b)"), and: #Predicate { $0.price >= least }),
      ]
      let orders: [[SortDescriptor<Book>]] = [
        [], [SortDescriptor(\.price)], [SortDescriptor(\.title, order: .reverse), SortDescriptor(\.price)],
        [SortDescriptor(\.price, order: .reverse)],
        [SortDescriptor(\.[searchRank: SearchQuery("\(name) OR -(a OR b)")], order: .reverse)],
      ]
      let (predicate, order) = (Int.random(in: 0..<5, using: &generator), Int.random(in: 0..<5, using: &generator))
      return try ask(
        connect, "books, predicate \(predicate), order \(order), \(what)",
        FetchDescriptor(
          predicate: predicates[predicate], sortBy: orders[order], fetchLimit: limit, fetchOffset: offset),
        sections: \.title
      ) { Array($0.books.values) }
    }
    let predicates: [Predicate<Novel>?] = [
      nil, #Predicate { $0.author.name == name }, #Predicate { $0.author.name < name || $0.title == name },
    ]
    let orders: [[SortDescriptor<Novel>]] = [
      [], [SortDescriptor(\.author.name)], [SortDescriptor(\.title), SortDescriptor(\.author.name, order: .reverse)],
    ]
    let (predicate, order) = (Int.random(in: 0..<3, using: &generator), Int.random(in: 0..<3, using: &generator))
    return try ask(
      connect, "novels, predicate \(predicate), order \(order), \(what)",
      FetchDescriptor(predicate: predicates[predicate], sortBy: orders[order], fetchLimit: limit, fetchOffset: offset),
      sections: \.author.name
    ) { $0.novels }
  }

  private func anyAction(_ world: PendingQueryWorld, _ generator: inout SeededNumbers) -> Alteration {
    let (book, title) = (
      Int.random(in: 1...14, using: &generator), ["a", "b", "c"].randomElement(using: &generator) ?? "a"
    )
    let author = Int.random(in: 1...3, using: &generator)
    switch Int.random(in: 0..<9, using: &generator) {
    case 0..<3: return Alteration(kind: .raise(book, by: Double(Int.random(in: -3...3, using: &generator))))
    case 3, 4:
      let price = Double(Int.random(in: 0..<6, using: &generator))
      return Alteration(kind: .put(Book(id: book, title: title, price: price)))
    case 5: return Alteration(kind: .remove(book))
    case 6: return Alteration(kind: .rename(author, title))
    case 7:
      let known = world.authors[author] ?? Author(id: author, name: title)
      return Alteration(kind: .write(Novel(id: book, title: title, author: known)))
    default: return Alteration(kind: .retitle(book, title))
    }
  }

  @Test(
    "After each step every query shows what it finds among the shown entities, and no state that is none",
    arguments: StoreKind.allCases)
  func random(_ kind: StoreKind) async throws {
    for seed in TestOptions.seeds(kind.isForManySeeds ? 12 : 2, from: 1) { try await run(kind, seed) }
  }

  private func run(_ kind: StoreKind, _ seed: UInt64) async throws {
    var generator = SeededNumbers(seed: seed)
    let refused = Locked<Set<String>>([])
    let transport = ScriptedTransport { request in
      let key = request.headers["Idempotency-Key"] ?? ""
      return TransportResponse(status: refused.withLock { $0.contains(key) } ? 422 : 204)
    }
    try await withOutbox(kind, transport, policy: OutboxPolicy(dependents: .goOn)) { connect in
      connect.suspended = true
      var stored = PendingQueryWorld()
      for id in 1...9 { stored.books[id] = Book(id: id, title: ["a", "b", "c"][id % 3], price: Double(id % 5)) }
      for id in 1...3 { stored.authors[id] = Author(id: id, name: ["a", "b", "c"][id - 1]) }
      for id in 1...9 { stored.titles[id] = ("t\(id % 4)", id % 3 + 1) }
      try connect.store(stored.books.values.sorted { $0.id < $1.id })
      try connect.store(stored.novels.sorted { $0.id < $1.id })
      var pending: [(action: Alteration, isRefused: Bool)] = []
      var shelves: [Int: Int] = [:]
      var asked: [Asked] = []
      var log: [String] = []
      func shown() -> PendingQueryWorld {
        var world = stored
        for (id, shelf) in shelves { world.books[id]?.shelf = shelf }
        for action in pending { world.apply(action.action) }
        return world
      }
      for step in 0..<60 {
        switch Int.random(in: 0..<16, using: &generator) {
        case 0..<7:
          let action = anyAction(shown(), &generator)
          // What the view has changed it shows whoever removes it.
          if case .remove(let id) = action.kind, shelves[id] != nil { continue }
          let isRefused = Int.random(in: 0..<3, using: &generator) == 0
          log.append("\(step): forward \(action.kind), which is \(isRefused ? "refused" : "accepted")")
          let entry = try await connect.forward(action)
          if isRefused { refused.withLock { _ = $0.insert(entry.key.rawValue) } }
          pending.append((action, isRefused))
        case 7, 8:
          let id = Int.random(in: 1...14, using: &generator)
          let book = Book(
            id: id, title: ["a", "b", "c"][step % 3], price: Double(step % 7), shelf: stored.books[id]?.shelf ?? 0)
          log.append("\(step): others store \(book)")
          try connect.store([book])
          stored.books[id] = book
        case 9:
          let id = Int.random(in: 1...14, using: &generator)
          guard shelves[id] == nil, stored.books[id] != nil else { continue }
          log.append("\(step): others delete book \(id)")
          let context = BackgroundContext(parent: connect.persistentStoreCoordinator)
          try context.delete(Book.self, id: id)
          try context.save()
          stored.books[id] = nil
        case 10:
          let id = Int.random(in: 1...3, using: &generator)
          log.append("\(step): others rename author \(id)")
          let author = Author(id: id, name: ["a", "b", "c"][step % 3])
          try connect.store([author])
          stored.authors[id] = author
        case 11:
          let id = Int.random(in: 1...14, using: &generator)
          let isRemoved = pending.contains { if case .remove(id) = $0.action.kind { true } else { false } }
          guard stored.books[id] != nil, !isRemoved else { continue }
          log.append("\(step): the view changes the shelf of book \(id)")
          try connect.viewContext.update(Book.self, id: id) { $0.shelf = step }
          shelves[id] = step
        case 12:
          log.append("\(step): the view rolls back")
          connect.viewContext.rollback()
          shelves = [:]
        case 13:
          log.append("\(step): send all")
          connect.suspended = false
          await connect.outbox.idle()
          connect.suspended = true
          // Actions of different entities are accepted in any order: what is stored then is read.
          stored = PendingQueryWorld(books: try connect.stored(Book.self), novels: try connect.stored(Novel.self))
          for author in try connect.stored(Author.self) { stored.authors[author.id] = author }
          pending = []
        case 14:
          if asked.count > 5 { asked.removeFirst() }
          log.append("\(step): one query less")
        default: break
        }
        while asked.count < 6 {
          asked.append(try askAny(connect, &generator))
          log.append("\(step): ask for \(asked.last?.name ?? "")")
        }
        connect.persistentStoreCoordinator.settle()
        let world = shown()
        if let problem = asked.lazy.compactMap({ $0.problem(world) }).first {
          Issue.record("\(kind), seed \(seed): \(problem)\n\(log.joined(separator: "\n"))")
          return
        }
      }
      #expect(connect.viewContext.store._checkInvariants().isEmpty, "seed \(seed)")
    }
  }
}

extension PendingQueryTests {
  @Test(
    "What another container forwards stands at its place here, too, and the first ones are filled",
    arguments: StoreKind.lasting)
  func otherContainer(_ kind: StoreKind) async throws {
    try await withFolder { folder in
      try await withOutbox(kind, in: folder) { a in
        a.suspended = true
        try await withOutbox(kind, in: folder) { b in
          b.suspended = true
          let first = try b.viewContext.query(
            FetchDescriptor<Book>(
              predicate: #Predicate { $0.price < 2 }, sortBy: [SortDescriptor(\.price, order: .reverse)], fetchLimit: 3)
          )
          #expect(first.value.map(\.id) == [1, 2, 3])
          // Two pending actions on one book, and one that takes another out.
          for _ in 0..<2 { try await a.forward(Alteration(kind: .raise(7, by: 0.5))) }
          try await a.forward(Alteration(kind: .remove(1)))
          b.outbox.register(Alteration.self)
          #expect(try await eventually { first.value.map(\.id) == [7, 2, 3] })
          try await b.forward(Alteration(kind: .raise(7, by: 1)))
          #expect(first.value.map(\.id) == [2, 3, 4])
          a.suspended = false
          b.suspended = false
          #expect(try await eventually { a.outbox.pending.isEmpty && b.outbox.pending.isEmpty })
          #expect(first.value.map(\.id) == [2, 3, 4])
          #expect(try b.kept(7)?.price == 2 && b.kept(1) == nil)
        }
      }
    }
  }

  @Test(
    "A view that is used later shows at once what another container has forwarded before", arguments: StoreKind.lasting)
  func usedLater(_ kind: StoreKind) async throws {
    try await withFolder { folder in
      try await withOutbox(kind, in: folder) { a in
        a.suspended = true
        try await withOutbox(kind, in: folder) { b in
          b.suspended = true
          try await a.forward(Raise(book: 1, note: "a"))
          #expect(try await eventually { b.outbox.pending.count == 1 })
          #expect(try b.shown(1)?.title == "a")
        }
      }
    }
  }

  @Test("A query with a limit keeps few entities more than it shows")
  func margin() async throws {
    try await withOutbox(.memory) { connect in
      connect.suspended = true
      try connect.store((10...3_000).map { Book(id: $0, title: "", price: Double($0)) })
      connect.persistentStoreCoordinator.settle()
      let first = try connect.viewContext.query(
        FetchDescriptor<Book>(predicate: #Predicate { $0.price >= 10 }, sortBy: [SortDescriptor(\.id)], fetchLimit: 50))
      func known() -> Int { connect.viewContext.store.all(Book.self).count }
      #expect(known() == 50)
      for id in 10..<200 { try await connect.forward(Alteration(kind: .remove(id))) }
      #expect(first.value.map(\.id) == Array(200..<250))
      #expect(known() <= 50 + 2 * 190 + 190)
      connect.suspended = false
      await connect.outbox.idle()
      #expect(first.value.map(\.id) == Array(200..<250))
      // A margin of a few is left, so that not each action fetches.
      #expect(known() <= 50 + 32)
    }
  }
}

extension StoreKind {
  /// Whether many steps take no time to speak of.
  fileprivate var isForManySeeds: Bool { StoreKind.forManyRows.contains(self) }
}
