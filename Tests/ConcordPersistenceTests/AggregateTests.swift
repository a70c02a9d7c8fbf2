import Foundation
import Testing

@testable import ConcordPersistence

#if Persistence
  import GRDB
#endif

@Suite("Aggregates")
struct AggregateTests {
  private func model() throws -> Model {
    try Model("Sales", entities: [Sale.self, Book.self, Author.self, Review.self])
  }

  private func withContext(_ kind: StoreKind, _ sales: [Sale], _ body: (BackgroundContext) throws -> Void) throws {
    try kind.withCoordinator(model()) { coordinator in
      let context = coordinator.newContext()
      for sale in sales { context.insert(sale) }
      try context.save()
      try body(context)
    }
  }

  @Test("Several numbers are computed of the entities that a predicate finds", arguments: StoreKind.allCases)
  func several(_ kind: StoreKind) throws {
    let sales = (1...4).map { Sale(id: $0, amount: $0, price: 0.5 * Double($0), place: $0 < 3 ? "a" : "b") }
    try withContext(kind, sales) { context in
      let (count, sum, average, least, greatest) = try context.aggregate(
        Sale.self, where: #Predicate { $0.amount > 1 }, .count, .sum(\.amount), .average(\.price), .min(\.price),
        .max(\.place))
      #expect(count == 3 && sum == 9 && average == 1.5 && least == 1 && greatest == "b")
      let one = try context.aggregate(Sale.self, .sum(\.price))
      #expect(one == 5)
      let groups = try context.aggregate(Sale.self, by: \.place, .count, .sum(\.amount))
      #expect(groups.keys.sorted() == ["a", "b"])
      let (b, bSum) = try #require(groups["b"])
      #expect(b == 2 && bSum == 7)
      let counts = try context.aggregate(Sale.self, by: \.kind, .count)
      #expect(counts == [.cash: 4])
    }
  }

  @Test(
    "Of nothing, the sum is 0, and there is no average, no least and no greatest value", arguments: StoreKind.allCases)
  func empty(_ kind: StoreKind) throws {
    var without = Sale(id: 1)
    without.weight = nil
    try withContext(kind, [without]) { context in
      let nothing = #Predicate<Sale> { $0.amount == 7 }
      #expect(try context.aggregate(Sale.self, where: nothing, .count) == 0)
      #expect(try context.aggregate(Sale.self, where: nothing, .sum(\.amount)) == 0)
      #expect(try context.aggregate(Sale.self, where: nothing, .sum(\.price)) == 0)
      #expect(try context.aggregate(Sale.self, where: nothing, .average(\.price)) == nil)
      #expect(try context.aggregate(Sale.self, where: nothing, .min(\.place)) == nil)
      #expect(try context.aggregate(Sale.self, where: nothing, by: \.place, .count).isEmpty)
      // What is nil does not count.
      #expect(try context.aggregate(Sale.self, .sum(\.weight)) == Float(0))
      #expect(try context.aggregate(Sale.self, .average(\.optional)) == nil)
      #expect(try context.aggregate(Sale.self, .max(\.note)) == nil)
      let groups: [String?: Int32?] = try context.aggregate(Sale.self, by: \.note, .max(\.optional))
      #expect(groups.count == 1 && groups.first?.key == nil && groups.first?.value == nil)
    }
  }

  @Test(
    "A sum that its type cannot represent is thrown, and one that overflows in between is not",
    arguments: StoreKind.allCases)
  func overflow(_ kind: StoreKind) throws {
    var sales = [
      Sale(id: 1, amount: .max), Sale(id: 2, amount: .max), Sale(id: 3, amount: .min), Sale(id: 4, amount: .min),
    ]
    for index in sales.indices { sales[index].small = 100 }
    try withContext(kind, sales) { context in
      #expect(try context.aggregate(Sale.self, .sum(\.amount)) == -2)
      let average: Double? = try context.aggregate(Sale.self, .average(\.amount))
      #expect(average == -0.5)
      let error = #expect(throws: AggregationError.self) {
        try context.aggregate(Sale.self, where: #Predicate { $0.amount > 0 }, .sum(\.amount))
      }
      #expect(
        error.map { "\($0)" }?.hasPrefix(
          "sum(\\Sale.amount) of Sale is 18446744073709551614, which Int cannot represent") == true,
        "\(String(describing: error))")
      #expect(throws: AggregationError.self) { try context.aggregate(Sale.self, .sum(\.small)) }
      let small: Double? = try context.aggregate(Sale.self, .average(\.small))
      #expect(small == 100)
    }
  }

  @Test(
    "A sum of numbers with a fraction is the exact one, rounded once, in whatever order they are",
    arguments: StoreKind.allCases)
  func exactSums(_ kind: StoreKind) throws {
    let cases: [([Double], Double)] = [
      ([1e16, 1, -1e16], 1), ([0.1, 0.2, 0.3, -0.6], 2.7755575615628914e-17), ([1e308, 1e308, -1e308], 1e308),
      ([.greatestFiniteMagnitude, .greatestFiniteMagnitude], .infinity),
      ([.leastNonzeroMagnitude, .leastNonzeroMagnitude], 2 * .leastNonzeroMagnitude),
      ([.infinity, 1], .infinity), ([-.infinity, 1e308], -.infinity), ([.infinity, -.infinity], .nan),
      ([.nan, 1], .nan),
      ([-0.0, -0.0], 0), ([1e300, .leastNonzeroMagnitude, -1e300], .leastNonzeroMagnitude),
    ]
    for (numbers, expected) in cases {
      try withContext(kind, numbers.enumerated().map { Sale(id: $0, price: $1) }) { context in
        let sum = try context.aggregate(Sale.self, .sum(\.price))
        #expect(sum == expected || sum.isNaN && expected.isNaN, "\(numbers): \(sum)")
      }
    }
  }

  private typealias Case = (Predicate<Sale>, Double?, Double?)

  @Test("NaN is neither the least nor the greatest value, and a group of its own", arguments: StoreKind.allCases)
  func nan(_ kind: StoreKind) throws {
    let prices = [1.5, .nan, -.nan, -0.0, 0, -2]
    try withContext(kind, prices.enumerated().map { Sale(id: $0, price: $1) }) { context in
      let (all, onlyNaN) = (#Predicate<Sale> { _ in true }, #Predicate<Sale> { $0.id == 1 || $0.id == 2 })
      let zeroAndNaN = #Predicate<Sale> { $0.id == 1 || $0.id == 3 }
      for (predicate, least, greatest) in [(all, -2.0, 1.5), (onlyNaN, nil, nil), (zeroAndNaN, 0, 0)] as [Case] {
        let (min, max) = try context.aggregate(Sale.self, where: predicate, .min(\.price), .max(\.price))
        #expect(min == least && max == greatest)
      }
      let groups = try context.aggregate(Sale.self, by: \.price, .count)
      let (zeros, ones): (Int?, Int?) = (groups[0.0], groups[1.5])
      #expect(groups.count == 4)
      #expect(zeros == 2 && ones == 1)
      #expect(groups.first { $0.key.isNaN }?.value == 2)
    }
  }

  // MARK: Explaining

  @Test(
    "An explanation says whether an index tells the rows, and what is computed in memory", arguments: StoreKind.allCases
  )
  func explanation(_ kind: StoreKind) throws {
    try withContext(kind, (0..<2000).map { Sale(id: $0, amount: $0, place: "\($0)") }) { context in
      let whole = try context.explain(Sale.self, by: \.place, .count, .sum(\.price), .average(\.amount), .max(\.note))
      #expect(whole.aggregation == .store && whole.partsInMemory.isEmpty, "\(whole)")
      #expect(kind == .memory ? whole.steps.isEmpty : whole.steps.contains { $0.contains("GROUP BY") })
      let sums = try context.explain(Sale.self, .sum(\.amount))
      #expect(sums.scans && sums.plan.accesses.map(\.table) == ["Sale"], "\(sums)")
      if kind != .memory {
        let greatest = try context.explain(Sale.self, .max(\.amount))
        #expect(!greatest.scans && "\(greatest)".contains("the index Sale.amount"), "\(greatest)")
        let few = try context.explain(Sale.self, where: #Predicate { $0.amount == 7 }, .sum(\.price))
        #expect(few.plan.accesses == [TableAccess(table: "Sale", .search(index: "Sale.amount"))], "\(few)")
      }
      let inMemory = try context.explain(Sale.self, by: \.kind, .count, .sum(\.double), .sum(\.large))
      #expect(inMemory.aggregation == .memory)
      // The name of a computed property is not known everywhere.
      #expect(
        inMemory.partsInMemory.count == 3 && inMemory.partsInMemory[1...] == ["sum(\\Sale.large)", "by \\Sale.kind"],
        "\(inMemory.partsInMemory)")
      let computed = try context.explain(Sale.self, where: #Predicate { $0.double == 2 }, .count)
      #expect(computed.aggregation == .memory && computed.partsInMemory.count == 1)
      context.insert(Sale(id: -1))
      #expect(
        try "\(context.explain(Sale.self, .count))".contains("1 changed row that is not saved is added")
          || kind == .memory)
    }
  }

  @Test("An explanation of a fetch says which tables are scanned, and which are searched", arguments: StoreKind.lasting)
  func fetches(_ kind: StoreKind) throws {
    try withContext(kind, (0..<2000).map { Sale(id: $0, amount: $0, place: "\($0)") }) { context in
      let found = try context.explain(FetchDescriptor<Sale>(predicate: #Predicate { $0.amount == 7 }))
      #expect(
        found.plan.accesses == [TableAccess(table: "Sale", .search(index: "Sale.amount"))] && !found.scans, "\(found)")
      #expect("\(found)".contains("Sale: a search in the index Sale.amount"))
      let scanned = try context.explain(
        FetchDescriptor<Sale>(predicate: #Predicate { $0.small == 7 }, sortBy: [SortDescriptor(\.day)]))
      #expect(scanned.scans && scanned.plan.sorts, "\(scanned)")
      let walked = try context.explain(FetchDescriptor<Sale>(sortBy: [SortDescriptor(\.amount)], fetchLimit: 3))
      #expect(walked.plan.accesses == [TableAccess(table: "Sale", .walk(index: "Sale.amount"))], "\(walked)")
    }
  }

  @Test(
    "A condition on entities inside names their table, not the name that the statement gives it",
    arguments: StoreKind.lasting)
  func otherTables(_ kind: StoreKind) throws {
    try kind.withCoordinator(model()) { coordinator in
      let context = coordinator.newContext()
      context.insert(Book(id: "A", title: "a", author: Author(id: "x", name: "x")))
      try context.save()
      let found = try context.explain(
        FetchDescriptor<Book>(predicate: #Predicate { $0.reviews.contains { $0.stars == 1 } }))
      #expect(Set(found.plan.accesses.map(\.table)) == ["Book", "Book_reviews", "Review"], "\(found)")
    }
  }

  @Test("NaN is one group and no extreme, of whatever type it is", arguments: StoreKind.allCases)
  func notNumbers(_ kind: StoreKind) throws {
    try kind.withCoordinator(Model("Coins", entities: [Coin.self])) { coordinator in
      let context = coordinator.newContext()
      let coins = [
        Coin(id: 1, money: .nan, weight: .nan), Coin(id: 2, money: 3, weight: 1), Coin(id: 3, money: -4, weight: -.nan),
        Coin(id: 4, money: .nan, weight: nil), Coin(id: 5, money: 3, weight: -1),
      ]
      for coin in coins { context.insert(coin) }
      for isSaved in [false, true] {
        if isSaved { try context.save() }
        let weights = try context.aggregate(Coin.self, by: \.weight, .count)
        #expect(weights.count == 4 && weights[nil] == 1 && weights[1] == 1 && weights[-1] == 1)
        #expect(weights.first { $0.key?.isNaN ?? false }?.value == 2)
        #expect(try context.aggregate(Coin.self, by: \.money, .count) == [.nan: 2, 3: 2, -4: 1])
        let (least, greatest, weight) = try context.aggregate(Coin.self, .min(\.money), .max(\.money), .min(\.weight))
        #expect(least == -4 && greatest == 3 && weight == -1)
        let none = try context.aggregate(Coin.self, where: #Predicate { $0.id == 1 }, .min(\.money), .max(\.weight))
        #expect(none.0 == nil && none.1 == nil)
        // As in sorts.
        #expect(
          try context.fetch(FetchDescriptor<Coin>(sortBy: [SortDescriptor(\.money)])).map(\.id) == [3, 2, 5, 1, 4])
      }
    }
  }

  #if Persistence
    @Test("A value of another kind, which another program has written, is told with its row")
    func foreignValues() throws {
      try withFolder { folder in
        let model = try model()
        let file = folder.appending(path: "test.sqlite")
        let store = try SQLiteStore(url: file, entities: model.entities)
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.attach(store, configuration: "")
        let context = coordinator.newContext()
        for id in 1...3 { context.insert(Sale(id: id, amount: id, price: 1)) }
        try context.save()
        try DatabaseQueue(path: file.path).write { db in
          try db.execute(sql: "UPDATE Sale SET amount = 'many', price = 'much' WHERE id = 2")
          try db.execute(sql: "UPDATE Sale SET small = 300 WHERE id = 3")
        }
        for body: () throws -> Void in [
          { _ = try context.aggregate(Sale.self, .sum(\.amount)) },
          { _ = try context.aggregate(Sale.self, .sum(\.price)) },
        ] { #expect(reason(body)?.contains("Sale 2, column") == true) }
        #expect(
          reason { _ = try context.aggregate(Sale.self, .average(\.small)) }?.contains("Sale 3, column 'small'") == true
        )
      }
    }
  #endif
}
