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

  @Test("A push without a stamp that meets a stamp ahead of the clock is taken by all")
  func ahead() {
    manager.register(store)
    let author = store.store(Author(id: 1, name: "1970"), modifiedAt: Date().timeIntervalSince1970)
    let owner = Owner(Author(id: 1, name: "1970"))
    manager.register(owner)
    manager.pushUpdatedObject(Author(id: 1, name: "now"))
    #expect((author.value.name, owner.thing.name) == ("now", "now"))
    #expect(owner.updates.count == 1)
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

  @Test("A write without a stamp in one store counts in another that is ahead of the clock")
  func writeInOneStore() {
    let second = EntityStore(delivery: .immediate)
    let first = store.store(Author(id: 1, name: "old"), modifiedAt: 1)
    let other = second.store(Author(id: 1, name: "ahead"), modifiedAt: Date().timeIntervalSince1970)
    manager.register(store)
    manager.register(second)
    let owner = Owner(Author(id: 1, name: ""))
    manager.register(owner)
    store.update(Author.self, id: 1) { $0.name = "now" }
    #expect((first.value.name, other.value.name, owner.thing.name) == ("now", "now", "now"))
    second.update(Author.self, id: 1) { $0.name = "later" }
    #expect((first.value.name, other.value.name, owner.thing.name) == ("later", "later", "later"))
  }

  @Test(
    "A write with a stamp that is stale in another store is taken nowhere else, and taken back where it was written")
  func staleWriteInOneStore() {
    let second = EntityStore(delivery: .immediate)
    let first = store.store(Author(id: 1, name: "v1"), modifiedAt: 1)
    let other = second.store(Author(id: 1, name: "v9"), modifiedAt: 9)
    manager.register(store)
    manager.register(second)
    let owner = Owner(Author(id: 1, name: "v9"))
    manager.register(owner)
    store.store(Author(id: 1, name: "v3"), modifiedAt: 3)
    #expect((first.value.name, other.value.name, owner.thing.name) == ("v9", "v9", "v9"))
    #expect(owner.updates.isEmpty)
    // The versions go on counting in both.
    store.store(Author(id: 1, name: "v8"), modifiedAt: 8)
    #expect((first.value.name, other.value.name, owner.thing.name) == ("v9", "v9", "v9"))
    store.store(Author(id: 1, name: "v10"), modifiedAt: 10)
    #expect((first.value.name, other.value.name, owner.thing.name) == ("v10", "v10", "v10"))
    second.store(Author(id: 1, name: "v9 again"), modifiedAt: 9)
    #expect((first.value.name, other.value.name, owner.thing.name) == ("v10", "v10", "v10"))
  }

  @Test("Two stores with stamps ahead of the clock agree on the later one", arguments: [false, true])
  func twoAhead(writesToLater: Bool) {
    let second = EntityStore(delivery: .immediate)
    let ahead = Date().timeIntervalSince1970
    let first = store.store(Author(id: 1, name: "first"), modifiedAt: ahead)
    let other = second.store(Author(id: 1, name: "second"), modifiedAt: ahead + 10)
    manager.register(store)
    manager.register(second)
    let owner = Owner(Author(id: 1, name: ""))
    manager.register(owner)
    if writesToLater {
      second.update(Author.self, id: 1, modifiedAt: ahead + 20) { $0.name = "later" }
    } else {
      store.update(Author.self, id: 1, modifiedAt: ahead + 5) { $0.name = "earlier" }
    }
    let name = writesToLater ? "later" : "second"
    #expect((first.value.name, other.value.name, owner.thing.name) == (name, name, name))
  }

  @Test("Of two states with one stamp in several stores, one counts everywhere")
  func sameStamp() {
    let others = [EntityStore(delivery: .immediate), EntityStore(delivery: .immediate)]
    let first = store.store(Author(id: 1, name: "first"), modifiedAt: 5)
    let second = others[0].store(Author(id: 1, name: "second"), modifiedAt: 7)
    let third = others[1].store(Author(id: 1, name: "third"), modifiedAt: 7)
    for store in [store] + others { manager.register(store) }
    let owner = Owner(Author(id: 1, name: ""))
    manager.register(owner)
    store.update(Author.self, id: 1, modifiedAt: 6) { $0.name = "v6" }
    #expect(first.value.name != "v6")
    #expect(Set([first.value.name, second.value.name, third.value.name, owner.thing.name]).count == 1)
  }

  @Test("What comes with a stamp of its own in an aggregate keeps it in another store")
  func stampsInside() {
    let second = EntityStore(delivery: .immediate)
    let old = Story(id: "s", title: "", author: Author(id: 1, name: ""), editors: [])
    let stories = [store, second].map { $0.store(old, modifiedAt: 1) }
    manager.register(store)
    manager.register(second)
    store.transaction { tx in
      tx.update(Author.self, id: 1, modifiedAt: 5) { $0.name = "v5" }
      tx.update(Story.self, id: "s", modifiedAt: 10) { $0.title = "v10" }
    }
    #expect((stories[1].value.title, stories[1].value.author.name) == ("v10", "v5"))
    second.update(Author.self, id: 1, modifiedAt: 7) { $0.name = "v7" }
    second.update(Story.self, id: "s", modifiedAt: 8) { $0.title = "v8" }
    for story in stories { #expect((story.value.title, story.value.author.name) == ("v10", "v7")) }
  }

  @Test("A write without a stamp is the newest in all stores, whatever their clocks show")
  func standingClocks() {
    let date = Date(timeIntervalSinceReferenceDate: 100)
    let stores = (0..<2).map { _ in EntityStore(delivery: .immediate, date: { date }) }
    let authors = stores.map { $0.store(Author(id: 1, name: "")) }
    for store in stores { manager.register(store) }
    for number in 0..<6 {
      // The second one answers what is stale, with a stamp.
      stores[0].update(Author.self, id: 1, modifiedAt: 3) { $0.name = "stale" }
      stores[number % 2].update(Author.self, id: 1) { $0.name = "\(number)" }
      #expect(authors.map(\.value.name) == ["\(number)", "\(number)"])
    }
  }

  @Test("Stores whose unstamped writes win tell each other of these, and of versions")
  func unstampedWritesWin() {
    let stores = (0..<2).map { _ in EntityStore(delivery: .immediate, stamping: .unstampedWritesWin) }
    let authors = stores.map { $0.store(Author(id: 1, name: "v5"), modifiedAt: 5) }
    for store in stores { manager.register(store) }
    stores[0].update(Author.self, id: 1) { $0.name = "edited" }
    #expect(authors.map(\.value.name) == ["edited", "edited"])
    stores[1].update(Author.self, id: 1, modifiedAt: 5) { $0.name = "v5 again" }
    #expect(authors.map(\.value.name) == ["edited", "edited"])
    stores[1].update(Author.self, id: 1, modifiedAt: 6) { $0.name = "v6" }
    #expect(authors.map(\.value.name) == ["v6", "v6"])
    stores[0].update(Author.self, id: 1, modifiedAt: 6) { $0.name = "v6 again" }
    #expect(authors.map(\.value.name) == ["v6", "v6"])
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
