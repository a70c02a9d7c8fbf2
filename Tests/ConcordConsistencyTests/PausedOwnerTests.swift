import Concord
import ConcordConsistency
import Dispatch
import Testing

@Suite("Owners can be paused")
struct PausedOwnerTests {
  let manager = ConsistencyManager()

  @Test("A paused owner is told nothing, and then all at once")
  func paused() {
    let owner = Owner(Author(id: 1, name: ""), Author(id: 2, name: ""))
    let other = Owner(Author(id: 1, name: ""))
    manager.register(owner)
    manager.register(other)
    manager.pause(owner)
    manager.pushUpdatedObject(Author(id: 1, name: "one"))
    manager.pushUpdatedObject(Author(id: 2, name: "two"))
    manager.pushUpdatedObject(Author(id: 1, name: "three"))
    #expect(owner.updates.isEmpty)
    #expect(other.thing.name == "three")
    manager.resume(owner)
    #expect(owner.things.map(\.name) == ["three", "two"])
    #expect(owner.updates.count == 1)
    manager.pushUpdatedObject(Author(id: 1, name: "four"))
    #expect(owner.things.map(\.name) == ["four", "two"])
    #expect(owner.updates.count == 2)
  }

  @Test("Changes that cancel each other out tell nothing, and so does a pause without any")
  func cancelled() {
    let owner = Owner(Author(id: 1, name: "Ada"))
    manager.register(owner)
    manager.pause(owner)
    manager.pushUpdatedObject(Author(id: 1, name: "Bo"))
    manager.pushUpdatedObject(Author(id: 1, name: "Ada"))
    manager.resume(owner)
    manager.pause(owner)
    manager.resume(owner)
    manager.resume(owner)
    #expect(owner.updates.isEmpty)
    #expect(owner.thing.name == "Ada")
  }

  @Test("The later state counts, however deep it came, and what was removed is gone")
  func depth() {
    let owner = Owner(Author(id: 1, name: ""), Author(id: 2, name: ""), Author(id: 3, name: ""))
    manager.register(owner)
    manager.pause(owner)
    manager.pushUpdatedObject(Author(id: 1, name: "first"))
    manager.pushUpdatedObject(
      Story(id: "s", author: Author(id: 1, name: "later"), editors: [Author(id: 3, name: "edited")]))
    manager.pushRemovedObject(Author(id: 2, name: ""), context: "cleaner")
    manager.resume(owner)
    #expect(owner.things.map(\.name) == ["later", "edited"])
    #expect(owner.removed.compactMap { ($0 as? Author)?.id } == [2])
  }

  @Test("What was removed and comes back is there after the pause, and nowhere else")
  func undoneRemoval() {
    func story(_ id: String, _ editors: [Author]) -> Story {
      Story(id: id, author: Author(id: 9, name: ""), editors: editors)
    }
    let things = [story("s", [Author(id: 1, name: "")]), story("t", [Author(id: 1, name: "")])]
    let (owner, other) = (Owner(things[0], things[1]), Owner(things[0], things[1]))
    manager.register(owner)
    manager.register(other)
    manager.pause(owner)
    manager.pushRemovedObject(Author(id: 1, name: ""))
    manager.pushUpdatedObject(story("s", [Author(id: 1, name: "back")]))
    manager.resume(owner)
    #expect(owner.things.map { $0.editors.map(\.name) } == [["back"], []])
    #expect("\(owner.things)" == "\(other.things)")
  }

  @Test("An object that went with what it required stays away, also if it is pushed later without it")
  func wentWithRequired() {
    let story = Story(id: "s", author: Author(id: 1, name: ""), editors: [])
    let (owner, other) = (Owner(story), Owner(story))
    manager.register(owner)
    manager.register(other)
    manager.pause(owner)
    manager.pushRemovedObject(Author(id: 1, name: ""))
    manager.pushUpdatedObject(Story(id: "s", author: Author(id: 2, name: ""), editors: []))
    manager.resume(owner)
    #expect(owner.things.isEmpty && other.things.isEmpty)
  }

  @Test("A paused owner that edits what was removed ends as the others, whether it pushes that or not")
  func editsRemoved() {
    func story(_ title: String, _ editors: [Author]) -> Story {
      Story(id: title, author: Author(id: 9, name: ""), editors: editors)
    }
    let (author, removed) = (Author(id: 1, name: ""), Author(id: 1, name: "edited"))
    let (owner, other) = (Owner(author), Owner(author))
    let (writer, reader) = (Owner(story("s", [author])), Owner(story("s", [author])))
    let silent = Owner(story("s", [author]), story("t", [author]))
    for owner in [owner, other] { manager.register(owner) }
    for owner in [writer, reader, silent] { manager.register(owner) }
    manager.pause(owner)
    manager.pause(writer)
    manager.pause(silent)
    manager.pushRemovedObject(author)
    // Nobody has a place for it any longer.
    owner.things = [removed]
    manager.pushUpdatedObject(removed)
    manager.resume(owner)
    #expect(owner.things.isEmpty && other.things.isEmpty)
    #expect(owner.removed.count == 1)
    // An owner that keeps its edit to itself loses what was removed, and nothing else.
    silent.things[0] = Story(id: "s", author: Author(id: 9, name: "mine"), editors: [removed])
    manager.resume(silent)
    #expect(silent.things.map { $0.editors.count } == [0, 0])
    #expect(silent.things[0].author.name == "mine")
    // What the owner has made require it goes with it, as if the removal had come after the edit.
    let requiring = Owner(story("u", []))
    manager.register(requiring)
    manager.pause(requiring)
    manager.pushRemovedObject(author)
    requiring.things = [Story(id: "u", author: removed, editors: [])]
    manager.pushUpdatedObject(requiring.thing)
    manager.resume(requiring)
    #expect(requiring.things.isEmpty)
    // Where it is pushed inside of another object, it is put there again.
    writer.things = [story("s", [removed])]
    manager.pushUpdatedObject(writer.thing)
    manager.resume(writer)
    #expect(writer.thing.editors == [removed])
    #expect(reader.thing.editors == [removed])
    #expect(silent.things.map { $0.editors.count } == [1, 0])
  }

  @Test("A pause in which objects go and come back again and again keeps the last states, and no more")
  func longWithRemovals() {
    let owner = Owner((1...4).map { Author(id: $0, name: "") })
    let other = Owner((1...4).map { Author(id: $0, name: "") })
    manager.register(owner)
    manager.register(other)
    manager.pause(owner)
    for number in 0..<1_000 {
      manager.pushRemovedObject(Author(id: 1 + number % 2, name: ""))
      manager.pushUpdatedObject(Author(id: 1 + number % 2, name: "\(number)"))
      manager.pushUpdatedObject(Author(id: 3, name: "\(number)"))
    }
    manager.resume(owner)
    #expect(owner.things.map(\.name) == ["999", ""])
    #expect(owner.things == other.things)
    #expect(owner.updates.count <= 3)
  }

  @Test("A long pause keeps the last state of each object, and no more")
  func long() {
    let owner = Owner(Author(id: 1, name: ""), Author(id: 2, name: ""))
    manager.register(owner)
    manager.pause(owner)
    for number in 0..<2_000 { manager.pushUpdatedObject(Author(id: 1 + number % 2, name: "\(number)")) }
    manager.resume(owner)
    #expect(owner.things.map(\.name) == ["1998", "1999"])
    #expect(owner.updates.count == 1)
  }

  @Test("With a store, and on a queue")
  func store() {
    let store = EntityStore(delivery: .immediate)
    let author = store.store(Author(id: 1, name: ""), modifiedAt: 5)
    manager.register(store)
    let queue = DispatchQueue(label: "owner")
    let owner = Owner(Author(id: 1, name: ""))
    manager.register(owner, on: queue)
    manager.pause(owner)
    store.update(Author.self, id: 1, modifiedAt: 6) { $0.name = "v6" }
    manager.pushUpdatedObject(Author(id: 1, name: "v4"), modifiedAt: 4)
    queue.sync {}
    #expect(owner.updates.isEmpty)
    manager.resume(owner)
    queue.sync {}
    #expect(owner.thing.name == "v6")
    #expect(author.value.name == "v6")
    manager.pause(owner)
    store.remove(Author.self, id: 1)
    manager.resume(owner)
    queue.sync {}
    #expect(owner.things.isEmpty)
  }

  @Test("Paused and resumed by one thread while others push, it ends with the last state", arguments: 0..<10)
  func threads(_ seed: UInt64) {
    let owner = Owner(Author(id: 1, name: ""))
    let other = Owner(Author(id: 1, name: ""))
    manager.register(other)
    manager.register(owner)
    DispatchQueue.concurrentPerform(iterations: 3) { thread in
      for number in 0..<300 {
        if thread == 0 {
          manager.pause(owner)
          manager.resume(owner)
        } else {
          manager.pushUpdatedObject(Author(id: 1, name: "\(thread) \(number)"))
        }
      }
    }
    manager.resume(owner)
    #expect(owner.thing.name == other.thing.name)
  }

  @Test("Whether an owner is paused can be asked")
  func asked() {
    let owner = Owner(Author(id: 1, name: ""))
    #expect(!manager.isPaused(owner))
    manager.pause(owner)
    #expect(!manager.isPaused(owner))
    manager.register(owner)
    manager.pause(owner)
    #expect(manager.isPaused(owner))
    manager.resume(owner)
    #expect(!manager.isPaused(owner))
  }

  @Test("When all are unregistered, nobody is told of anything any more, nor of what waited")
  func unregisterAll() {
    let store = EntityStore(delivery: .immediate)
    let author = store.store(Author(id: 1, name: ""))
    let (owner, other) = (Owner(Author(id: 1, name: "")), Owner(Author(id: 1, name: "")))
    manager.register(store)
    manager.register(owner)
    manager.register(other)
    manager.pause(owner)
    manager.pushUpdatedObject(Author(id: 1, name: "before"))
    manager.unregisterAll()
    manager.resume(owner)
    manager.pushUpdatedObject(Author(id: 1, name: "after"))
    store.update(Author.self, id: 1) { $0.name = "store" }
    #expect(owner.updates.isEmpty && other.thing.name == "before" && author.value.name == "store")
    manager.register(owner)
    manager.pushUpdatedObject(Author(id: 1, name: "again"))
    #expect(owner.thing.name == "again")
  }

  @Test("An owner that is unregistered while it is paused is told nothing any more")
  func unregistered() {
    let owner = Owner(Author(id: 1, name: ""))
    manager.register(owner)
    manager.pause(owner)
    manager.pushUpdatedObject(Author(id: 1, name: "new"))
    manager.unregister(owner)
    manager.resume(owner)
    #expect(owner.updates.isEmpty)
  }
}
