import Concord
import ConcordConsistency
import Foundation
import Synchronization
import Testing

@Suite("Stamps and contexts cross the bridge")
struct FreshnessTests {
  let manager = ConsistencyManager()
  let store = EntityStore(delivery: .immediate)

  @Test("What a store discards as stale, no owner takes")
  func stale() {
    manager.register(store)
    let author = store.store(Author(id: 1, name: "v5"), modifiedAt: 5)
    let owner = Owner(Author(id: 1, name: "v5"))
    manager.register(owner)
    manager.pushUpdatedObject(Author(id: 1, name: "v4"), modifiedAt: 4)
    #expect(author.value.name == "v5")
    #expect(owner.updates.isEmpty)
    manager.pushUpdatedObject(Author(id: 1, name: "v6"), modifiedAt: 6)
    #expect(author.value.name == "v6")
    #expect(owner.thing.name == "v6")
    // Not newer than itself.
    manager.pushUpdatedObject(Author(id: 1, name: "another v6"), modifiedAt: 6)
    #expect((author.value.name, owner.thing.name, owner.updates.count) == ("v6", "v6", 1))
  }

  @Test("An owner that has what is stale is told what the store has")
  func corrected() {
    manager.register(store)
    let author = store.store(Author(id: 1, name: "v5"), modifiedAt: 5)
    let owner = Owner(Author(id: 1, name: "v4"))
    manager.register(owner)
    manager.pushUpdatedObject(owner.thing, modifiedAt: 4)
    #expect(author.value.name == "v5")
    #expect(owner.thing.name == "v5")
    #expect(owner.updates.count == 1)
  }

  @Test("Each object is judged on its own: a stale one may bring a fresh one, and the other way round")
  func nested() {
    manager.register(store)
    let story = store.store(
      Story(id: "s", title: "old", author: Author(id: 1, name: "old"), editors: []), modifiedAt: 1)
    store.update(Author.self, id: 1, modifiedAt: 9) { $0.name = "v9" }
    let owner = Owner(story.value)
    manager.register(owner)
    let pushed = Story(id: "s", title: "v5", author: Author(id: 1, name: "v5"), editors: [])
    manager.pushUpdatedObject(pushed, modifiedAt: 5)
    #expect((story.value.title, story.value.author.name) == ("v5", "v9"))
    #expect((owner.thing.title, owner.thing.author.name) == ("v5", "v9"))
    #expect(owner.updates.count == 1)
    store.update(Story.self, id: "s", modifiedAt: 20) { $0.title = "v20" }
    let fresh = Story(id: "s", title: "v10", author: Author(id: 1, name: "v10"), editors: [])
    manager.pushUpdatedObject(fresh, modifiedAt: 10)
    #expect((story.value.title, story.value.author.name) == ("v20", "v10"))
    #expect((owner.thing.title, owner.thing.author.name) == ("v20", "v10"))
  }

  @Test("An aggregate that is taken whole corrects nobody")
  func taken() {
    manager.register(store)
    let old = Story(id: "s", title: "old", author: Author(id: 1, name: "old"), editors: [])
    let story = store.store(old, modifiedAt: 1)
    let owner = Owner(old)
    manager.register(owner)
    let new = Story(id: "s", title: "new", author: Author(id: 1, name: "new"), editors: [])
    manager.pushUpdatedObject(new, modifiedAt: 2)
    #expect(story.value.author.name == "new")
    #expect(owner.updates.count == 1)
    #expect(owner.updates.first is Story)
  }

  @Test("A push without a stamp that meets a stamp ahead of the clock is discarded by owners, too")
  func ahead() {
    manager.register(store)
    let author = store.store(Author(id: 1, name: "1970"), modifiedAt: Date().timeIntervalSince1970)
    let owner = Owner(Author(id: 1, name: "1970"))
    manager.register(owner)
    manager.pushUpdatedObject(Author(id: 1, name: "now"))
    #expect(author.value.name == "1970")
    #expect(owner.updates.isEmpty)
  }

  @Test("Of several stores, one that knows better tells the others")
  func severalStores() {
    let second = EntityStore(delivery: .immediate)
    let first = store.store(Author(id: 1, name: "v1"), modifiedAt: 1)
    let other = second.store(Author(id: 1, name: "v9"), modifiedAt: 9)
    manager.register(store)
    manager.register(second)
    let owner = Owner(Author(id: 1, name: "v1"))
    manager.register(owner)
    manager.pushUpdatedObject(Author(id: 1, name: "v5"), modifiedAt: 5)
    #expect((first.value.name, other.value.name, owner.thing.name) == ("v9", "v9", "v9"))
    #expect(owner.updates.count == 1)
  }

  @Test("A write in one store that another discards is taken back there")
  func writeInOneStore() {
    let second = EntityStore(delivery: .immediate)
    let first = store.store(Author(id: 1, name: "old"), modifiedAt: 1)
    let other = second.store(Author(id: 1, name: "ahead"), modifiedAt: Date().timeIntervalSince1970)
    manager.register(store)
    manager.register(second)
    let owner = Owner(Author(id: 1, name: ""))
    manager.register(owner)
    store.update(Author.self, id: 1) { $0.name = "now" }
    #expect((first.value.name, other.value.name, owner.thing.name) == ("ahead", "ahead", "ahead"))
  }

  @Test("Where no store has the object, every push counts")
  func withoutStore() {
    manager.register(store)
    let owner = Owner(Author(id: 1, name: ""))
    manager.register(owner)
    manager.pushUpdatedObject(Author(id: 1, name: "v9"), modifiedAt: 9)
    manager.pushUpdatedObject(Author(id: 1, name: "v4"), modifiedAt: 4)
    #expect(owner.thing.name == "v4")
  }

  @Test("Who pushes is told to those who follow a store, and to owners")
  func context() {
    manager.register(store)
    let author = store.store(Author(id: 1, name: ""))
    let written = Mutex<[TransactionContext?]>([])
    let subscription = store.observeChanges { changeSet in written.withLock { $0.append(changeSet.context) } }
    let told = Mutex<[TransactionContext?]>([])
    let owner = Owner(Author(id: 1, name: ""))
    owner.onUpdate = { _ in told.withLock { $0.append(ConsistencyManager.context) } }
    manager.register(owner)
    manager.pushUpdatedObject(Author(id: 1, name: "pushed"), context: .server)
    manager.pushUpdatedObject(Author(id: 1, name: "pushed again"))
    manager.pushUpdatedObjects([Author(id: 1, name: "one"), Author(id: 2, name: "")], context: "two")
    store.transaction(context: "importer") { tx in tx.update(Author.self, id: 1) { $0.name = "written" } }
    manager.pushRemovedObject(author.value, context: "cleaner")
    let expected: [TransactionContext?] = [.server, nil, "two", "importer", "cleaner"]
    #expect(written.withLock { $0 } == expected)
    #expect(told.withLock { $0 } == expected)
    #expect(ConsistencyManager.context == nil)
    subscription.unsubscribe()
  }

  @Test("Who writes to one store is told to those who follow another")
  func contextAcrossStores() {
    let second = EntityStore(delivery: .immediate)
    manager.register(store)
    manager.register(second)
    let authors = [store, second].map { $0.store(Author(id: 1, name: "")) }
    let written = Mutex<[TransactionContext?]>([])
    let subscription = second.observeChanges { changeSet in written.withLock { $0.append(changeSet.context) } }
    store.transaction(context: .server) { tx in tx.update(Author.self, id: 1) { $0.name = "new" } }
    #expect(authors[1].value.name == "new")
    #expect(written.withLock { $0 } == [.server])
    subscription.unsubscribe()
  }
}
