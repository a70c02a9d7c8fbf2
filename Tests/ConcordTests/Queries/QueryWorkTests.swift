import Foundation
import Testing

@testable import Concord

@Suite("What queries cost")
struct QueryWorkTests {
  private let store = EntityStore(delivery: .immediate)

  private struct Item: Identifiable, Equatable {
    let id: Int
    var number: Int
    var owner: Int
  }

  @Test("Nothing is evaluated again that did not change")
  func evaluations() {
    let kept = (0..<1_000).map { store.store(Item(id: $0, number: $0, owner: 0)) }
    let evaluations = Counter()
    let even = store.query(
      Item.self,
      where: {
        evaluations.increment()
        return $0.number % 2 == 0
      }, sortBy: [SortDescriptor(\.number)], limit: 10)
    let subscriptions = (0..<3).map { _ in even.observe { _ in } } + [even.count.observe { _ in }]
    #expect(even.value.count == 10)
    #expect(evaluations.value == 1_000)
    store.update(Item.self, id: 500) { $0.number = -2 }
    #expect(even.value.first?.id == 500)
    #expect(evaluations.value == 1_001)
    store.transaction { tx in for id in 0..<5 { tx.update(Item.self, id: id) { $0.number += 1 } } }
    store.remove(Item.self, id: 7)
    #expect(evaluations.value == 1_006)
    // Many at once.
    store.transaction { tx in for id in 100..<700 { tx.update(Item.self, id: id) { $0.number += 2 } } }
    _ = even.value
    #expect(evaluations.value == 1_606)
    let inside = store.transaction { tx in
      tx.update(Item.self, id: 999) { $0.number = -100 }
      return [even.value.first?.id, even.value.first?.id]
    }
    #expect(inside == [999, 999])
    // Once for the transaction's own thread, once for all.
    #expect(evaluations.value == 1_608)
    withExtendedLifetime((kept, subscriptions)) {}
  }

  @Test("A query that nobody reads evaluates nothing, and catches up with the newest values alone")
  func unread() {
    let kept = (0..<100).map { store.store(Item(id: $0, number: $0, owner: 0)) }
    let evaluations = Counter()
    let all = store.query(
      Item.self,
      where: { _ in
        evaluations.increment()
        return true
      })
    #expect(evaluations.value == 0)
    #expect(all.value.count == 100)
    for number in 0..<50 { store.update(Item.self, id: 3) { $0.number = 1_000 + number } }
    #expect(evaluations.value == 100)
    #expect(all.value[3].number == 1_049)
    #expect(evaluations.value == 101)
    withExtendedLifetime(kept) {}
  }

  /// An entity that counts how often conditions look at it.
  private struct Counted: Aggregate, Equatable {
    let id: Int
    let looks: Counter
    var number = 0
    var isDone = false
    var weight = 0.0
    var price: Decimal = 0
    var day = Date.distantPast
    var title = ""
    var place = Spot(floor: 0)
    var spot: Spot?
    var owner = Owner(id: 0, rank: 0)
    var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.owner)] }

    /// As a computed property it finds nothing, and is the first that is evaluated.
    var isLooked: Bool {
      looks.increment()
      return true
    }

    static func == (a: Self, b: Self) -> Bool { false }

    /// Sets all properties by which queries may find it.
    mutating func set(_ number: Int) {
      (self.number, weight, price, day) = (
        number, Double(number), Decimal(number), Date(timeIntervalSince1970: Double(number))
      )
      title = Self.title(number)
      (place, spot, owner) = (Spot(floor: number), Spot(floor: number), Owner(id: number, rank: number))
    }

    static func title(_ number: Int) -> String { String(UnicodeScalar(UInt32(0x4E00 + number)) ?? "a") }
  }

  private struct Spot: Equatable { var floor: Int }

  private struct Owner: Identifiable, Equatable, Codable {
    let id: Int
    var rank: Int
  }

  /// Predicates of which each number has its own.
  private static let forms: [(name: String, predicate: @Sendable (Int) -> Predicate<Counted>)] = [
    ("value", { n in #Predicate { $0.isLooked && $0.number == n && $0.id >= 0 } }),
    ("the other way round", { n in #Predicate { $0.isLooked && n + 0 == $0.number } }),
    (
      "another's value",
      { n in
        let owner = Owner(id: n, rank: n)
        return #Predicate { $0.isLooked && !$0.isDone && $0.number == owner.rank }
      }
    ),
    ("value inside", { n in #Predicate { $0.isLooked && $0.place.floor == n } }),
    ("value in an optional", { n in #Predicate { $0.isLooked && $0.spot?.floor == n } }),
    ("entity inside", { n in #Predicate { $0.isLooked && $0.owner.id == n } }),
    ("range", { n in #Predicate { $0.isLooked && $0.number >= n && $0.number < n + 1 } }),
    (
      "range, the other way round",
      { n in #Predicate { $0.isLooked && !$0.isDone && n <= $0.number && n + 1 > $0.number } }
    ),
    (
      "numbers",
      { n in
        let (a, b) = (Double(n) - 0.5, Double(n) + 0.5)
        return #Predicate { $0.isLooked && $0.weight > a && $0.weight <= b }
      }
    ),
    (
      "decimals",
      { n in
        let (a, b) = (Decimal(n), Decimal(n))
        return #Predicate { $0.isLooked && $0.price >= a && $0.price <= b }
      }
    ),
    (
      "dates",
      { n in
        let (a, b) = (Date(timeIntervalSince1970: Double(n)), Date(timeIntervalSince1970: Double(n + 1)))
        return #Predicate { $0.isLooked && $0.day >= a && $0.day < b }
      }
    ),
    (
      "texts",
      { n in
        let (a, b) = (Counted.title(n), Counted.title(n + 1))
        return #Predicate { $0.isLooked && $0.title >= a && $0.title < b }
      }
    ),
    ("range inside", { n in #Predicate { $0.isLooked && $0.owner.rank > n - 1 && $0.owner.rank <= n } }),
    (
      "a range that contains",
      { n in
        let range = n..<n + 1
        return #Predicate { $0.isLooked && range.contains($0.number) }
      }
    ),
    ("a closed range that contains", { n in #Predicate { $0.isLooked && (n...n).contains($0.place.floor) } }),
  ]

  @Test(
    "Of a thousand queries that demand a value, or one in a range, a change concerns those of the value before and of the value now",
    arguments: forms.indices)
  func concerned(form: Int) {
    let (looks, told) = (Counter(), Log<Int>())
    let kept = (0..<10).map { id -> EntityObserver<Counted> in
      var item = Counted(id: id, looks: looks)
      item.set(id)
      return store.store(item)
    }
    let subscriptions = (0..<1_000).map { number in
      store.query(Counted.self, where: Self.forms[form].predicate(number)).observe { _ in told.append(number) }
    }
    told.clear()
    func looksAt(_ change: () -> Void) -> Int {
      let before = looks.value
      change()
      return looks.value - before
    }
    #expect(looksAt { store.update(Counted.self, id: 5) { $0.weight += 0.25 } } == 1, "\(Self.forms[form].name)")
    #expect(told.values == [5])
    // What the query of the value before demands is known not to be.
    #expect(looksAt { store.update(Counted.self, id: 5) { $0.set(900) } } == 1)
    #expect(told.values.sorted() == [5, 5, 900])
    #expect(looksAt { store.remove(Counted.self, id: 5) } == 0)
    #expect(told.values.sorted() == [5, 5, 900, 900])
    withExtendedLifetime((kept, subscriptions)) {}
  }

  @Test("A change of an entity inside concerns the queries that demand a value of it, and no others")
  func concernedByContained() {
    let (looks, told) = (Counter(), Log<Int>())
    var item = Counted(id: 1, looks: looks)
    item.set(5)
    let kept = store.store(item)
    let subscriptions = (0..<1_000).map { number in
      store.query(
        Counted.self, where: #Predicate { $0.isLooked && $0.owner.rank >= number && $0.owner.rank < number + 1 }
      ).observe { _ in told.append(number) }
    }
    told.clear()
    let before = looks.value
    store.update(Owner.self, id: 5) { $0.rank = 7 }
    #expect(looks.value == before + 1)
    #expect(told.values.sorted() == [5, 7])
    withExtendedLifetime((kept, subscriptions)) {}
  }

  @Test("A change of what is done concerns no query of what is not")
  func concernedByTruth() {
    let looks = Counter()
    let kept = (0..<2).map { store.store(Counted(id: $0, looks: looks, isDone: $0 == 0)) }
    let forms: [Predicate<Counted>] = [
      #Predicate { $0.isLooked && !$0.isDone }, #Predicate { $0.isLooked && $0.isDone == false },
      #Predicate { $0.isLooked && $0.isDone != true }, #Predicate { $0.isLooked && !($0.isDone || $0.number > 7) },
    ]
    let queries = (0..<100).map { store.query(Counted.self, where: forms[$0 % forms.count]) }
    let done = store.query(Counted.self, where: #Predicate { $0.isLooked && $0.isDone })
    let subscriptions = (queries + [done]).map { $0.observe { _ in } }
    func looksAt(_ change: () -> Void) -> Int {
      let before = looks.value
      change()
      return looks.value - before
    }
    #expect(looksAt { store.update(Counted.self, id: 0) { $0.number = 1 } } == 1)
    #expect(looksAt { store.update(Counted.self, id: 1) { $0.number = 1 } } == 100)
    #expect(looksAt { store.update(Counted.self, id: 0) { $0.isDone = false } } == 100)
    #expect(queries.allSatisfy { $0.value.count == 2 })
    withExtendedLifetime((kept, subscriptions)) {}
  }

  @Test("A value or a bound that has no place in the order is asked each time, and is never lost")
  func notOrdered() {
    let looks = Counter()
    let kept = (0..<3).map { store.store(Counted(id: $0, looks: looks, weight: $0 == 0 ? .nan : Double($0))) }
    let noNumber = Double.nan
    let queries = (0..<10).map { number in
      let bound = Double(number)
      return store.query(Counted.self, where: #Predicate { $0.isLooked && $0.weight >= bound && $0.weight <= bound })
    }
    let never = store.query(Counted.self, where: #Predicate { $0.isLooked && $0.weight <= noNumber })
    let subscriptions = (queries + [never]).map { $0.observe { _ in } }
    let before = looks.value
    // Ten that are ordered, of a value that is not; and one that is not.
    store.update(Counted.self, id: 0) { $0.number = 1 }
    #expect(looks.value == before + 11)
    store.update(Counted.self, id: 0) { $0.weight = 5 }
    #expect(queries.map(\.value.count) == [0, 1, 1, 0, 0, 1, 0, 0, 0, 0])
    store.update(Counted.self, id: 0) { $0.weight = .nan }
    store.update(Counted.self, id: 1) { $0.weight = .nan }
    #expect(queries.map(\.value.count) == [0, 0, 1, 0, 0, 0, 0, 0, 0, 0])
    store.update(Counted.self, id: 1) { $0.weight = 9 }
    #expect(queries.map(\.value.count) == [0, 0, 1, 0, 0, 0, 0, 0, 0, 1])
    #expect(never.value.isEmpty)
    withExtendedLifetime((kept, subscriptions)) {}
  }

  @Test("Writing and reading in turn inside of a transaction looks once at each change", arguments: [false, true])
  func turns(isInside: Bool) {
    let looks = Counter()
    let kept = (0..<1_000).map { id in
      var item = Counted(id: id, looks: looks)
      item.set(id)
      return store.store(item)
    }
    let query = store.query(Counted.self, where: { $0.isLooked && $0.owner.rank >= 5_000 })
    let subscription = query.observe { _ in }
    let before = looks.value
    store.transaction { tx in
      for turn in 0..<1_000 {
        if isInside {
          tx.update(Owner.self, id: turn % 10) { $0.rank = 5_000 + turn }
        } else {
          tx.update(Counted.self, id: turn) { $0.owner.rank = 5_000 + turn }
        }
        #expect(query.value.count == (isInside ? min(turn + 1, 10) : turn + 1))
        #expect(query.value.contains { $0.owner.rank == 5_000 + turn })
      }
      #expect(looks.value == before + 1_000)
    }
    // Once more for what is committed.
    #expect(looks.value == before + 1_000 + (isInside ? 10 : 1_000))
    withExtendedLifetime((kept, subscription)) {}
  }

  @Test("What a part of a transaction undoes is looked at again, and the rest is not")
  func turnsUndone() {
    let looks = Counter()
    let kept = (0..<1_000).map { store.store(Counted(id: $0, looks: looks, owner: Owner(id: $0, rank: 0))) }
    let query = store.query(Counted.self, where: { $0.isLooked && $0.number > 0 })
    #expect(query.value.isEmpty)
    let before = looks.value
    store.transaction { tx in
      for id in 0..<500 { tx.update(Counted.self, id: id) { $0.number = 1 } }
      #expect(query.value.count == 500)
      for turn in 500..<700 {
        try? tx.transaction { tx in
          tx.update(Counted.self, id: turn) { $0.number = 1 }
          let new = tx.store(
            Counted(id: 2_000 + turn, looks: looks, number: 7, owner: Owner(id: 2_000 + turn, rank: 0)))
          #expect(query.value.count == 502)
          withExtendedLifetime(new) {}
          throw Refused()
        }
        #expect(query.value.count == 500)
      }
    }
    // Of each part the two changes, and the one that is there when it is undone.
    #expect(looks.value <= before + 500 + 200 * 3)
    #expect(query.value.count == 500)
    withExtendedLifetime(kept) {}
  }

  @Test(
    "Whether pairs of a join have changed, and which, is known without a look at the others",
    arguments: [1_000, 50_000])
  func pairs(count: Int) {
    let kept = store.store((0..<count).map { Item(id: $0, number: $0, owner: $0) })
    let pairs = store.query(Item.self).joined(with: Item.self) { $0.owner == $1.id }
    let told = Counter()
    let subscription = pairs.observe { _ in told.increment() }
    let before = pairs.value
    store.update(Item.self, id: count / 2) { $0.number = -1 }
    let after = pairs.value
    let changes = after.changes(from: before)
    #expect((changes.removed.map(\.offset), changes.inserted.map(\.offset)) == ([count / 2], [count / 2]))
    #expect(changes.looks <= 2 * 4 * (TreeNode.most + 4), "\(changes.looks)")
    #expect(!after.isSame(as: before) && after.isSame(as: after) && told.value == 2)
    // Pairs that have come and gone leave a list of the same ones.
    try? store.transaction { tx in
      tx.update(Item.self, id: 3) { $0.owner = 4 }
      #expect(pairs.value[3].right.id == 4)
      throw Refused()
    }
    let back = pairs.value
    #expect(back.tree.root !== after.tree.root && back.isSame(as: after) && told.value == 2)
    #expect(back.changes(from: after).looks <= 2 * 4 * (TreeNode.most + 4))
    withExtendedLifetime((kept, subscription)) {}
  }

  @Test("Sections, sums and joins look at what changed")
  func operators() {
    let reads = Counter()
    struct Counted: Identifiable, Equatable {
      let id: Int
      var stored: Int
      let reads: Reads
      var number: Int {
        reads.counter.increment()
        return stored
      }
    }
    struct Reads: Equatable {
      let counter: Counter
      static func == (a: Self, b: Self) -> Bool { true }
    }
    let kept = (0..<500).map { store.store(Counted(id: $0, stored: $0 % 10, reads: Reads(counter: reads))) }
    let all = store.query(Counted.self)
    let (sections, sum, least) = (all.sections(by: \.number), all.sum(\.number), all.min(\.number))
    let pairs = all.joined(with: Counted.self) { $0.number == $1.id }
    #expect((sections.value.count, sum.value, least.value, pairs.value.count) == (10, 2_250, 0, 500))
    let before = reads.value
    store.update(Counted.self, id: 3) { $0.stored = 4 }
    #expect((sections.value.count, sum.value, least.value, pairs.value.count) == (10, 2_251, 0, 500))
    // Each operator reads the former value and the new one.
    #expect(reads.value - before <= 8)
    withExtendedLifetime(kept) {}
  }
}
