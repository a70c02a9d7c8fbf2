import Concord
import Dispatch
import Testing

@Suite("store.changes tells what each transaction inserted, changed and removed")
struct ChangesTests {
  private let store = EntityStore(delivery: .immediate)

  /// A change in a line.
  private static func line(_ change: ChangeSet.Change) -> String {
    func text(_ value: (any Identifiable & Sendable)?) -> String {
      switch value {
      case let tag as Tag: "\(tag.text)"
      case let person as Person: "\(person.name)"
      case nil: "-"
      default: "?"
      }
    }
    return "\(change.kind) \(change.type) \(change.id): \(text(change.old)) \(text(change.new))"
  }

  private func observed(_ body: (EntityStore) -> Void) -> [[String]] {
    let log = Log<[String]>()
    let subscription = store.observeChanges { set in log.append(set.changes.map(Self.line).sorted()) }
    body(store)
    subscription.unsubscribe()
    return log.values
  }

  @Test("One element a transaction")
  func elements() {
    let kept = Log<EntityObserver<Tag>>()
    #expect(
      observed { store in
        kept.append(store.store(Tag(id: 0, text: 1)))
        store.update(Tag.self, id: 0) { $0.text = 2 }
        store.transaction { store in
          kept.append(store.store(Tag(id: 1, text: 5)))
          store.update(Tag.self, id: 0) { $0.text = 3 }
          store.update(Tag.self, id: 0) { $0.text = 4 }
        }
        store.remove(Tag.self, id: 0)
      } == [
        ["inserted Tag 0: - 1"], ["updated Tag 0: 1 2"], ["inserted Tag 1: - 5", "updated Tag 0: 2 4"],
        ["removed Tag 0: 4 -"],
      ])
  }

  @Test("What changes nothing, is discarded or is undone makes none")
  func none() {
    let tag = store.store(Tag(id: 0, text: 1), modifiedAt: 10)
    #expect(
      observed { store in
        store.store(Tag(id: 0, text: 1), modifiedAt: 11)
        store.store(Tag(id: 0, text: 2), modifiedAt: 3)
        store.update(Tag.self, id: 0, modifiedAt: 12) { _ in }
        store.transaction { store in
          store.update(Tag.self, id: 0, modifiedAt: 20) { $0.text = 7 }
          store.update(Tag.self, id: 0, modifiedAt: 21) { $0.text = 1 }
        }
        try? store.transaction { store in
          store.update(Tag.self, id: 0, modifiedAt: 30) { $0.text = 9 }
          throw Refused()
        }
        store.transaction { _ in }
      } == [])
    withExtendedLifetime(tag) {}
  }

  @Test("A parent that changed only because a child did is not in it")
  func parents() {
    let person = store.store(Person(id: 0, name: 0, friends: [Person(id: 1, name: 1)], tag: Tag(id: 0, text: 0)))
    let lines = observed { store in
      store.update(Tag.self, id: 0) { $0.text = 1 }
      store.update(Person.self, id: 0) { $0.tag?.text = 2 }
      store.update(Person.self, id: 0) {
        $0.name = 5
        $0.friends[0].name = 6
      }
      store.update(Person.self, id: 0) { $0.friends = [] }
    }
    #expect(lines.prefix(2) == [["updated Tag 0: 0 1"], ["updated Tag 0: 1 2"]])
    #expect(lines.dropFirst(2).first == ["updated Person 0: 0 5", "updated Person 1: 1 6"])
    // Its own relation changed, and who was in it is gone.
    #expect(lines.last == ["removed Person 1: 6 -", "updated Person 0: 5 5"])
    withExtendedLifetime(person) {}
  }

  @Test("What nobody keeps any longer is removed; so is what removeAll takes")
  func released() {
    let kept = Kept<EntityObserver<Person>>()
    kept.value = store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)))
    #expect(observed { _ in kept.value = nil } == [["removed Person 0: 0 -", "removed Tag 0: 0 -"]])
    kept.value = store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)))
    #expect(observed { $0.removeAll() } == [["removed Person 0: 0 -", "removed Tag 0: 0 -"]])
  }

  @Test("With the context that the writer gave")
  func context() {
    let log = Log<TransactionContext?>()
    let subscription = store.observeChanges { log.append($0.context) }
    let tag = store.store(Tag(id: 0, text: 0))
    store.transaction(context: .server) { tx in tx.update(Tag.self, id: 0) { $0.text = 1 } }
    store.transaction(context: "editor") { tx in tx.update(Tag.self, id: 0) { $0.text = 2 } }
    store.transaction { tx in tx.update(Tag.self, id: 0) { $0.text = 3 } }
    store.transaction(context: .server) { tx in
      // The outermost one says whose it is.
      tx.transaction { tx in tx.update(Tag.self, id: 0) { $0.text = 4 } }
    }
    #expect(log.values == [nil, .server, "editor", nil, .server])
    subscription.unsubscribe()
    withExtendedLifetime(tag) {}
  }

  @Test("With the context that the writer gave, also where reading left work while there are layers")
  func contextAfterReading() {
    struct Library: Aggregate, Equatable {
      let id: Int
      var shelves: [String: [Tag]]
      // A dictionary of arrays is visited anew when it is read.
      static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { [.init(\.shelves)] }
      var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.shelves)] }
    }
    let library = store.store(Library(id: 1, shelves: ["a": [Tag(id: 1, text: 0)]]))
    let other = store.store(Tag(id: 2, text: 0))
    let log = Log<TransactionContext?>()
    let subscription = store.observeChanges { log.append($0.context) }
    let layer = store.optimistically { tx in tx.update(Tag.self, id: 1) { $0.text += 1 } }
    #expect(library.value.shelves["a"]?.map(\.text) == [1])
    store.transaction(context: .server) { tx in tx.update(Tag.self, id: 2) { $0.text = 7 } }
    #expect(log.values == [nil, .server])
    subscription.unsubscribe()
    layer.rollBack()
    withExtendedLifetime((library, other)) {}
  }

  @Test("With the stamp that the writer gave, and not with one of the clock, also where a later write was undone")
  func givenStamp() {
    let log = Log<Stamp?>()
    let subscription = store.observeChanges { set in
      for change in set.changes { log.append(change.givenStamp) }
    }
    let tag = store.store(Tag(id: 0, text: 0))
    store.transaction { tx in
      tx.update(Tag.self, id: 0) { $0.text = 1 }
      try? tx.transaction { inner in
        inner.update(Tag.self, id: 0) { $0.text = 2 }
        throw Refused()
      }
    }
    store.update(Tag.self, id: 0, modifiedAt: 1e12) { $0.text = 3 }
    #expect(log.values == [nil, nil, 1e12])
    subscription.unsubscribe()
    withExtendedLifetime(tag) {}
  }

  @Test("As a sequence: one element a transaction, in order, none left out")
  func sequence() async {
    let store = store
    let changes = store.changes
    var first = changes.makeAsyncIterator()
    var second = changes.makeAsyncIterator()
    let tag = store.store(Tag(id: 0, text: 0))
    for text in 1...50 { store.update(Tag.self, id: 0) { $0.text = text } }
    store.transaction(context: .server) { tx in tx.remove(Tag.self, id: 0) }
    var lines: [String] = []
    for _ in 0..<52 { lines += await first.next(isolation: nil)?.changes.map(Self.line) ?? [] }
    let updates = (1...50).map { "updated Tag 0: \($0 - 1) \($0)" }
    let expected = ["inserted Tag 0: - 0"] + updates + ["removed Tag 0: 50 -"]
    #expect(lines == expected)
    var others: [String] = []
    var last: TransactionContext?
    for _ in 0..<52 {
      let set = await second.next(isolation: nil)
      others += set?.changes.map(Self.line) ?? []
      last = set?.context
    }
    #expect(others == expected)
    #expect(last == .server)
    withExtendedLifetime(tag) {}
  }

  @Test("Callers in many threads: in commit order")
  func threads() async {
    let store = store
    let tag = store.store(Tag(id: 0, text: 0))
    let log = Log<[Int]>()
    let subscription = store.observeChanges { set in
      log.append(set.changes.flatMap { [($0.old as? Tag)?.text ?? -1, ($0.new as? Tag)?.text ?? -1] })
    }
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for _ in 0..<100 { store.update(Tag.self, id: 0) { $0.text += 1 } }
    }
    await store.settled()
    #expect(log.values == (0..<400).map { [$0, $0 + 1] })
    subscription.unsubscribe()
    withExtendedLifetime(tag) {}
  }

  @Test("A task that is cancelled leaves the sequence")
  func cancelled() async {
    let store = store
    let reader = Task {
      var count = 0
      for await _ in store.changes { count += 1 }
      return count
    }
    reader.cancel()
    #expect(await reader.value == 0)
  }

  @Test("In a cycle, the one that was written; not those who show it")
  func cycle() {
    let emma = store.store(Person(id: 0, name: 0))
    let harriet = store.store(Person(id: 1, name: 0, friends: [emma.value]))
    store.update(Person.self, id: 0) { $0.friends = [harriet.value] }
    #expect(observed { $0.update(Person.self, id: 1) { $0.name = 5 } } == [["updated Person 1: 0 5"]])
  }
}
