import Concord
import Testing

/// An aggregate that is stored with children which the store has already need not be made anew when it is read.
@Suite("Children that are stored again")
struct UnchangedChildrenTests {
  private struct Writer: Identifiable, Equatable {
    let id: Int
    var name: String
  }

  private struct Article: Aggregate, Equatable {
    let id: Int
    var writers: [Writer]
    var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.writers)] }
  }

  private let store = EntityStore(delivery: .immediate)

  private func bytes(_ article: EntityObserver<Article>) -> [[UInt8]] {
    article.value.writers.map { Array($0.name.utf8) }
  }

  @Test("What has the same bits is up to date in each value that contains it, and its next change reaches all of them")
  func unchanged() {
    let writers = [Writer(id: 1, name: "a"), Writer(id: 2, name: "b")]
    // Kept by names: what is observed is brought up to date at once.
    for id in 1...3 { store.store(Article(id: id, writers: writers), named: AliasKey<Article>("\(id)")) }
    #expect(store._staleOccurrences() == 0)
    store.update(Writer.self, id: 1) { $0.name = "c" }
    #expect(store._staleOccurrences() == 3)
    for id in 1...3 {
      #expect(store.find(Article.self, id: id)?.value.writers == [Writer(id: 1, name: "c"), writers[1]])
    }
    #expect(store._checkInvariants() == [])
  }

  @Test("What is equal and has other bits is shown as it is stored")
  func equal() {
    let first = store.store(Article(id: 1, writers: [Writer(id: 1, name: "\u{E9}")]))
    let second = store.store(Article(id: 2, writers: [Writer(id: 1, name: "e\u{301}")]))
    #expect(bytes(first) == bytes(second))
    #expect(store._checkInvariants() == [])
  }

  @Test("What is older than what is stored is shown as it is stored")
  func older() {
    let first = store.store(Article(id: 1, writers: [Writer(id: 1, name: "new")]), modifiedAt: 2)
    let second = store.store(Article(id: 2, writers: [Writer(id: 1, name: "old")]), modifiedAt: 1)
    #expect(second.value.writers == first.value.writers && first.value.writers[0].name == "new")
    #expect(store._checkInvariants() == [])
  }

  @Test("A parent's occurrence of another child's value is not taken for the winner's")
  func severalOccurrences() {
    let writer = Writer(id: 1, name: "a")
    let first = store.store(Article(id: 1, writers: [writer]))
    // In one value twice: the last one wins, and is what is stored.
    let second = store.store(Article(id: 2, writers: [Writer(id: 1, name: "b"), writer]))
    #expect(second.value.writers == [writer, writer] && first.value.writers == [writer])
    #expect(store._checkInvariants() == [])
  }
}
