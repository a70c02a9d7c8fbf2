import Concord
import Testing

/// Of its pages only the first is in a relation. Sorts them when they are set.
private struct Stack: Aggregate, Equatable {
  let id: Int
  var name = 0
  var isSorted = false
  var pages: [Page] { didSet { if isSorted { pages.sort { ($0.text, $0.id) < ($1.text, $1.id) } } } }

  var top: Page? {
    get { pages.first }
    set {
      guard !pages.isEmpty else { return }
      if let newValue { pages[0] = newValue } else { pages.removeFirst() }
    }
  }
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.top)] }
}

private struct Page: Aggregate, Equatable {
  let id: Int
  var text = 0
  var tag: Tag
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.tag)] }
}

/// Of its tags only the one with the greatest text is in a relation, beside another one.
private struct Ranking: Aggregate, Equatable {
  let id: Int
  var tags: [Tag]
  var other: Tag?

  var greatest: Tag? {
    get { tags.max { ($0.text, $0.id) < ($1.text, $1.id) } }
    set {
      guard let index = tags.firstIndex(where: { $0.id == greatest?.id && $0.text == greatest?.text }) else { return }
      if let newValue { tags[index] = newValue } else { tags.remove(at: index) }
    }
  }
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.greatest), .init(\.other)] }
}

@Suite("Entities that a computed relation hides")
struct HiddenOccurrencesTests {
  private let store = EntityStore(delivery: .immediate)

  @Test("What was removed does not come back with what is shown in its place", arguments: [true, false])
  func shownInstead(isObserved: Bool) {
    let stack = store.store(
      Stack(id: 0, pages: (0..<3).map { Page(id: $0, tag: Tag(id: $0 == 2 ? 8 : 7, text: $0)) }))
    let subscription = isObserved ? stack.observe { _ in } : nil
    #expect(store.remove(Tag.self, id: 7))
    #expect(store.value(Tag.self, id: 7) == nil)
    #expect(stack.value.pages.map(\.id) == [2])
    #expect(store.value(Tag.self, id: 7) == nil)
    #expect(store.value(Tag.self, id: 8)?.text == 2)
    #expect(store._checkInvariants() == [])
    subscription?.unsubscribe()
  }

  @Test("Nor where another entity is changed in the same transaction")
  func shownByChange() {
    let ranking = store.store(
      Ranking(id: 0, tags: [Tag(id: 1, text: 3), Tag(id: 2, text: 9)], other: Tag(id: 1, text: 3)))
    let subscription = ranking.observe { _ in }
    store.transaction { tx in
      tx.remove(Tag.self, id: 1)
      tx.update(Tag.self, id: 2) { $0.text = 0 }
    }
    #expect(store.value(Tag.self, id: 1) == nil)
    #expect(ranking.value == Ranking(id: 0, tags: [Tag(id: 2, text: 0)]))
    #expect(store._checkInvariants() == [])
    subscription.unsubscribe()
  }

  @Test("What is stored again in the same transaction stays")
  func storedAgain() {
    let ranking = store.store(
      Ranking(id: 0, tags: [Tag(id: 1, text: 3), Tag(id: 2, text: 9)], other: Tag(id: 1, text: 3)))
    let subscription = ranking.observe { _ in }
    store.transaction { tx in
      tx.remove(Tag.self, id: 1)
      tx.store(Tag(id: 1, text: 5))
      tx.update(Tag.self, id: 2) { $0.text = 0 }
    }
    #expect(ranking.value.greatest == Tag(id: 1, text: 5))
    #expect(store.value(Tag.self, id: 1) == Tag(id: 1, text: 5))
    #expect(store._checkInvariants() == [])
    subscription.unsubscribe()
  }

  @Test("Undone, what stands above an entity is as it was, and nothing is written into it", arguments: 0..<4)
  func undone(way: Int) {
    // Not sorted yet: writing to the relation would do that.
    let pages = [Page(id: 0, text: 5, tag: Tag(id: 0, text: 0)), Page(id: 1, text: 1, tag: Tag(id: 1, text: 0))]
    let stack = store.store(Stack(id: 0, isSorted: true, pages: pages))
    let value = stack.value
    try? store.transaction { tx in
      switch way {
      case 0: tx.update(Tag.self, id: 0) { $0.text = 1 }
      case 1: tx.update(Tag.self, id: 0) { $0.text = 0 }
      case 2:
        tx.update(Tag.self, id: 0) { $0.text = 1 }
        #expect(stack.value.pages.map(\.id) == [1, 0])
      default:
        tx.update(Stack.self, id: 0) { $0.name = 1 }
        try? tx.transaction { tx in
          tx.update(Tag.self, id: 0) { $0.text = 1 }
          throw Refused()
        }
      }
      throw Refused()
    }
    #expect(stack.value == value)
    #expect(store._checkInvariants() == [])
    // The next change comes up all the same.
    store.update(Tag.self, id: 0) { $0.text = 2 }
    #expect(stack.value.pages.map(\.id) == [1, 0])
    store.update(Tag.self, id: 1) { $0.text = 3 }
    #expect(stack.value.pages.first?.tag.text == 3)
    #expect(store._checkInvariants() == [])
  }

  @Test("What reading brought into the store stays when the transaction throws", arguments: [true, false])
  func readAndUndone(isFollowed: Bool) {
    let changes = isFollowed ? store.changes.makeAsyncIterator() : nil
    let ranking = store.store(Ranking(id: 0, tags: [Tag(id: 1, text: 3), Tag(id: 2, text: 9)]))
    store.update(Tag.self, id: 2) { $0.text = 0 }
    try? store.transaction { _ in
      #expect(ranking.value.greatest == Tag(id: 1, text: 3))
      throw Refused()
    }
    #expect(ranking.value.greatest == Tag(id: 1, text: 3))
    #expect(store.value(Tag.self, id: 1) == Tag(id: 1, text: 3))
    store.update(Tag.self, id: 1) { $0.text = 4 }
    #expect(ranking.value.greatest == Tag(id: 1, text: 4))
    #expect(store._checkInvariants() == [])
    withExtendedLifetime(changes) {}
  }
}
