import Concord
import Observation
import Testing

@Suite("Observable objects are written through the store")
struct ObservedWritingTests {
  private final class Refusals: EntityStoreLogger {
    let log = Log<String>()
    func didFailedToStore<T: Identifiable>(_ type: T.Type, id: T.ID, error: any Error) { log.append("\(id) \(error)") }
  }

  private let refusals = Refusals()
  private let store: EntityStore

  init() { store = EntityStore(delivery: .immediate, logger: refusals) }

  /// What a binding does: it has a key path, and no more.
  private func write<Root: AnyObject, Value>(
    _ value: Value, _ path: ReferenceWritableKeyPath<Root, Value>, _ root: Root
  ) {
    root[keyPath: path] = value
  }

  @Test("A part is read, tracked and written by itself")
  func parts() {
    let person = store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)))
    let observed = person.observed
    let told = Counter()
    withObservationTracking {
      #expect(observed.name == 0)
    } onChange: {
      told.increment()
    }
    observed.name = 1
    #expect(told.value == 1)
    write(2, \.name, observed)
    write(Tag(id: 0, text: 5), \.tag, observed)
    observed.tag?.text += 1
    #expect(person.value.name == 2)
    #expect(store.value(Tag.self, id: 0)?.text == 6)
    #expect(observed.value.tag?.text == 6)
  }

  @Test("The whole value is written, and another id refused")
  func whole() {
    let tag = store.store(Tag(id: 0, text: 0))
    let observed = tag.observed
    observed.value = Tag(id: 0, text: 1)
    write(Tag(id: 0, text: 2), \.value, observed)
    #expect(tag.value.text == 2)
    observed.value.text += 1
    #expect(tag.value.text == 3)
    observed.value = Tag(id: 1, text: 0)
    #expect(tag.value == Tag(id: 0, text: 3))
    #expect(refusals.log.values == ["0 changedID"])
  }

  @Test("A value that is no entity is read only, and of a removed one nothing is written")
  func others() {
    let tag = store.store(Tag(id: 0, text: 0))
    let optional = store.observer(Tag.self, id: 0).observed
    #expect(optional.value?.text == 0)
    let tags = store.store([tag.value]).observed
    #expect(tags.count == 1)
    let observed = tag.observed
    store.remove(Tag.self, id: 0)
    observed.text = 1
    #expect(observed.text == 0)
    #expect(refusals.log.values == ["0 notStored"])
  }
}
