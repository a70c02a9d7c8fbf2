import Testing

@testable import Concord

private struct Draft: Identifiable, Hashable {
  var id: Int?
  var text: String
}

private struct Letter: Aggregate, Equatable {
  let id: Int
  var main: Draft
  var other: Draft?
  var pages: [Draft] = []
  var set: Set<Draft> = []
  var byName: [String: Draft] = [:]
  var tags: [Tag] = []

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    [.init(\.main), .init(\.other), .init(\.pages), .init(\.set), .init(\.byName), .init(\.tags)]
  }
}

private struct DraftLetter: Aggregate, Equatable {
  var id: Int?
  var tag: Tag
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.tag)] }
}

private final class Refusals: EntityStoreLogger {
  let log = Log<String>()
  func didRefuse<T: Identifiable>(_ type: T.Type, id: T.ID, reason: RefusalReason) {
    log.append("\(type) \(id) \(reason)")
  }
}

@Suite("Entities whose id is nil")
struct MissingIDTests {
  private let refusals = Refusals()
  private let store: EntityStore

  init() { store = EntityStore(delivery: .immediate, logger: refusals) }

  @Test("Two of them are not one, and neither is found")
  func apart() {
    let first = store.store(Draft(id: nil, text: "a"))
    let second = store.store(Draft(id: nil, text: "b"))
    #expect(first.value.text == "a")
    #expect(second.value.text == "b")
    #expect(store.find(Draft.self, id: nil) == nil)
    #expect(store.value(Draft.self, id: nil) == nil)
    #expect(!store.remove(Draft.self, id: nil))
    #expect(refusals.log.values == ["Draft nil missingID", "Draft nil missingID"])
    #expect(!store.update(Draft.self, id: nil) { $0.text = "c" })
    #expect(refusals.log.values.count == 3)
    #expect(store._checkInvariants() == [])
  }

  @Test("Those with an id are entities like any other")
  func present() {
    let draft = store.store(Draft(id: 1, text: "a"))
    let letter = store.store(Letter(id: 0, main: Draft(id: 1, text: "b"), pages: [Draft(id: 2, text: "c")]))
    #expect(draft.value.text == "b")
    store.update(Draft.self, id: 2) { $0.text = "d" }
    #expect(letter.value.pages[0].text == "d")
    #expect(refusals.log.values == [])
    #expect(store._checkInvariants() == [])
  }

  @Test("Inside another entity they are parts of its value, each by itself, beside those that have an id")
  func nested() {
    let drafts = ["a", "b", "c"].map { Draft(id: nil, text: $0) }
    let letter = Letter(
      id: 0, main: drafts[0], other: drafts[1], pages: [drafts[0], Draft(id: 1, text: "x"), drafts[1], drafts[2]],
      set: Set(drafts + [Draft(id: 1, text: "x")]), byName: ["a": drafts[0], "b": drafts[1]],
      tags: [Tag(id: 0, text: 0)])
    let observer = store.store(letter)
    #expect(observer.value == letter)
    #expect(Set(refusals.log.values) == ["Draft nil missingID"])
    store.update(Draft.self, id: 1) { $0.text = "y" }
    #expect(observer.value.pages.map(\.text) == ["a", "y", "b", "c"])
    #expect(Set(observer.value.set.map(\.text)) == ["a", "b", "c", "y"])
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(observer.value.tags[0].text == 1)
    store.remove(Draft.self, id: 1)
    #expect(observer.value.pages.map(\.text) == ["a", "b", "c"])
    #expect(observer.value.set == Set(drafts))
    #expect(store._checkInvariants() == [])
  }

  @Test("A change of one is a change of what contains it, at each kind of place")
  func changes() {
    let draft = Draft(id: nil, text: "a")
    var letter = Letter(id: 0, main: draft, other: draft, pages: [draft], set: [draft], byName: ["a": draft])
    let observer = store.store(letter)
    let log = Log<Letter>()
    let subscription = observer.observe { log.append($0) }
    func step(_ change: (inout Letter) -> Void) {
      change(&letter)
      store.store(letter)
      #expect(log.last == letter)
      store.update(Letter.self, id: 0) { change(&$0) }
      #expect(observer.value == letter)
    }
    step { $0.main.text = "b" }
    step { $0.other?.text = "b" }
    step { $0.pages[0].text = "b" }
    step { $0.set = [Draft(id: nil, text: "b")] }
    step { $0.byName["a"]?.text = "b" }
    #expect(log.count == 6)
    subscription.unsubscribe()
  }

  @Test("Stored again as they are, they tell nobody")
  func unchanged() {
    let draft = Draft(id: nil, text: "a")
    let letter = Letter(id: 0, main: draft, other: draft, pages: [draft], set: [draft], byName: ["a": draft])
    let log = Log<Letter>()
    let subscription = store.store(letter).observe { log.append($0) }
    store.store(Letter(id: 0, main: draft, other: draft, pages: [draft], set: [draft], byName: ["a": draft]))
    store.update(Letter.self, id: 0) { $0.pages = $0.pages.map { $0 } }
    #expect(log.count == 1)
    subscription.unsubscribe()
  }

  @Test("What gets an id is an entity from then on")
  func saved() {
    let letter = store.store(Letter(id: 0, main: Draft(id: nil, text: "a")))
    store.update(Letter.self, id: 0) { $0.main.id = 7 }
    store.update(Draft.self, id: 7) { $0.text = "b" }
    #expect(letter.value.main == Draft(id: 7, text: "b"))
    store.update(Letter.self, id: 0) { $0.main.id = nil }
    #expect(store.find(Draft.self, id: 7) == nil)
    #expect(letter.value.main == Draft(id: nil, text: "b"))
    #expect(store._checkInvariants() == [])
  }

  @Test("One that contains entities shows their newest values, and keeps them alive as long as it is observed")
  func aggregates() {
    var letters: [EntityObserver<DraftLetter>]? = [
      store.store(DraftLetter(id: nil, tag: Tag(id: 0, text: 0))),
      store.store(DraftLetter(id: nil, tag: Tag(id: 0, text: 1))),
    ]
    store.update(Tag.self, id: 0) { $0.text = 2 }
    #expect(letters?.map(\.value.tag.text) == [2, 2])
    #expect(store._checkInvariants() == [])
    letters = nil
    #expect(store.find(Tag.self, id: 0) == nil)
    #expect(store._checkInvariants() == [])
  }

  @Test("In collections and under aliases they stay apart")
  func collections() {
    let drafts = [Draft(id: nil, text: "a"), Draft(id: nil, text: "b")]
    #expect(store.store(drafts).value == drafts)
    #expect(store.store(drafts, named: "drafts").value == drafts)
    #expect(store.find(named: AliasKey<[Draft]>("drafts")).value == drafts)
    let alias = AliasKey<Draft>("draft")
    store.store(drafts[0], named: alias)
    store.store(drafts[1])
    #expect(store.find(named: alias).value == drafts[0])
    store.update(named: alias) { $0.text = "c" }
    #expect(store.find(named: alias).value == Draft(id: nil, text: "c"))
    store.update(named: alias) { $0.id = 5 }
    #expect(store.find(Draft.self, id: 5)?.value.text == "c")
    let waiting = store.observer(Draft.self, id: nil)
    store.store(drafts[0], named: alias)
    #expect(waiting.value == nil)
    store.removeAll()
    #expect(store.find(named: alias).value == nil)
    #expect(store._checkInvariants() == [])
  }

  @Test("Ten thousand of them are spread over the index, so that each is found after a few looks")
  func many() {
    let table = Table<Draft>()
    let nodes = (0..<10_000).map { _ in table.nodeAwaiting(nil) }
    // With linear probing at this load there are 2 or 3 on average; with one hash for all there would be 5,000.
    let looks = nodes.reduce(0) { $0 + table.index.looks(for: $1) }
    #expect(looks < 8 * nodes.count, "\(looks) looks for \(nodes.count)")
    for node in nodes { table.remove(node) }
    #expect(table.index.count == 0)
  }

  @Test("An id that is not equal to itself is not found either, and leaves nothing")
  func notEqualToItself() {
    struct Mark: Identifiable, Equatable {
      let id: Double
      var text = ""
    }
    for _ in 0..<3 {
      let waiting = store.observer(Mark.self, id: .nan)
      let mark = store.store(Mark(id: .nan, text: "a"))
      #expect(mark.value.text == "a")
      #expect(waiting.value == nil)
      #expect(store.find(Mark.self, id: .nan) == nil)
      #expect(store.store([Mark(id: .nan), Mark(id: 1), Mark(id: .nan)]).value.count == 3)
    }
    #expect(store._statistics().nodes == 0)
    #expect(store._checkInvariants() == [])
  }
}

extension NodeIndex {
  /// The number of entries that are looked at to find a node.
  fileprivate func looks(for node: Node) -> Int {
    var (position, looks) = (Int(node.hash) & (capacity - 1), 1)
    while entries[position].node !== node, looks <= capacity {
      position = (position + 1) & (capacity - 1)
      looks += 1
    }
    return looks
  }
}
