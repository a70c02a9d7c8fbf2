import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

/// Aggregates of an array, by other means than the package's.
private struct Naive {
  let sales: [Sale]

  func sum<N: FixedWidthInteger>(_ numbers: [N]) -> N? {
    var total = Decimal(0)
    for number in numbers { total += Decimal(string: "\(number)") ?? 0 }
    return N("\(total)")
  }

  /// The sum without rounding errors, by J. R. Shewchuk's partial sums, which do not overlap.
  func sum(_ numbers: [Double]) -> Double {
    if numbers.contains(where: { !$0.isFinite }) { return numbers.reduce(0, +) }
    var partials: [Double] = []
    for number in numbers {
      var x = number
      var rest: [Double] = []
      for partial in partials {
        var y = partial
        if abs(x) < abs(y) { swap(&x, &y) }
        let high = x + y
        let low = y - (high - x)
        if low != 0 { rest.append(low) }
        x = high
      }
      partials = rest + [x]
    }
    guard var high = partials.popLast() else { return 0 }
    while let y = partials.popLast() {
      let x = high
      high = x + y
      let low = y - (high - x)
      if low == 0 { continue }
      // Half of the last digit is rounded by what comes after it.
      if let next = partials.last, (low < 0) == (next < 0) {
        let twice = low * 2
        if twice == (high + twice) - high { high += twice }
      }
      break
    }
    return high == 0 ? 0 : high
  }

  func average(_ numbers: [Double]) -> Double? { numbers.isEmpty ? nil : sum(numbers) / Double(numbers.count) }

  func extreme<V>(_ values: [V], _ precedes: (V, V) -> Bool) -> V? { values.sorted(by: precedes).first }
}

@Suite("Aggregates at random")
struct RandomAggregateTests {
  private func same(_ a: Double?, _ b: Double?) -> Bool {
    guard let a, let b else { return a == nil && b == nil }
    return a.isNaN && b.isNaN || a == b
  }

  private func composed(_ a: String, _ b: String) -> Bool {
    a.precomposedStringWithCanonicalMapping.unicodeScalars.lexicographicallyPrecedes(
      b.precomposedStringWithCanonicalMapping.unicodeScalars)
  }

  /// Compares all aggregates of what a predicate finds.
  private func check(
    _ context: BackgroundContext, _ all: [Sale], _ predicate: Predicate<Sale>?, _ seed: UInt64, group: Bool
  ) throws {
    let sales = try all.filter { try predicate?.evaluate($0) ?? true }
    let place: Comment = "seed \(seed), \(sales.count) sales"
    let (count, small, price, weight) = try context.aggregate(
      Sale.self, where: predicate, .count, .sum(\.small), .sum(\.price), .sum(\.weight))
    let naive = Naive(sales: sales)
    #expect(count == sales.count, place)
    #expect(small == naive.sum(sales.map(\.small)), place)
    #expect(same(price, naive.sum(sales.map(\.price))), place)
    #expect(same(Double(weight), Double(Float(naive.sum(sales.compactMap { $0.weight.map { Double($0) } })))), place)
    if let amount = naive.sum(sales.map(\.amount)) {
      #expect(try context.aggregate(Sale.self, where: predicate, .sum(\.amount)) == amount, place)
    } else {
      #expect(throws: AggregationError.self, place) {
        try context.aggregate(Sale.self, where: predicate, .sum(\.amount))
      }
    }
    let (average, optional) = try context.aggregate(
      Sale.self, where: predicate, .average(\.price), .average(\.optional))
    #expect(same(average, naive.average(sales.map(\.price))), place)
    #expect(same(optional, naive.average(sales.compactMap { $0.optional.map { Double($0) } })), place)
    let (least, greatest, first, last, note, day) = try context.aggregate(
      Sale.self, where: predicate, .min(\.amount), .max(\.price), .min(\.place), .max(\.place), .min(\.note),
      .max(\.day))
    #expect(least == sales.map(\.amount).min(), place)
    #expect(same(greatest, naive.extreme(sales.map(\.price).filter { !$0.isNaN }, >)), place)
    #expect(first == naive.extreme(sales.map(\.place), composed), place)
    #expect(last == naive.extreme(sales.map(\.place)) { composed($1, $0) }, place)
    #expect(note == naive.extreme(sales.compactMap(\.note), composed), place)
    #expect(day == sales.map(\.day).max(), place)
    guard group else { return }
    let places = try context.aggregate(Sale.self, where: predicate, by: \.place, .count, .sum(\.price), .min(\.note))
    let expected = Dictionary(grouping: sales, by: \.place)
    #expect(places.count == expected.count, place)
    for (key, sales) in expected {
      guard let (count, sum, note) = places[key] else {
        Issue.record("no group of \(key.debugDescription), seed \(seed)")
        continue
      }
      #expect(count == sales.count, place)
      #expect(same(sum, naive.sum(sales.map(\.price))), place)
      #expect(note == naive.extreme(sales.compactMap(\.note), composed), place)
    }
    let optionals = try context.aggregate(
      Sale.self, where: predicate, by: \.optional, .max(\.place), .average(\.amount))
    let byOptional = Dictionary(grouping: sales, by: \.optional)
    #expect(Set(optionals.keys) == Set(byOptional.keys), place)
    for (key, sales) in byOptional {
      #expect(optionals[key]?.0 == naive.extreme(sales.map(\.place)) { composed($1, $0) }, place)
      let sum = sales.reduce(Decimal(0)) { $0 + (Decimal(string: "\($1.amount)") ?? 0) }
      let average = Double("\(sum)").map { $0 / Double(sales.count) }
      #expect(same(optionals[key]?.1, average), place)
    }
    let prices = try context.aggregate(Sale.self, where: predicate, by: \.price, .count)
    let numbers = sales.map(\.price)
    #expect(
      prices.filter { !$0.key.isNaN } == Dictionary(numbers.filter { !$0.isNaN }.map { ($0, 1) }, uniquingKeysWith: +),
      place)
    #expect(prices.first { $0.key.isNaN }?.value ?? 0 == numbers.count { $0.isNaN }, place)
    let kinds = try context.aggregate(Sale.self, where: predicate, by: \.kind, .sum(\.small), .max(\.double))
    for (kind, sales) in Dictionary(grouping: sales, by: \.kind) {
      #expect(kinds[kind]?.0 == naive.sum(sales.map(\.small)), place)
      #expect(kinds[kind]?.1 == sales.map(\.double).max(), place)
    }
  }

  @Test("All aggregates are those of the same entities in memory, saved or not", arguments: StoreKind.allCases)
  func aggregates(_ kind: StoreKind) throws {
    let model = try Model("Sales", entities: [Sale.self])
    for seed in TestOptions.seeds(TestOptions.isLong ? 60 : 6, from: 1) {
      var random = SeededGenerator(seed: seed)
      try kind.withCoordinator(model) { coordinator in
        let context = coordinator.newContext()
        // Sums of `small` stay within an `Int8`.
        var sales: [Int: Sale] = [:]
        for id in 0..<Int.random(in: 0..<60, using: &random) {
          var sale = Sale(id: id, &random)
          sale.small = .random(in: -2...2, using: &random)
          sales[id] = sale
        }
        for sale in sales.values { context.insert(sale) }
        try context.save()
        for isPending in [false, true] {
          if isPending {
            for _ in 0..<Int.random(in: 1..<10, using: &random) {
              var sale = Sale(id: .random(in: 0..<70, using: &random), &random)
              sale.small = .random(in: -2...2, using: &random)
              if Bool.random(using: &random) {
                sales[sale.id] = sale
                context.insert(sale)
              } else if sales.removeValue(forKey: sale.id) != nil {
                try context.delete(Sale.self, id: sale.id)
              }
            }
          }
          let all = Array(sales.values)
          let text = hostileText(&random)
          try check(context, all, nil, seed, group: true)
          try check(context, all, #Predicate { $0.amount > 0 }, seed, group: true)
          try check(context, all, #Predicate { $0.place > text || $0.price < 1 }, seed, group: true)
          try check(context, all, #Predicate { $0.place == text }, seed, group: false)
          try check(context, all, #Predicate { $0.double > 0 }, seed, group: true)
        }
      }
    }
  }

  @Test("Many changes that are not saved count", arguments: StoreKind.allCases)
  func manyPending(_ kind: StoreKind) throws {
    try kind.withCoordinator(Model("Sales", entities: [Sale.self])) { coordinator in
      let context = coordinator.newContext()
      for id in 0..<500 { context.insert(Sale(id: id, amount: 1)) }
      try context.save()
      for id in 100..<900 { context.insert(Sale(id: id, amount: 2, place: "p")) }
      let (count, sum) = try context.aggregate(Sale.self, .count, .sum(\.amount))
      #expect(count == 900 && sum == 1700)
      #expect(try context.aggregate(Sale.self, by: \.place, .count) == ["": 100, "p": 800])
    }
  }
}
