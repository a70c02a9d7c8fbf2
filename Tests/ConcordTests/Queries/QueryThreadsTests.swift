import Concord
import Dispatch
import Foundation
import Testing

@Suite("Queries from any thread")
struct QueryThreadsTests {
  private struct Account: Identifiable, Equatable {
    let id: Int
    var balance: Int
    var branch: Int
  }

  @Test("Whoever reads or is told sees whole transactions: the sum of what is moved about stays")
  func whole() async {
    let store = EntityStore(delivery: .immediate)
    let kept = (0..<40).map { store.store(Account(id: $0, balance: 100, branch: $0 % 4)) }
    let sorted = store.query(Account.self, sortBy: [SortDescriptor(\.balance)])
    let sum = sorted.sum(\.balance)
    let sections = sorted.sections(by: \.branch)
    let failures = Log<String>()
    let subscriptions = [
      sum.observe { if $0 != 4_000 { failures.append("told a sum of \($0)") } },
      sorted.observe(buffering: .every) { results in
        if results.map(\.balance) != results.map(\.balance).sorted() { failures.append("told what is not sorted") }
      },
    ]
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      var generator = SeededGenerator(seed: UInt64(thread))
      for round in 0..<150 {
        let (from, to) = (generator.below(40), generator.below(40))
        let fails = generator.chance(20)
        try? store.transaction { tx in
          tx.update(Account.self, id: from) { $0.balance -= 7 }
          if round % 10 == 0, sum.value != 3_993 { failures.append("does not read its own write") }
          tx.update(Account.self, id: to) {
            $0.balance += 7
            $0.branch = from % 4
          }
          if fails { throw Refused() }
        }
        let value = sections.value
        let total = value.reduce(0) { $0 + $1.elements.reduce(0) { $0 + $1.balance } }
        if total != 4_000 { failures.append("reads a sum of \(total)") }
        if round % 25 == 0 {
          let late = store.query(Account.self, where: { $0.balance > 90 })
          if late.value.contains(where: { $0.balance <= 90 }) { failures.append("reads what is not asked for") }
        }
      }
    }
    await store.settled()
    #expect(failures.values == [])
    #expect(Array(sorted.value) == store.all(Account.self).sorted { ($0.balance, $0.id) < ($1.balance, $1.id) })
    withExtendedLifetime((kept, subscriptions)) {}
    #expect(store._checkInvariants() == [])
  }
}
