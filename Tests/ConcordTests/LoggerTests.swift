import Concord
import Testing

private final class LogBook: EntityStoreLogger {
  let lines = Log<String>()

  func didStore<T: Identifiable>(_ type: T.Type, id: T.ID) { lines.append("stored \(type) \(id)") }
  func didDiscard<T: Identifiable>(_ type: T.Type, id: T.ID, stamp: Stamp, storedStamp: Stamp) {
    lines.append("discarded \(type) \(id): \(stamp) <= \(storedStamp)")
  }
  func didRefuseIDChange<T: Identifiable>(_ type: T.Type, id: T.ID, to newID: T.ID) {
    lines.append("refused \(type) \(id) -> \(newID)")
  }
  func didRegisterAlias<T>(_ alias: AliasKey<T>) { lines.append("registered \(alias.name)") }
  func didUnregisterAlias<T>(_ alias: AliasKey<T>) { lines.append("unregistered \(alias.name)") }
  func didRelease<T: Identifiable>(_ type: T.Type, id: T.ID) { lines.append("released \(type) \(id)") }

  func take() -> [String] {
    defer { lines.clear() }
    return lines.values
  }
}

/// Hears nothing, which must be enough.
private struct Deaf: EntityStoreLogger {}

@Suite("Logging")
struct LoggerTests {
  private let book = LogBook()
  private let store: EntityStore

  init() { store = EntityStore(delivery: .immediate, logger: book) }

  @Test("What is stored, discarded and released is said")
  func life() {
    var tag: EntityObserver<Tag>? = store.store(Tag(id: 0, text: 0), modifiedAt: 5)
    #expect(book.take() == ["stored Tag 0"])
    store.store(Tag(id: 0, text: 1), modifiedAt: 4)
    #expect(book.take() == ["discarded Tag 0: 4.0 <= 5.0"])
    store.update(Tag.self, id: 0, modifiedAt: 3) { $0.text = 1 }
    #expect(book.take() == ["discarded Tag 0: 3.0 <= 5.0"])
    store.update(Tag.self, id: 0, modifiedAt: 6) { $0.text = 1 }
    #expect(book.take() == ["stored Tag 0"])
    #expect(tag != nil)
    tag = nil
    #expect(book.take() == ["released Tag 0"])
  }

  @Test("Nested entities are said too")
  func nested() {
    let person = store.store(Person(id: 0, name: 0, tag: Tag(id: 1, text: 0)))
    #expect(Set(book.take()) == ["stored Person 0", "stored Tag 1"])
    withExtendedLifetime(person) {}
  }

  @Test("Aliases are said when they come and go")
  func aliases() {
    store.store(Tag(id: 0, text: 0), named: "alias")
    #expect(book.take().contains("registered alias"))
    store.removeAlias(named: AliasKey<Tag>("alias"))
    let lines = book.take()
    #expect(lines.contains("unregistered alias"))
    #expect(lines.contains("released Tag 0"))
  }

  @Test("A refused change of id is said")
  func refused() {
    struct Renamed: Identifiable, Equatable { var id: Int }
    let entity = store.store(Renamed(id: 0))
    _ = book.take()
    store.update(Renamed.self, id: 0) { $0.id = 1 }
    #expect(book.take() == ["refused Renamed 0 -> 1"])
    withExtendedLifetime(entity) {}
  }

  @Test("A logger may use the store")
  func usesStore() {
    final class Busy: EntityStoreLogger {
      let store = Kept<EntityStore>()
      let seen = Log<Int>()
      func didStore<T: Identifiable>(_ type: T.Type, id: T.ID) {
        guard let store = store.value, type == Tag.self else { return }
        seen.append(store.find(Tag.self, id: 0)?.value.text ?? -1)
        store.store(Note(id: 0, text: 0))
      }
    }
    let busy = Busy()
    let store = EntityStore(delivery: .immediate, logger: busy)
    busy.store.value = store
    let tag = store.store(Tag(id: 0, text: 5))
    #expect(busy.seen.values == [5])
    busy.store.value = nil
    withExtendedLifetime(tag) {}
  }

  @Test("A logger needs no method at all")
  func deaf() {
    let store = EntityStore(delivery: .immediate, logger: Deaf())
    let tag = store.store(Tag(id: 0, text: 0), named: "alias")
    store.removeAll()
    #expect(tag.value.text == 0)
  }
}
