import Concord
import ConcordModel
import ConcordTestHeap
import ConcordTestShared
import Foundation
import Synchronization
import Testing

#if Persistence
  import GRDB
#endif

@testable import ConcordPersistence

@Suite("Lasting: what a rule keeps")
struct RetentionTests {
  @Test(
    "A purge removes what a rule does not keep, and never what is observed, pending or contained in what stays",
    arguments: StoreKind.combinations)
  func random(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    for seed in TestOptions.seeds(kind.isShared ? 1 : 4, from: 1) {
      try await strategy.withContainer(kind) { container in
        var random = SeededGenerator(seed: seed)
        let (view, context) = (container.viewContext, container.newBackgroundContext())
        /// The stars of the stored reviews.
        var reviews: [Int: Int] = [:]
        var books: [String: [Int]] = [:]
        var observed: [Int: EntityObserver<Review>] = [:]
        var log: [String] = []
        for step in 0..<40 {
          switch Int.random(in: 0..<10, using: &random) {
          case 0..<4:
            for _ in 0..<5 {
              let (id, stars) = (Int.random(in: 0..<40, using: &random), Int.random(in: 0..<6, using: &random))
              context.insert(Review(id: id, text: "\(step)", stars: stars))
              reviews[id] = stars
            }
            try context.save()
            log.append("\(step): store five")
          case 4:
            let inside = reviews.keys.sorted().filter { _ in Int.random(in: 0..<5, using: &random) == 0 }
            let known = try context.fetch(FetchDescriptor<Review>()).filter { inside.contains($0.id) }
            let id = random.pick(["a", "b"])
            context.insert(
              Book(id: id, title: "", isbn: id, author: Author(id: "x", name: "X"), reviews: known))
            try context.save()
            books[id] = known.map(\.id)
            log.append("\(step): book \(id) contains \(known.map(\.id))")
          case 5:
            if let id = books.keys.sorted().first {
              try context.delete(Book.self, id: id)
              try context.save()
              books[id] = nil
              log.append("\(step): book \(id) goes")
            }
          case 6:
            let id = Int.random(in: 0..<40, using: &random)
            observed[id] = try view.find(Review.self, id: id)
            log.append("\(step): observe \(id)")
          case 7:
            observed = [:]
            log.append("\(step): observe nothing")
          default:
            try await container.flush()
            let pending = Int.random(in: 0..<40, using: &random)
            let isPending = reviews[pending] != nil
            if isPending { try view.update(Review.self, id: pending) { $0.text = "pending" } }
            let unsaved = Int.random(in: 0..<40, using: &random)
            let isUnsaved = try context.update(Review.self, id: unsaved) { $0.text = "unsaved" }
            let query = try view.query(FetchDescriptor<Review>(sortBy: [SortDescriptor(\.id)], fetchLimit: 3))
            var needed = Set(observed.keys).union(books.values.joined()).union(query.value.map(\.id))
            if isPending { needed.insert(pending) }
            if isUnsaved { needed.insert(unsaved) }
            let least = Int.random(in: 0..<6, using: &random)
            let count = Int.random(in: 0..<20, using: &random)
            let rule: Retention<Review>
            let kept: Set<Int>
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
              let fresh = container.newBackgroundContext()
              let stamps = try reviews.keys.map { ($0, try fresh.stamp(of: Review.self, id: $0) ?? 0) }
              let latest = stamps.sorted { $0.1 != $1.1 ? $0.1 > $1.1 : $0.0 < $1.0 }.prefix(count)
              (rule, kept) = (.atMost(count), Set(latest.map(\.0)))
            case 1:
              rule = .matching(#Predicate { ($0.stars ?? 0) >= least })
              kept = Set(reviews.filter { $0.value >= least }.keys)
            case 2: (rule, kept) = (.used(within: .seconds(3_600)), Set(reviews.keys))
            default: (rule, kept) = (.used(within: .zero), [])
            }
            let removed = try context.purge(Review.self, keeping: rule)
            log.append("\(step): purge by \(rule), \(needed.sorted()) are needed")
            context.rollback()
            view.rollback()
            try await container.flush()
            let expected = reviews.filter { kept.contains($0.key) || needed.contains($0.key) }
            #expect(removed == reviews.count - expected.count)
            reviews = expected
            let stored = try container.newBackgroundContext().fetch(FetchDescriptor<Review>()).map(\.id).sorted()
            if stored != reviews.keys.sorted() {
              let what = "\(stored), not \(reviews.keys.sorted())"
              Issue.record("\(kind) \(strategy), seed \(seed): \(what)\n\(log.joined(separator: "\n"))")
              return
            }
            if strategy.isKeptUpToDate {
              #expect(query.value.map(\.id) == Array(reviews.keys.sorted().prefix(3)), "seed \(seed)")
            }
            for (id, book) in books {
              #expect(try context.find(Book.self, id: id)?.reviews.map(\.id) == book, "seed \(seed)")
            }
            for (id, observer) in observed { #expect(observer.value.id == id && !observer.isRemoved, "seed \(seed)") }
          }
        }
      }
    }
  }

  @Test(
    "What a pending change puts into an entity stays until it is saved, and then", arguments: StoreKind.combinations)
  func containedByThen(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    func change(_ book: inout Book) {
      book.reviews.append(Review(id: 1, text: "old"))
      book.tags.insert(Review(id: 2, text: "old"))
      book.medium = .required(Review(id: 3, text: "old"))
      book.editor = Author(id: "y", name: "Y")
    }
    for isView in [false, true] {
      try await strategy.withContainer(kind) { container in
        let (view, context) = (container.viewContext, container.newBackgroundContext())
        for id in 0..<6 { context.insert(Review(id: id, text: "old")) }
        context.insert(Author(id: "y", name: "Y"))
        context.insert(Author(id: "z", name: "Z"))
        context.insert(Book(id: "b", title: "", author: Author(id: "x", name: "X")))
        try context.save()
        try await container.flush()
        if isView {
          try view.update(Book.self, id: "b", change)
        } else {
          try context.update(Book.self, id: "b", change)
          try context.update(Book.self, id: "b", leavingOut: \.reviews) { _, links in
            try links.append(Review(id: 4, text: "old"), to: \.reviews)
          }
        }
        #expect(try context.purge(Review.self, keeping: .atMost(0)) == (isView ? 3 : 2))
        #expect(try context.purge(Author.self, keeping: .matching(#Predicate { $0.name == "X" })) == 1)
        try isView ? view.save() : context.save()
        // Also while an indirect strategy has not written it.
        try context.purge(Review.self, keeping: .atMost(0))
        try await container.flush()
        let found = try container.stored(Book.self, id: "b")
        #expect(found?.reviews.map(\.id) == (isView ? [1] : [1, 4]) && found?.tags.map(\.id) == [2])
        #expect(found?.medium.required?.id == 3 && found?.editor?.name == "Y", "\(String(describing: found))")
      }
    }
  }

  @Test(
    "Live queries that know a purged entity go on without it, and it can come again as it was",
    arguments: StoreKind.allCases)
  func queries(_ kind: StoreKind) async throws {
    try await StrategyKind.direct.withContainer(kind) { container in
      let context = container.newBackgroundContext()
      for id in 0..<30 { context.insert(Review(id: id, text: "", stars: id), modifiedAt: Double(id)) }
      try context.save()
      try await container.flush()
      let first = try container.viewContext.query(
        FetchDescriptor<Review>(sortBy: [SortDescriptor(\.id)], fetchLimit: 2))
      try context.purge(Review.self, keeping: .matching(#Predicate { $0.id >= 20 }))
      #expect(first.value.map(\.id) == [0, 1])
      try context.delete(Review.self, id: 0)
      try context.delete(Review.self, id: 1)
      try context.save()
      try await container.flush()
      #expect(first.value.map(\.id) == [20, 21])
      // Older than a deletion would allow.
      context.insert(Review(id: 5, text: "again"), modifiedAt: 5)
      context.insert(Review(id: 0, text: "again"), modifiedAt: 0)
      try context.save()
      try await container.flush()
      #expect(first.value.map(\.id) == [5, 20])
    }
  }

  @Test("A condition that no store evaluates is evaluated in memory", arguments: StoreKind.allCases)
  func inMemory(_ kind: StoreKind) async throws {
    try await StrategyKind.mixed.withContainer(kind) { container in
      let context = container.newBackgroundContext()
      for id in 0..<20 { context.insert(Review(id: id, text: "\(id)", stars: id % 3 == 0 ? nil : id)) }
      try context.save()
      let predicate = #Predicate<Review> { review in review.text.count == 1 && review.stars.flatMap { $0 } != nil }
      #expect(try context.purge(Review.self, keeping: .matching(predicate)) == 14)
      #expect(try context.fetch(FetchDescriptor<Review>()).map(\.id) == [1, 2, 4, 5, 7, 8])
      // One that throws removes nothing.
      context.insert(Review(id: 50, text: ""))
      try context.save()
      #expect(throws: (any Error).self) {
        try context.purge(Review.self, keeping: .matching(#Predicate { $0.stars! >= 0 || $0.text.count > 9 }))
      }
      #expect(try context.count(FetchDescriptor<Review>()) == 7)
    }
  }

  @Test("A rule that is kept bounds what is stored, however much goes through", arguments: StoreKind.allCases)
  func bound(_ kind: StoreKind) async throws {
    try await StrategyKind.direct.withContainer(kind) { container in
      try container.keep(Review.self, .atMost(500))
      let context = container.newBackgroundContext()
      for batch in 0..<50 {
        for id in 0..<100 { context.insert(Review(id: batch * 100 + id, text: "\(id)")) }
        try context.save()
        container.persistentStoreCoordinator.retentionRules.settle()
        #expect(try context.count(FetchDescriptor<Review>()) <= 500 + 200)
      }
      #expect(try context.fetch(FetchDescriptor<Review>(sortBy: [SortDescriptor(\.id)])).last?.id == 4_999)
      try container.keepAll(Review.self)
      for id in 5_000..<6_000 { context.insert(Review(id: id, text: "")) }
      try context.save()
      container.persistentStoreCoordinator.retentionRules.settle()
      #expect(try context.count(FetchDescriptor<Review>()) >= 1_500)
    }
  }

  @Test("What was found again was used")
  func used() async throws {
    try await StrategyKind.direct.withContainer(.memory) { container in
      let (context, view) = (container.newBackgroundContext(), container.viewContext)
      try container.keep(Review.self, .atMost(10))
      for id in 0..<10 { context.insert(Review(id: id, text: "")) }
      try context.save()
      for id in 0..<3 { _ = try view.find(Review.self, id: id) }
      #expect(try context.purge(Review.self, keeping: .atMost(5)) == 5)
      #expect(try context.fetch(FetchDescriptor<Review>()).map(\.id) == [0, 1, 2, 8, 9])
    }
  }

  #if Persistence
    @Test("The file gets smaller, and is whole")
    func space() async throws {
      try await StrategyKind.direct.withContainer(.sqlite) { container in
        let url = try #require(container.persistentStores.first?.url)
        func size() throws -> Int { try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? 0 }
        let context = container.newBackgroundContext()
        var sizes: [Int] = []
        var noticed: [Int] = []
        // The file is rewritten the first time, and its free pages are moved later.
        for round in 0..<3 {
          for id in 0..<3_000 {
            context.insert(Review(id: round * 10_000 + id, text: String(repeating: "x", count: 1_000)))
          }
          try context.save()
          try container.persistentStoreCoordinator.persistentStores.first?.rows.synchronize()
          let full = try size()
          try context.purge(Review.self, keeping: .atMost(100))
          sizes.append(try size())
          noticed.append(container.persistentStores.first?.rows.unknownCommits ?? 0)
          #expect(sizes[round] < full / 5, "\(sizes) of \(full)")
        }
        #expect(try context.count(FetchDescriptor<Review>()) == 100)
        let store = try #require(container.persistentStores.first?.rows as? SQLiteStore)
        #expect(try await store.pool.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
        // Nothing has to be read again because pages are moved.
        #expect(noticed[1] == noticed[0] && noticed[2] == noticed[0], "\(noticed)")
      }
    }
  #endif

  @Test("A view keeps what it has found last, within its bound, and lets go of the rest")
  func view() async throws {
    try await StrategyKind.direct.withContainer(.memory) { container in
      let (context, view) = (container.newBackgroundContext(), container.viewContext)
      for id in 0..<100 { context.insert(Review(id: id, text: "", stars: id % 2)) }
      try context.save()
      func kept() -> [Int] { view.store.all(Review.self).map(\.id).sorted() }
      var random = SeededGenerator(seed: 3)
      try view.keep(Review.self, .atMost(10))
      var used: [Int] = []
      for _ in 0..<500 {
        let id = Int.random(in: 0..<30, using: &random)
        #expect(try view.find(Review.self, id: id)?.value.id == id)
        used.removeAll { $0 == id }
        used.append(id)
        #expect(kept() == used.suffix(10).sorted())
      }
      // It follows what is saved, and goes when it is deleted.
      let last = try #require(used.last)
      try context.update(Review.self, id: last) { $0.text = "new" }
      try context.save()
      try await container.flush()
      #expect(view.store.find(Review.self, id: last)?.value.text == "new")
      try view.keep(Review.self, .matching(#Predicate { $0.stars == 1 }))
      for id in 0..<20 { _ = try view.find(Review.self, id: id) }
      #expect(kept() == Array(stride(from: 1, to: 20, by: 2)))
      try view.keep(Review.self, .used(within: .milliseconds(50)))
      _ = try view.find(Review.self, id: 7)
      #expect(kept() == [7])
      #expect(try await eventually { kept().isEmpty })
      try view.keepObserved(Review.self)
      _ = try view.find(Review.self, id: 7)
      #expect(kept().isEmpty && view.store._statistics().entities == 0)
    }
  }

  @Test("A view whose rule is set again and again looks no more often for what is over than one whose rule is set once")
  func setAgain() async throws {
    try await StrategyKind.direct.withContainer(.memory) { once in
      try await StrategyKind.direct.withContainer(.memory) { often in
        let rule = Retention<Review>.used(within: .milliseconds(400))
        try once.viewContext.keep(Review.self, rule)
        for _ in 0..<1_000 { try often.viewContext.keep(Review.self, rule) }
        let (few, many) = (once.viewContext.cache, often.viewContext.cache)
        #expect(try await eventually { few.sweepCount.load(ordering: .relaxed) >= 5 })
        #expect(many.sweepCount.load(ordering: .relaxed) <= 50)
        // Without a rule none is left.
        try often.viewContext.keepObserved(Review.self)
        try await Task.sleep(for: .milliseconds(200))
        let (before, last) = (few.sweepCount.load(ordering: .relaxed), many.sweepCount.load(ordering: .relaxed))
        #expect(try await eventually { few.sweepCount.load(ordering: .relaxed) >= before + 3 })
        #expect(many.sweepCount.load(ordering: .relaxed) == last)
      }
    }
  }

  @Test(
    "As many entities as one likes go through a bound within its memory",
    arguments: StoreKind.allCases.filter { !$0.isShared })
  func memory(_ kind: StoreKind) async throws {
    let (bound, all) = TestOptions.isLong ? (10_000, 1_000_000) : (500, 20_000)
    try await StrategyKind.direct.withContainer(kind) { container in
      let (context, view, coordinator) = (
        container.newBackgroundContext(), container.viewContext, container.persistentStoreCoordinator
      )
      let review = try container.model.entity(Review.self)
      try container.keep(Review.self, .atMost(bound))
      try view.keep(Review.self, .atMost(bound / 10))
      // So large that what is kept of few is seen in the heap, too.
      let text = TestOptions.isLong ? "" : String(repeating: "x", count: 1_000)
      var (early, earlyHeap) = (0, 0)
      for batch in 0..<all / 1_000 {
        for id in batch * 1_000..<(batch + 1) * 1_000 { context.insert(Review(id: id, text: "number \(id) \(text)")) }
        try context.save()
        for id in batch * 1_000..<(batch + 1) * 1_000 { _ = try view.find(Review.self, id: id) }
        if batch % 10 == 9 { coordinator.saveUses() }
        coordinator.retentionRules.settle()
        if batch == all / 5_000 { (early, earlyHeap) = (try Self.residentMemory(), heapInUse()) }
      }
      let (late, lateHeap) = (try Self.residentMemory(), heapInUse())
      print(
        "\(all) through a bound of \(bound), \(kind): \(early >> 20) MB after a fifth, \(late >> 20) MB at the end,",
        "\(earlyHeap >> 10) and \(lateHeap >> 10) KB of them in use")
      // Of what came since then the texts alone are 15 MB. A sanitizer's allocator cannot be asked.
      #expect(
        earlyHeap == 0 || lateHeap < earlyHeap + 4 << 20, "\(earlyHeap) bytes after a fifth, \(lateHeap) at the end")
      // Whole pages, which the allocator gives back when it likes, say little of 20,000.
      if TestOptions.isLong { #expect(late < early + 16 << 20, "\(early) bytes after a fifth, \(late) at the end") }
      let most = bound + max(1_000, bound / 10) + bound / 10
      #expect(try context.count(FetchDescriptor<Review>()) <= most)
      #expect(view.store._statistics().entities <= bound / 10 && view.cache.count(of: review) <= bound / 10)
      #expect(coordinator.uses.dates(of: review).count <= most + 1_000)
      coordinator.saveUses()
      try context.purge(Review.self, keeping: .atMost(bound))
      #expect(coordinator.uses.dates(of: review).count <= bound + bound / 10)
      var notes = 0
      try coordinator.persistentStores.first?.rows.read { reading in
        try reading.notes(in: "retention.uses Review", after: nil) { _, _ in
          notes += 1
          return true
        }
      }
      #expect(notes > 0 && notes <= bound + bound / 10, "\(notes)")
    }
  }

  private static func residentMemory() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return (line?.split(separator: " ").compactMap { Int($0) }.first ?? 0) << 10
  }
}
