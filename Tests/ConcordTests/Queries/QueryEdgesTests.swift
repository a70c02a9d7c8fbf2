import Foundation
import Testing

@testable import Concord

@Suite("Queries of values that do not equal themselves, of missing ids, of other windows")
struct QueryEdgesTests {
  private let store = EntityStore(delivery: .immediate)

  private struct Rated: Identifiable, Equatable {
    let id: Int
    var rating: Double
    var title = ""
  }

  private struct Draft: Identifiable, Equatable {
    let id: Int?
    var title: String
  }

  @Test("Entities whose property is NaN are in one section, and leave it")
  func sections() {
    let kept = [1, .nan, 1, -.nan, 2].enumerated().map { store.store(Rated(id: $0, rating: $1)) }
    let sections = store.query(Rated.self).sections(by: \.rating)
    #expect(sections.value.map { $0.elements.map(\.id) } == [[0, 2], [1, 3], [4]])
    for turn in 0..<100 { store.update(Rated.self, id: 1) { $0.title = "\(turn)" } }
    #expect(sections.value.map(\.elements.count).reduce(0, +) == 5)
    store.update(Rated.self, id: 1) { $0.rating = 2 }
    #expect(sections.value.map { $0.elements.map(\.id) } == [[0, 2], [1, 4], [3]])
    withExtendedLifetime(kept) {}
  }

  @Test("A number is found by an equal one that is written with fewer digits, also inside of other values")
  func decimals() throws {
    struct Money: Hashable, Codable { var amount: Decimal = 0 }
    struct Priced: Identifiable, Equatable {
      let id: Int
      var price: Decimal = 0
      var former: Decimal?
      var money = Money()
      var moneyBefore: Money?
      var prices: [Decimal] = []
      var amount: Decimal { money.amount }
    }
    var random = SeededGenerator(seed: 11)
    struct Parts: Encodable {
      let exponent: Int32
      var length = 4
      var isNegative = false
      var isCompact = false
      let mantissa: [UInt16]
    }
    /// A number that may have zeros at its end, since it is decoded.
    func number(_ digits: UInt64, _ exponent: Int32) throws -> Decimal {
      let words = (0..<8).map { $0 < 4 ? UInt16(truncatingIfNeeded: digits >> (16 * $0)) : 0 }
      let parts = try PropertyListEncoder().encode(Parts(exponent: exponent, mantissa: words))
      return try PropertyListDecoder().decode(Decimal.self, from: parts)
    }
    var unlike = 0
    for _ in 0..<200 {
      let digits = UInt64.random(in: 100_000_000_000_000_000...999_999_999_999_999_999, using: &random)
      let exponent = Int32.random(in: -20...3, using: &random)
      let (long, short) = (try number(10 * digits, exponent), try number(digits, exponent + 1))
      try #require(long == short)
      if long.hashValue != short.hashValue { unlike += 1 }
      let kept = store.store(Priced(id: 1))
      let (money, prices) = (Money(amount: short), [short])
      let queries = [
        store.query(Priced.self, where: #Predicate { $0.price == short }),
        store.query(Priced.self, where: #Predicate { $0.former == short }),
        store.query(Priced.self, where: #Predicate { $0.money == money }),
        store.query(Priced.self, where: #Predicate { $0.moneyBefore == money }),
        store.query(Priced.self, where: #Predicate { $0.prices == prices }),
        store.query(Priced.self, where: #Predicate { $0.money.amount == short }),
      ]
      #expect(queries.allSatisfy { $0.value.isEmpty })
      let same = Money(amount: long)
      store.update(Priced.self, id: 1) {
        ($0.price, $0.former, $0.money, $0.moneyBefore, $0.prices) = (long, long, same, same, [long])
      }
      #expect(queries.map { $0.value.map(\.id) } == Array(repeating: [1], count: 6), "\(long)")
      let other = store.store(Priced(id: 2, price: short, money: money))
      #expect(store.query(Priced.self).sections(by: \.price).value.count == 1, "\(long)")
      #expect(store.query(Priced.self).sections(by: \.money.amount).value.count == 1, "\(long)")
      let pairs = store.query(Priced.self).joined(with: Priced.self) { $0.price == $1.price && $0.amount == $1.amount }
      #expect(pairs.value.count == 4, "\(long)")
      withExtendedLifetime((kept, other)) {}
    }
    #expect(unlike > 0)
  }

  @Test("A value of a type of the user's own finds queries, unless a number is inside whose hash tells nothing")
  func demandedValues() {
    struct Sum: Hashable, Codable {
      enum Kind: Hashable, Codable { case cash, by(Decimal) }
      var kinds: [Kind] = []
      var names: [String: Int] = [:]
      var due: Date?
    }
    struct Bill: Identifiable, Equatable {
      let id: Int
      var code: Code
      var sum: Sum
    }
    let code = Code(text: "a")
    #expect(QueryDemand(#Predicate<Bill> { $0.code == code }) != nil)
    let (plain, priced) = (
      Sum(kinds: [.cash], names: ["a": 1], due: Date(timeIntervalSinceReferenceDate: 0)), Sum(kinds: [.cash, .by(1)])
    )
    #expect(QueryDemand(#Predicate<Bill> { $0.sum == plain }) != nil)
    #expect(QueryDemand(#Predicate<Bill> { $0.sum == priced }) == nil)
  }

  @Test("A property that is `nil` is joined with nothing, whatever the types of both, and beside other equalities")
  func missingKeys() {
    struct Place: Identifiable, Equatable {
      let id: Int
      var parent: Int?
      var former: Int??
    }
    let kept = [
      Place(id: 1), Place(id: 2), Place(id: 3, parent: 1, former: 1), Place(id: 4, parent: 1, former: .some(nil)),
    ].map { store.store($0) }
    let all = store.query(Place.self)
    func pairs(_ condition: (JoinSide<Place>, JoinSide<Place>) -> JoinCondition<Place, Place>) -> [[Int]] {
      all.joined(with: Place.self, on: condition).value.map { [$0.left.id, $0.right.id] }
    }
    #expect(pairs { $0.parent == $1.parent } == [[3, 3], [3, 4], [4, 3], [4, 4]])
    #expect(pairs { $0.parent == $1.parent && $0.id == $1.id } == [[3, 3], [4, 4]])
    #expect(pairs { $0.id == $1.id && $0.parent == $1.parent } == [[3, 3], [4, 4]])
    #expect(pairs { $0.parent == $1.id } == [[3, 1], [4, 1]])
    #expect(pairs { $0.id == $1.parent } == [[1, 3], [1, 4]])
    #expect(pairs { $0.parent == $1.former } == [[3, 3], [4, 3]])
    #expect(pairs { $0.former == $1.former } == [[3, 3], [4, 4]])
    withExtendedLifetime(kept) {}
  }

  @Test(
    "The least and the greatest text are those of a sort, whatever comes and goes, and no `Decimal` that is no number")
  func extremes() {
    struct Priced: Identifiable, Equatable {
      let id: Int
      var name: String
      var price: Decimal
    }
    // By `<`, the first precedes neither the second nor follows it.
    let names = ["e\u{301}", "\u{E9}a", "e\u{301}a\u{301}", "\u{E9}", "e", "f", "e\u{301}b", "\u{E9}\u{E1}z"]
    var random = SeededGenerator(seed: 7)
    var kept: [Int: EntityObserver<Priced>] = [:]
    let all = store.query(Priced.self)
    let (least, greatest) = (all.min(\.name), all.max(\.name))
    let (cheapest, dearest) = (all.min(\.price), all.max(\.price))
    let sorted = store.query(
      Priced.self, sortBy: [SortDescriptor(\.name, comparator: .lexical), SortDescriptor(\.price)])
    let byPrice = store.query(Priced.self, sortBy: [SortDescriptor(\.price)])
    for step in 0..<300 {
      let id = Int.random(in: 0..<9, using: &random)
      if Int.random(in: 0..<3, using: &random) == 0 {
        kept[id] = nil
      } else {
        let price: Decimal = Bool.random(using: &random) ? .nan : Decimal(Int.random(in: -5..<5, using: &random))
        kept[id] = store.store(Priced(id: id, name: names.randomElement(using: &random) ?? "", price: price))
      }
      #expect(least.value == sorted.value.first?.name && greatest.value == sorted.value.last?.name, "step \(step)")
      let numbers = kept.values.map(\.value.price).filter { !$0.isNaN }
      #expect(cheapest.value == numbers.min() && dearest.value == numbers.max(), "step \(step)")
      #expect(byPrice.value.prefix(numbers.count).map(\.price) == numbers.sorted(), "step \(step)")
    }
  }

  @Test("NaN is joined with nothing, and a predicate that demands it finds nothing and leaves nothing")
  func unequal() {
    weak var ended: AnyObject?
    do {
      let store = EntityStore(delivery: .immediate)
      let kept = [1, .nan, .nan].enumerated().map { store.store(Rated(id: $0, rating: $1)) }
      let pairs = store.query(Rated.self).joined(with: Rated.self) { $0.rating == $1.rating }
      #expect(pairs.value.map { [$0.left.id, $0.right.id] } == [[0, 0]])
      for turn in 0..<100 { store.update(Rated.self, id: 1) { $0.title = "\(turn)" } }
      #expect(pairs.value.count == 1)
      let wanted = Double.nan
      let query = store.query(Rated.self, where: #Predicate { $0.rating == wanted })
      #expect(query.value.isEmpty)
      let life = store.store(Held(id: 0, token: Token()))
      ended = life.value.token
      withExtendedLifetime((kept, life)) {}
    }
    #expect(ended == nil)
  }

  /// A value whose hash tells nothing.
  private struct Code: Hashable, Codable {
    let text: String
    func hash(into hasher: inout Hasher) {}
  }

  private struct Coded: Identifiable, Equatable {
    let id: Int
    var code: Code
  }

  @Test("Values that share a hash are told apart")
  func sameHash() {
    let codes = ["a", "b", "c"].map { Code(text: $0) }
    let queries = codes.map { code in store.query(Coded.self, where: #Predicate { $0.code == code }) }
    let kept = (0..<3).map { store.store(Coded(id: $0, code: codes[$0])) }
    #expect(queries.map { $0.value.map(\.id) } == [[0], [1], [2]])
    store.update(Coded.self, id: 0) { $0.code = codes[1] }
    store.remove(Coded.self, id: 2)
    #expect(queries.map { $0.value.map(\.id) } == [[], [0, 1], []])
    withExtendedLifetime(kept) {}
  }

  private final class Token: Sendable {}
  private struct Held: Identifiable {
    let id: Int
    let token: Token
  }

  @Test("Entities without an id, or with one that does not equal itself, keep apart in differences")
  func missingIDs() {
    struct Measured: Identifiable, Equatable {
      let id: Double
      var title: String
    }
    func difference<T: Identifiable & Sendable>(_ old: [T], _ new: [T]) -> EntityDifference<T> {
      let order = EntryOrder<T>([])
      func results(_ values: [T]) -> EntityResults<T> {
        let entries = values.enumerated().map { QueryEntry($1, number: UInt64($0 + 1)) as AnyEntry }
        return EntityResults(OrderedTree(sorted: ContiguousArray(entries)), order, 0..<Int.max)
      }
      return results(new).difference(from: results(old))
    }
    let drafts = difference(
      [Draft(id: nil, title: "a"), Draft(id: nil, title: "b")],
      [Draft(id: nil, title: "c"), Draft(id: nil, title: "d")])
    #expect(drafts.inserted.isEmpty && drafts.removed.isEmpty && drafts.moved.isEmpty)
    #expect(drafts.updated.map { $0.old.title + $0.new.title } == ["ac", "bd"])
    let measured = difference(
      [Measured(id: .nan, title: "a"), Measured(id: .nan, title: "b")],
      [Measured(id: .nan, title: "c"), Measured(id: .nan, title: "d")])
    #expect(measured.inserted.isEmpty && measured.removed.isEmpty)
    #expect(measured.updated.map { $0.old.title + $0.new.title } == ["ac", "bd"])
  }

  @Test("What follows one query and then another, with another window, shows what that finds")
  func otherWindow() {
    struct Choice: Identifiable, Equatable {
      let id: Int
      var isSecond: Bool
    }
    let kept = (1...3).map { store.store(Rated(id: $0, rating: Double($0))) }
    let choice = store.store(Choice(id: 0, isSecond: false))
    let (one, two) = (store.query(Rated.self, limit: 1), store.query(Rated.self, limit: 2))
    let shown = store.observer(of: one, two).map { [store] in
      store.value(Choice.self, id: 0)?.isSecond == true ? $0.1 : $0.0
    }
    let sum = shown.sum(\.rating)
    let list = Log<[Int]>()
    let rows = Kept<[Int]>()
    rows.value = []
    let subscription = shown.observeDifferences { difference in
      var ids = rows.value ?? []
      for change in difference.removed.reversed() { ids.remove(at: change.offset) }
      for change in difference.inserted { ids.insert(change.element.id, at: change.offset) }
      rows.value = ids
      list.append(difference.elements.map(\.id))
    }
    #expect(sum.value == 1)
    store.update(Choice.self, id: 0) { $0.isSecond = true }
    store.update(Rated.self, id: 1) { $0.title = "new" }
    #expect(sum.value == 3)
    #expect(rows.value == [1, 2] && list.last == [1, 2])
    withExtendedLifetime((kept, choice, subscription)) {}
  }

  @Test("A join does not tell its observers the same pairs again")
  func samePairs() {
    struct Left: Identifiable, Equatable {
      let id: Int
      var topic: Int
      var title = ""
    }
    struct Right: Identifiable, Equatable {
      let id: Int
      var topic: Int
    }
    let lefts = [Left(id: 0, topic: 1), Left(id: 1, topic: 7)].map { store.store($0) }
    let right = store.store(Right(id: 0, topic: 1))
    let told = Log<Int>()
    let pairs = store.query(Left.self).joined(with: Right.self) { $0.topic == $1.topic }
    let subscription = pairs.observe { told.append($0.count) }
    try? store.transaction { tx in
      tx.update(Right.self, id: 0) { $0.topic = 9 }
      #expect(pairs.value.isEmpty)
      throw Refused()
    }
    store.update(Left.self, id: 1) { $0.title = "z" }
    #expect(told.values == [1])
    withExtendedLifetime((lefts, right, subscription)) {}
  }

  @Test("A sum that its type cannot represent is the nearest number that it can, until it is smaller again")
  func largeSums() {
    struct Sale: Identifiable, Equatable {
      let id: Int
      var cents: Int
      var pieces: Int8 = 100
      var exactCents: Int128 { Int128(cents) }
    }
    let sales = (0..<3).map { store.store(Sale(id: $0, cents: .max)) }
    let query = store.query(Sale.self)
    #expect(query.sum(\.cents).value == .max && query.sum(\.pieces).value == 127)
    #expect(query.sum(\.exactCents).value == 3 * Int128(Int.max))
    #expect(query.average(\.cents).value == Double(Int.max))
    let sum = query.sum(\.cents)
    store.update(Sale.self, id: 0) { $0.cents = .min }
    #expect(sum.value == .max - 1)
    for id in 1...2 { store.update(Sale.self, id: id) { $0.cents = .min } }
    #expect(sum.value == .min)
    store.update(Sale.self, id: 0) { $0.cents = 5 }
    for id in 1...2 { store.update(Sale.self, id: id) { $0.cents = 1 } }
    #expect(sum.value == 7)
    withExtendedLifetime(sales) {}
  }
}
