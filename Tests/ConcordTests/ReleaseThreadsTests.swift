import Concord
import Foundation
import Synchronization
import Testing

/// What is dropped while another thread has the store's lock is gone all the same, for whoever asks afterwards.
@Suite("Releases beside other threads")
struct ReleaseThreadsTests {
  enum Question: CaseIterable {
    case value, find, observer, update, transaction, layer

    /// Whether the store still has the tag 0.
    func isThere(in store: EntityStore) -> Bool {
      switch self {
      case .value: return store.value(Tag.self, id: 0) != nil
      case .find: return store.find(Tag.self, id: 0) != nil
      case .observer: return store.observer(Tag.self, id: 0).value != nil
      case .update: return store.update(Tag.self, id: 0) { $0.text += 1 }
      case .transaction: return store.transaction { tx in tx.value(Tag.self, id: 0) != nil }
      case .layer:
        let layer = store.optimistically { tx in tx.update(Tag.self, id: 0) { $0.text += 1 } }
        defer { layer.rollBack() }
        return layer.state.isPending
      }
    }
  }

  @Test("What is dropped is gone at once, while another thread keeps the store busy", arguments: Question.allCases)
  func gone(_ question: Question) throws {
    let log = Log<String>()
    withBusyStore { store in
      for round in 0..<(TestOptions.isLong ? 400 : 100) {
        var observer: EntityObserver<Tag>? = store.store(Tag(id: 0, text: 0))
        withExtendedLifetime(observer) { observer = nil }
        if question.isThere(in: store) { log.append("an observer's, round \(round)") }
        var subscription: Subscription? = store.store(Tag(id: 0, text: 0)).observe { _ in }
        withExtendedLifetime(subscription) { subscription = nil }
        if question.isThere(in: store) { log.append("a subscription's, round \(round)") }
      }
      #expect(store._checkInvariants().isEmpty)
    }
    #expect(log.values == [])
  }

  /// A store that another thread keeps busy.
  private func withBusyStore(_ body: (EntityStore) -> Void) {
    let store = EntityStore(delivery: .immediate)
    let others = (1_000..<1_020).map { Tag(id: $0, text: 0) }
    let kept = store.store(others)
    let isOver = Flag()
    Thread.detachNewThread { while !isOver.isSet { store.store(others) } }
    defer { isOver.set() }
    body(store)
    withExtendedLifetime(kept) {}
  }
}

extension ReleaseThreadsTests {
  /// Held by an observer's closure, and holds the subscription of the next.
  private final class Link: Sendable {
    let id: Int
    let next: Subscription?
    let store: EntityStore
    let log: Log<String>

    init(_ id: Int, _ next: Subscription?, _ store: EntityStore, _ log: Log<String>) {
      (self.id, self.next, self.store, self.log) = (id, next, store, log)
    }

    deinit {
      // The subscription held this entity, and is gone.
      if store.value(Tag.self, id: id) != nil { log.append("\(id) is there while its closure goes") }
      store.update(Tag.self, id: -1) { $0.text += 1 }
    }
  }

  @Test("A long chain of closures that each hold the next subscription, and use the store when they go, beside others")
  func chain() throws {
    try #require(
      ends {
        let store = EntityStore(delivery: .immediate)
        let log = Log<String>()
        let counted = store.store(Tag(id: -1, text: 0))
        let isOver = Flag()
        Thread.detachNewThread { while !isOver.isSet { counted.observe { _ in }.unsubscribe() } }
        var first: Subscription?
        for id in 0..<20_000 {
          let link = Link(id, first, store, log)
          first = store.store(Tag(id: id, text: 0)).observe { _ in withExtendedLifetime(link) {} }
        }
        #expect(store.count(Tag.self) == 20_001)
        first?.unsubscribe()
        first = nil
        // The other thread may be the one that destroys them.
        while counted.value.text < 20_000 {}
        isOver.set()
        #expect(log.values == [])
        #expect(store.count(Tag.self) == 1)
      })
  }
}

extension ReleaseThreadsTests {
  /// Keeps another entity alive, and with it what that keeps.
  private struct Holder: Identifiable {
    let id: Int
    let observer: any Sendable
  }

  @Test("What an entity holds by an observer, which holds the next, is gone with the first, beside others")
  func heldByEntities() {
    let log = Log<Int>()
    withBusyStore { store in
      for round in 0..<(TestOptions.isLong ? 400 : 50) {
        var first: (any Sendable)?
        first = store.store(Tag(id: 0, text: 0))
        for id in 0..<200 { if let next = first { first = store.store(Holder(id: id, observer: next)) } }
        withExtendedLifetime(first) { first = nil }
        if store.value(Tag.self, id: 0) != nil { log.append(round) }
      }
    }
    #expect(log.values == [])
  }
}

extension ReleaseThreadsTests {
  @Test("What the function of a mapped observer holds may use the store when it goes, also where several are observed")
  func mapped() throws {
    try #require(
      ends {
        let store = EntityStore(delivery: .immediate)
        let log = Log<String>()
        let counted = store.store(Tag(id: -1, text: 0))
        func observe() -> Subscription {
          let link = Link(5, nil, store, log)
          let mapped = counted.map { tag in withExtendedLifetime(link) { tag.id } }
          return store.observer(of: mapped, counted).observe { _ in }
        }
        observe().unsubscribe()
        #expect(counted.value.text == 1)
      })
  }
}

/// Says one thread to another that it may end.
private final class Flag: Sendable {
  private let word = Atomic(false)
  var isSet: Bool { word.load(ordering: .relaxed) }
  func set() { word.store(true, ordering: .relaxed) }
}
