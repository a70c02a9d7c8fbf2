import Concord
import Testing

private final class Lines: EntityStoreLogger {
  let log = Log<String>()

  func didStore<T: Identifiable>(_ type: T.Type, id: T.ID) { log.append("stored \(type) \(id)") }
  func didDiscard<T: Identifiable>(_ type: T.Type, id: T.ID, stamp: Stamp, storedStamp: Stamp) {
    log.append("discarded \(type) \(id)")
  }
  func didRefuseIDChange<T: Identifiable>(_ type: T.Type, id: T.ID, to newID: T.ID) {
    log.append("refused \(type) \(id)")
  }
  func didRegisterAlias<T>(_ alias: AliasKey<T>) { log.append("registered \(alias.name)") }
  func didUnregisterAlias<T>(_ alias: AliasKey<T>) { log.append("unregistered \(alias.name)") }
  func didRelease<T: Identifiable>(_ type: T.Type, id: T.ID) { log.append("released \(type) \(id)") }

  func take() -> [String] {
    defer { log.clear() }
    return log.values
  }
}

private struct Renamed: Identifiable, Equatable {
  var id: Int
  var text = 0
}

@Suite("A transaction that throws leaves no trace in the logger")
struct LoggerInTransactionsTests {
  private let lines = Lines()
  private let store: EntityStore

  init() { store = EntityStore(delivery: .immediate, logger: lines) }

  private func undone(_ body: (EntityStore) -> Void) -> [String] {
    _ = lines.take()
    try? store.transaction { store in
      body(store)
      throw Refused()
    }
    return lines.take()
  }

  @Test("What it stored and updated")
  func stored() {
    let tag = store.store(Tag(id: 0, text: 0))
    #expect(
      undone { store in
        store.store(Tag(id: 0, text: 1))
        store.store(Person(id: 1, name: 1, tag: Tag(id: 2, text: 2)))
        store.update(Tag.self, id: 0) { $0.text = 3 }
      } == [])
    #expect(tag.value.text == 0)
  }

  @Test("What it removed, and what that took along")
  func removed() {
    let person = store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)))
    #expect(
      undone { store in
        store.remove(Tag.self, id: 0)
        store.remove(Person.self, id: 0)
        store.removeAll()
      } == [])
    #expect(person.value.tag != nil)
    #expect(store.find(Tag.self, id: 0) != nil)
  }

  @Test("What it named and what lost its name")
  func aliases() {
    let key: AliasKey<Tag> = "tag"
    let list: AliasKey<[Tag]> = "tags"
    store.store(Tag(id: 0, text: 0), named: key)
    store.store([Tag(id: 1, text: 0)], named: list)
    #expect(
      undone { store in
        store.removeAlias(named: key)
        store.store(Tag(id: 5, text: 0), named: "other")
        store.store([Tag(id: 6, text: 0)], named: list)
        store.removeAllAlias()
      } == [])
    #expect(store.find(named: key).value != nil)
  }

  @Test("What it was refused, and what was discarded")
  func refused() {
    let renamed = store.store(Renamed(id: 0), modifiedAt: 10)
    #expect(
      undone { store in
        store.update(Renamed.self, id: 0, modifiedAt: 20) { $0.id = 1 }
        store.store(Renamed(id: 0, text: 1), modifiedAt: 5)
        store.update(Renamed.self, id: 0, modifiedAt: 3) { $0.text = 2 }
      } == [])
    #expect(renamed.value == Renamed(id: 0))
  }

  @Test("What lived in it alone")
  func bornAndGone() {
    #expect(
      undone { store in
        store.store(Tag(id: 0, text: 0))
        store.update(Tag.self, id: 0) { $0.text = 1 }
        store.remove(Tag.self, id: 0)
        store.store(Tag(id: 1, text: 0))
      } == [])
    #expect(store._statistics().entities == 0)
  }

  @Test("An inner one that throws leaves none either; the outer one keeps its own, in order")
  func inner() {
    let tag = store.store(Tag(id: 0, text: 0))
    _ = lines.take()
    store.transaction { store in
      store.update(Tag.self, id: 0) { $0.text = 1 }
      try? store.transaction { store in
        store.store(Person(id: 9, name: 0))
        store.remove(Tag.self, id: 0)
        throw Refused()
      }
      store.store(Note(id: 0, text: 0), named: "note")
    }
    #expect(lines.take().filter { !$0.hasPrefix("registered") } == ["stored Tag 0", "stored Note 0"])
    #expect(tag.value.text == 1)
  }

  @Test("An implicit one in an update's closure too")
  func implicit() {
    let tag = store.store(Tag(id: 0, text: 0))
    _ = lines.take()
    let store = store
    store.update(Tag.self, id: 0) { tag in
      tag.text = 1
      try? store.transaction { store in
        store.store(Note(id: 1, text: 0))
        throw Refused()
      }
    }
    #expect(lines.take() == ["stored Tag 0"])
    #expect(tag.value.text == 1)
  }

  @Test("What a later one does is said as ever")
  func afterwards() {
    let tag = store.store(Tag(id: 0, text: 0))
    _ = undone { $0.remove(Tag.self, id: 0) }
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(lines.take() == ["stored Tag 0"])
    store.remove(Tag.self, id: 0)
    #expect(lines.take() == ["released Tag 0"])
    withExtendedLifetime(tag) {}
  }

  @Test("The logger is told after the commit, when others can read it")
  func afterCommit() {
    final class Reader: EntityStoreLogger {
      let store = Kept<EntityStore>()
      let seen = Log<Int>()
      func didStore<T: Identifiable>(_ type: T.Type, id: T.ID) {
        seen.append(store.value?.find(Tag.self, id: 0)?.value.text ?? -1)
      }
    }
    let reader = Reader()
    let store = EntityStore(delivery: .immediate, logger: reader)
    reader.store.value = store
    let tag = store.store(Tag(id: 0, text: 0))
    store.transaction { store in
      store.update(Tag.self, id: 0) { $0.text = 1 }
      #expect(reader.seen.values == [0])
      store.update(Tag.self, id: 0) { $0.text = 2 }
    }
    #expect(Set(reader.seen.values.dropFirst()) == [2])
    reader.store.value = nil
    withExtendedLifetime(tag) {}
  }
}
