import Concord
import Dispatch
import Foundation
import Testing

@Suite("Queries over the store")
struct QueryTests {
  private let store = EntityStore(delivery: .immediate)

  private func errand(_ id: Int, _ title: String = "", topic: Int = 0, project: Project? = nil) -> Errand {
    Errand(id: id, title: title, minutes: 0, weight: 0, due: nil, topic: topic, project: project)
  }

  @Test("Results are sorted, ties by id, limited, and told when they change")
  func results() {
    let log = Log<[Int]>()
    let first = store.query(
      Errand.self, where: #Predicate { $0.topic < 5 }, sortBy: [SortDescriptor(\.title)], limit: 2)
    let subscription = first.observe { log.append($0.map(\.id)) }
    let kept = [(9, "b", 0), (4, "a", 0), (3, "b", 0), (1, "a", 7), (2, "a", 0)].map {
      store.store(errand($0.0, $0.1, topic: $0.2))
    }
    store.update(Errand.self, id: 2) { $0.title = "c" }
    store.update(Errand.self, id: 9) { $0.title = "x" }
    store.remove(Errand.self, id: 3)
    #expect(log.values == [[], [9], [4, 9], [4, 3], [2, 4], [4, 3], [4, 2]])
    #expect(first.value.map(\.id) == [4, 2])
    #expect(first.value.first?.id == 4)
    #expect(first.value[1].title == "c")
    withExtendedLifetime((kept, subscription)) {}
  }

  @Test("Ids that have an order of their own, or none, decide ties")
  func ids() {
    enum Grade: String, Sendable { case low = "b", high = "a" }
    struct Key: Hashable, Sendable { let name: String }
    struct Graded: Identifiable, Equatable { let id: Grade }
    struct Keyed: Identifiable, Equatable { let id: Key }
    struct Worded: Identifiable, Equatable { let id: String }
    let kept: [Any] = [
      store.store(Graded(id: .low)), store.store(Graded(id: .high)), store.store(Worded(id: "b")),
      store.store(Worded(id: "a")),
    ]
    let keyed = store.query(Keyed.self)
    let late = ["z", "a", "m"].map { store.store(Keyed(id: Key(name: $0))) }
    #expect(store.query(Graded.self).value.map(\.id) == [.high, .low])
    #expect(store.query(Worded.self).value.map(\.id) == ["a", "b"])
    #expect(keyed.value.map(\.id.name) == ["z", "a", "m"])
    withExtendedLifetime((kept, late)) {}
  }

  @Test("A condition follows the entities inside, also when nobody reads in between")
  func inside() {
    let project = Project(id: "p", isOpen: false, rank: 0)
    let kept = (0..<3).map { store.store(errand($0, project: $0 < 2 ? project : nil)) }
    let open = store.query(Errand.self, where: { $0.project?.isOpen ?? false })
    #expect(open.value.isEmpty)
    for rank in 1...3 { store.update(Project.self, id: "p") { $0.rank = rank } }
    store.update(Project.self, id: "p") { $0.isOpen = true }
    #expect(open.value.map(\.id) == [0, 1])
    #expect(open.value.first?.project?.rank == 3)
    store.update(Project.self, id: "p") { $0.isOpen = false }
    #expect(open.value.isEmpty)
    withExtendedLifetime(kept) {}
  }

  @Test("A condition may use the store, and a predicate that throws leaves the entity out")
  func conditions() {
    let store = store
    let kept = (0..<3).map { store.store(errand($0, topic: $0)) }
    let asking = store.query(Errand.self, where: { store.value(Errand.self, id: $0.id)?.topic != 1 })
    let log = Log<[Int]>()
    let subscription = asking.observe { log.append($0.map(\.id)) }
    store.update(Errand.self, id: 0) { $0.topic = 1 }
    #expect(log.values == [[0, 2], [2]])
    store.update(Errand.self, id: 2) { $0.project = Project(id: "p", isOpen: true, rank: 0) }
    let unwrapping = store.query(Errand.self, where: #Predicate { $0.project!.isOpen })
    #expect(unwrapping.value.map(\.id) == [2])
    withExtendedLifetime((kept, subscription)) {}
  }

  @Test("Inside a transaction its thread asks its own writes, others what was committed; what is undone is not shown")
  func transactions() {
    let store = store
    let kept = (0..<2).map { store.store(errand($0)) }
    let all = store.query(Errand.self)
    let count = all.count
    let others = Log<[Int]>()
    let told = Log<Int>()
    let subscription = count.observe { told.append($0) }
    try? store.transaction { tx in
      tx.store(errand(7), named: "seven")
      tx.remove(Errand.self, id: 0)
      #expect(all.value.map(\.id) == [1, 7])
      try? tx.transaction { inner in
        inner.remove(Errand.self, id: 1)
        #expect(count.value == 1)
        throw Refused()
      }
      #expect(all.value.map(\.id) == [1, 7])
      #expect(store.query(Errand.self, where: { $0.id > 5 }).value.map(\.id) == [7])
      #expect(ends { others.append(all.value.map(\.id)) })
      throw Refused()
    }
    #expect(others.values == [[0, 1]])
    #expect(all.value.map(\.id) == [0, 1])
    #expect(told.values == [2])
    let late = store.transaction { tx in
      tx.update(Errand.self, id: 0) { $0.topic = 3 }
      return store.query(Errand.self, where: { $0.topic == 3 })
    }
    #expect(late.value.map(\.id) == [0])
    withExtendedLifetime((kept, subscription)) {}
    #expect(store._checkInvariants() == [])
  }

  @Test("What a layer makes is shown at its place, and gone when it is rolled back")
  func layers() {
    let kept = (0..<4).map { store.store(errand($0, "\($0)")) }
    let sorted = store.query(
      Errand.self, where: { $0.topic == 0 }, sortBy: [SortDescriptor(\.title, comparator: .lexical)])
    let log = Log<[Int]>()
    let subscription = sorted.observe { log.append($0.map(\.id)) }
    let moved = store.optimistically { $0.update(Errand.self, id: 3) { $0.title = "00" } }
    let hidden = store.optimistically { $0.update(Errand.self, id: 1) { $0.topic = 1 } }
    store.update(Errand.self, id: 2) { $0.title = "000" }
    moved.rollBack()
    hidden.commit()
    #expect(log.values == [[0, 1, 2, 3], [0, 3, 1, 2], [0, 3, 2], [0, 3, 2], [0, 2, 3]])
    #expect(sorted.value.map(\.id) == [0, 2, 3])
    withExtendedLifetime((kept, subscription)) {}
  }

  @Test("Nobody is told of what makes no difference to the results")
  func needless() {
    let kept = (0..<3).map { store.store(errand($0, topic: $0)) }
    let log = Log<[Int]>()
    let counts = Log<Int>()
    let subscriptions = [
      store.query(Errand.self, where: { $0.topic > 0 }, limit: 1).observe { log.append($0.map(\.id)) },
      store.query(Errand.self).count.observe { counts.append($0) },
    ]
    store.update(Errand.self, id: 0) { $0.title = "other" }
    store.update(Errand.self, id: 2) { $0.title = "behind the limit" }
    store.store(errand(1, topic: 1))
    store.transaction { tx in
      tx.update(Errand.self, id: 1) { $0.topic = 9 }
      tx.update(Errand.self, id: 1) { $0.topic = 1 }
    }
    #expect(log.values == [[1]])
    #expect(counts.values == [3])
    withExtendedLifetime((kept, subscriptions)) {}
  }

  @Test("A query retains nobody, and leaves nothing behind")
  func weak() {
    weak var observed: AnyObject?
    do {
      var errands: [EntityObserver<Errand>] = (0..<3).map { store.store(errand($0)) }
      let all = store.query(Errand.self)
      let sections = all.sections(by: \.topic)
      let subscription = sections.observe { _ in }
      observed = subscription
      #expect(all.value.count == 3)
      errands.removeLast()
      #expect(store.count(Errand.self) == 2)
      #expect(all.value.map(\.id) == [0, 1])
      withExtendedLifetime((errands, subscription)) {}
    }
    #expect(observed == nil)
    #expect(store._statistics().entities == 0)
    let before = store._statistics().nodes
    for _ in 0..<3 { _ = store.query(Errand.self, where: { $0.topic == 1 }).sum(\.minutes).value }
    #expect(store._statistics().nodes == before)
    #expect(store._checkInvariants() == [])
  }

  @Test("Those that come and go unread are not kept")
  func unread() {
    let all = store.query(Errand.self)
    #expect(all.value.isEmpty)
    let life = Log<Int>()
    struct Mortal: Identifiable { let id: Int; let guest: Guest }
    final class Guest: Sendable {
      let onEnd: @Sendable () -> Void
      init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }
      deinit { onEnd() }
    }
    let mortals = store.query(Mortal.self)
    #expect(mortals.value.isEmpty)
    for id in 0..<5 { _ = store.store(Mortal(id: id, guest: Guest { life.append(id) })) }
    #expect(life.values == [0, 1, 2, 3, 4])
    withExtendedLifetime((all, mortals)) {}
  }

  @Test("On a queue the newest results are told, and a stream has them, too")
  func deliveries() async {
    let queue = DispatchQueue(label: "store")
    let store = EntityStore(queue: queue)
    let all = store.query(Errand.self, sortBy: [SortDescriptor(\.title, order: .reverse)])
    let log = Log<[Int]>()
    let subscription = all.observe { log.append($0.map(\.id)) }
    queue.suspend()
    let kept = (0..<3).map { store.store(errand($0, "\($0)")) }
    queue.resume()
    await store.settled()
    #expect(log.values == [[], [2, 1, 0]])
    var values = all.values.makeAsyncIterator()
    #expect(await values.next()?.map(\.id) == [2, 1, 0])
    store.update(Errand.self, id: 2) { $0.title = "" }
    #expect(await values.next()?.map(\.id) == [1, 0, 2])
    #expect(all.observed.value.map(\.id) == [1, 0, 2])
    var differences = all.differences.makeAsyncIterator()
    #expect(await differences.next()?.inserted.count == 3)
    store.update(Errand.self, id: 1) { $0.title = "" }
    let difference = await differences.next()
    #expect(difference?.moved.map(\.new.id) == [1])
    #expect(difference?.elements.map(\.id) == [0, 1, 2])
    withExtendedLifetime((kept, subscription)) {}
  }

  @Test("Only what changed counts as moved")
  func moved() {
    let kept = (0..<6).map { store.store(errand($0, "\($0)")) }
    let log = Log<EntityDifference<Errand>>()
    let subscription = store.query(Errand.self, sortBy: [SortDescriptor(\.title)]).observeDifferences { log.append($0) }
    store.transaction { tx in
      tx.update(Errand.self, id: 0) { $0.title = "3a" }
      tx.update(Errand.self, id: 1) { $0.title = "3b" }
      tx.update(Errand.self, id: 4) { $0.title = "4a" }
    }
    #expect(log.count == 2)
    #expect(log.last?.moved.map { [$0.oldOffset, $0.offset] } == [[0, 2], [1, 3]])
    #expect(log.last?.updated.map(\.new.id) == [0, 1, 4])
    #expect(log.last?.isEmpty == false)
    withExtendedLifetime((kept, subscription)) {}
  }

  @Test("Joins take several equalities, and nil equals nothing")
  func joins() {
    let kept = (0..<4).map { store.store(errand($0, "\($0 % 2)", topic: $0)) }
    let helpers = [
      Helper(id: 0, name: "1", topic: 3), Helper(id: 1, name: "1", topic: nil), Helper(id: 2, name: "0", topic: 2),
    ]
    .map { store.store($0) }
    let pairs = store.query(Errand.self).joined(with: Helper.self) { $0.topic == $1.topic && $0.title == $1.name }
    #expect(pairs.value.map { [$0.left.id, $0.right.id] } == [[2, 2], [3, 0]])
    store.update(Helper.self, id: 1) { $0.topic = 1 }
    #expect(pairs.value.map { [$0.left.id, $0.right.id] } == [[1, 1], [2, 2], [3, 0]])
    store.update(Errand.self, id: 1) { $0.title = "x" }
    #expect(pairs.value.map { [$0.left.id, $0.right.id] } == [[2, 2], [3, 0]])
    withExtendedLifetime((kept, helpers)) {}
  }
}
