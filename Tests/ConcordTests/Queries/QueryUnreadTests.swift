import Concord
import ConcordTestHeap
import Foundation
import Testing

/// What a query that nobody reads for a while has noted meanwhile: whatever finds it, it shows afterwards what there is, and retains nothing else.
@Suite("Queries that nobody reads for a while")
struct QueryUnreadTests {
  private let store = EntityStore(delivery: .immediate)

  struct Job: Identifiable {
    let id: Int
    var isDone = false
    var number = 1
    var weight = 1.0
    var title = "a"
    var guest: Guest?

    /// Whether each of the queries finds it.
    var isFound: Bool {
      get { !isDone }
      set {
        isDone = !newValue
        number = newValue ? 1 : 9
        title = newValue ? "a" : "x"
        // Which no range finds, and of which nothing is known.
        weight = newValue ? 1 : .nan
      }
    }
  }

  final class Guest: Sendable {
    private let ended: Counter
    init(_ ended: Counter) { self.ended = ended }
    deinit { ended.increment() }
  }

  /// Demands by which changes find a query, and one that is told of all.
  static let forms: [(name: String, predicate: Predicate<Job>)] = [
    ("truth value", #Predicate { !$0.isDone }),
    ("value", #Predicate { $0.number == 1 }),
    ("range", #Predicate { $0.number < 3 }),
    ("closed range", #Predicate { (0...2).contains($0.number) }),
    ("range without NaN", #Predicate { $0.weight < 3 }),
    ("range of texts", #Predicate { $0.title < "b" }),
    ("none", #Predicate { $0.number != 9 }),
  ]

  private func query(_ form: Int) -> EntityObserver<EntityResults<Job>> {
    store.query(Job.self, where: Self.forms[form].predicate)
  }

  private func ids(_ query: EntityObserver<EntityResults<Job>>) -> [Int] { query.value.map(\.id) }

  private func setFound(_ id: Int, _ isFound: Bool) { store.update(Job.self, id: id) { $0.isFound = isFound } }

  @Test(
    "What is found, is found no longer, is removed and stored again, while somebody observes it, is there once",
    arguments: forms.indices)
  func storedAgain(form: Int) {
    let query = query(form)
    let kept = store.store(Job(id: 1))
    #expect(ids(query) == [1])
    setFound(1, false)
    store.remove(Job.self, id: 1)
    let again = store.store(Job(id: 1))
    #expect(ids(query) == [1] && query.count.value == 1, "\(Self.forms[form].name)")
    // As one that has come since the last reading, too.
    for _ in 0..<2 {
      let (new, id) = (store.store(Job(id: 2)), 2)
      setFound(id, false)
      store.remove(Job.self, id: id)
      let newAgain = store.store(Job(id: id))
      setFound(id, false)
      setFound(id, true)
      #expect(ids(query) == [1, 2], "\(Self.forms[form].name)")
      withExtendedLifetime((new, newAgain)) {}
    }
    withExtendedLifetime((kept, again)) {}
  }

  @Test(
    "The same in sums, sections, joins, and differences of a subscription that was paused", arguments: forms.indices)
  func operators(form: Int) {
    let query = query(form)
    let kept = store.store(Job(id: 1))
    let (sum, sections) = (query.sum(\.number), query.sections(by: \.title))
    let pairs = query.joined(with: Job.self) { $0.number == $1.id }
    let shown = Kept<[Int]>()
    shown.value = []
    let subscription = query.observeDifferences { difference in
      var ids = shown.value ?? []
      for change in difference.removed.reversed() { ids.remove(at: change.offset) }
      for change in difference.inserted { ids.insert(change.element.id, at: change.offset) }
      shown.value = ids
    }
    #expect(sum.value == 1 && sections.value.map(\.elements.count) == [1] && pairs.value.count == 1)
    subscription.pause()
    setFound(1, false)
    store.remove(Job.self, id: 1)
    let again = store.store(Job(id: 1))
    #expect(sum.value == 1 && sections.value.map(\.elements.count) == [1] && pairs.value.count == 1)
    subscription.resume()
    #expect(shown.value == [1], "\(Self.forms[form].name)")
    withExtendedLifetime((kept, again)) {}
  }

  @Test("The same where a transaction or a layer removes it, is taken back, or stays", arguments: forms.indices)
  func layers(form: Int) {
    let query = query(form)
    let kept = store.store(Job(id: 1))
    #expect(ids(query) == [1])
    for turn in 0..<12 {
      setFound(1, false)
      let removing = store.optimistically { tx in tx.remove(Job.self, id: 1) }
      if turn % 2 == 0 { removing.commit() } else { removing.rollBack() }
      try? store.transaction { tx in
        tx.remove(Job.self, id: 1)
        let inside = tx.store(Job(id: 1))
        if turn % 3 == 0 { #expect(ids(query) == [1], "turn \(turn)") }
        withExtendedLifetime(inside) {}
        throw Refused()
      }
      let again = store.store(Job(id: 1))
      setFound(1, false)
      setFound(1, true)
      if turn % 4 != 1 { #expect(ids(query) == [1], "\(Self.forms[form].name), turn \(turn)") }
      withExtendedLifetime(again) {}
    }
    #expect(ids(query) == [1])
    withExtendedLifetime(kept) {}
  }

  @Test("Beside a query that nobody reads, what is found, changes and goes is gone", arguments: forms.indices)
  func released(form: Int) {
    let (query, ended) = (query(form), Counter())
    #expect(ids(query).isEmpty)
    for id in 0..<2_000 {
      let kept = store.store(Job(id: id, guest: Guest(ended)))
      setFound(id, false)
      withExtendedLifetime(kept) {}
    }
    #expect(ended.value == 2_000, "\(Self.forms[form].name)")
    #expect(ids(query).isEmpty)
  }

  @Test(
    "A query that is made in a transaction which releases an entity does not know it afterwards",
    arguments: forms.indices)
  func releasedInside(form: Int) {
    var kept: EntityObserver<Job>? = store.store(Job(id: 1))
    let made = store.transaction { tx in
      let made = query(form)
      #expect(ids(made) == [1])
      kept = nil
      return made
    }
    #expect(ids(made).isEmpty && kept == nil)
    #expect(store._checkInvariants() == [])
  }

  @Test("After many that came and went, a few at a time or all at once, the store is as small as before")
  func small() async {
    await #expect(processExitsWith: .success) {
      let store = EntityStore(delivery: .immediate)
      func comeAndGo(_ count: Int) {
        for id in 0..<count {
          let kept = store.store(Job(id: id))
          store.update(Job.self, id: id) { $0.isFound = false }
          withExtendedLifetime(kept) {}
        }
      }
      func peak(_ count: Int) {
        let kept = (0..<count).map { store.store(Job(id: $0)) }
        withExtendedLifetime(kept) {}
      }
      peak(20_000)
      for (name, predicate) in QueryUnreadTests.forms {
        let query = store.query(Job.self, where: predicate)
        #expect(query.value.isEmpty)
        comeAndGo(1_000)
        let before = heapInUse()
        comeAndGo(10_000)
        let more = heapInUse() - before
        peak(20_000)
        let moreAfterPeak = heapInUse() - before
        #expect(more < 100_000 && moreAfterPeak < 200_000, "\(name): \(more) and \(moreAfterPeak) bytes")
        withExtendedLifetime(query) {}
      }
    }
  }
}
