import Concord
import Foundation
import Testing

/// What a step has done, and how that is taken back.
extension UndoTests {
  // MARK: Inserting and removing

  @Test("What a step inserted is removed, unless others have changed it or use it")
  func inserts() throws {
    let shelf = store.store(Case(id: 1, novels: [novel(1, "Eden")]))
    let observer = store.observer(Novel.self, id: 2)
    func insert() { undo.record("Add") { $0.update(Case.self, id: 1) { $0.novels.append(novel(2, "Pearl")) } } }
    insert()
    try undo.undo()
    #expect(shelf.value.novels.map(\.id) == [1] && observer.value == nil)
    try undo.redo()
    #expect(shelf.value.novels.map(\.id) == [1, 2] && observer.value?.title == "Pearl")
    // Others insert, too: theirs stays, at its place.
    store.update(Case.self, id: 1) { $0.novels.append(novel(3, "Cannery Row")) }
    #expect(try undo.undo().conflicts.isEmpty)
    #expect(shelf.value.novels.map(\.id) == [1, 3] && observer.value == nil)
    // Changed since.
    insert()
    rename(2, "The Pearl")
    let error = #expect(throws: UndoError.self) { try undo.undo() }
    guard case .overtaken(_, let conflicts) = try #require(error) else {
      Issue.record("it was undone")
      return
    }
    #expect(
      conflicts.map(\.description) == [
        "Case 1, novels: has been changed since", "Novel 2, title: has been changed since",
      ])
    #expect(shelf.value.novels.map(\.id) == [1, 3, 2] && observer.value?.title == "The Pearl")
    store.remove(Novel.self, id: 2)
    // Used since.
    insert()
    let other = store.store(Case(id: 2, novels: []))
    store.update(Case.self, id: 2) { $0.novels = [novel(2, "Pearl")] }
    #expect(try undo.undo().conflicts.map(\.reason) == [.inUse])
    #expect(other.value.novels.map(\.id) == [2] && shelf.value.novels.map(\.id) == [1, 3])
  }

  @Test("What a step removed is stored again, in its places, with what others have changed inside it")
  func removals() throws {
    let shelf = store.store(Case(id: 1, novels: [novel(1, "Eden"), novel(2, "Pearl"), novel(3, "Row")]))
    let observer = store.observer(Novel.self, id: 2)
    let john = Writer(id: 1, name: "John Steinbeck")
    undo.record("Delete") { _ = $0.remove(Novel.self, id: 2) }
    store.update(Writer.self, id: 1) { $0.name = "John Steinbeck" }
    try undo.undo()
    #expect(shelf.value.novels.map(\.title) == ["Eden", "Pearl", "Row"])
    #expect(observer.value?.writer.name == "John Steinbeck")
    #expect(store.value(Writer.self, id: 1)?.name == "John Steinbeck")
    try undo.redo()
    #expect(shelf.value.novels.map(\.id) == [1, 3] && observer.value == nil)
    // Others have changed the list.
    store.update(Case.self, id: 1) { $0.novels.insert(novel(4, "Flat", john), at: 0) }
    try undo.undo()
    #expect(shelf.value.novels.map(\.id) == [4, 1, 2, 3])
    // With it what requires it.
    undo.record("Delete") { _ = $0.remove(Writer.self, id: 1) }
    #expect(shelf.value.novels.isEmpty)
    try undo.undo()
    #expect(shelf.value.novels.map(\.id) == [4, 1, 2, 3] && shelf.value.novels.last?.writer.name == "John Steinbeck")
    // Others have stored it again.
    undo.record("Delete") { _ = $0.remove(Novel.self, id: 1) }
    let again = store.store(novel(1, "Stored again", john))
    #expect(try undo.undo().conflicts.map(\.reason) == [.storedSince])
    #expect(again.value.title == "Stored again" && shelf.value.novels.map(\.id) == [4, 1, 2, 3])
  }

  @Test("An entity that a step let go is there again as it was")
  func released() throws {
    let shelf = store.store(Case(id: 1, novels: [novel(1, "Eden"), novel(2, "Pearl")]))
    undo.record("Take out") { tx in
      tx.update(Novel.self, id: 2) { $0.pages = 7 }
      tx.update(Case.self, id: 1) { $0.novels.removeLast() }
    }
    #expect(title(2) == nil)
    #expect(try undo.undo().conflicts.isEmpty)
    #expect(shelf.value.novels.map(\.title) == ["Eden", "Pearl"] && shelf.value.novels.last?.pages == 100)
    try undo.redo()
    #expect(shelf.value.novels.map(\.title) == ["Eden"] && title(2) == nil)
  }

  @Test("Sets and dictionaries are taken back by their elements")
  func elements() throws {
    let observer = store.store(
      Novel(id: 1, title: "Eden", tags: ["a", "b"], prices: ["DE": 1, "US": 2, "FR": 3], writer: steinbeck))
    undo.record("Edit") { tx in
      tx.update(Novel.self, id: 1) { novel in
        novel.tags = ["b", "mine"]
        novel.prices = ["DE": 10, "US": 20, "UK": 4]
      }
    }
    store.update(Novel.self, id: 1) { novel in
      novel.tags.insert("theirs")
      novel.prices["US"] = 21
    }
    let result = try undo.undo()
    #expect(observer.value.tags == ["a", "b", "theirs"])
    #expect(observer.value.prices == ["DE": 1, "US": 21, "FR": 3])
    #expect(result.conflicts.map(\.property) == ["prices"])
  }

  // MARK: Aliases

  @Test("An alias names again what it named, unless others let it name something else")
  func aliases() throws {
    store.store(novel(1, "Eden"), named: .chosenNovel)
    let current = store.find(named: .chosenNovel)
    let list = store.find(named: .novelList)
    let kept = store.store([novel(1, "Eden"), novel(2, "Pearl"), novel(3, "Row")])
    undo.record("Choose") { $0.store(novel(2, "Pearl"), named: .chosenNovel) }
    undo.record("List") { $0.store([novel(1, "Eden"), novel(2, "Pearl")], named: .novelList) }
    undo.record("Forget") { $0.removeAlias(named: .chosenNovel) }
    #expect(current.value == nil && list.value?.count == 2)
    try undo.undo()
    #expect(current.value?.id == 2)
    try undo.undo()
    #expect(list.value == nil)
    try undo.undo()
    #expect(current.value?.id == 1)
    for _ in 0..<3 { try undo.redo() }
    #expect(current.value == nil && list.value?.map(\.id) == [1, 2])
    // Others add to the list.
    undo.record("Remove") { tx in _ = tx.update(named: .novelList) { $0.removeFirst() } }
    store.update(named: .novelList) { $0.append(novel(3, "Row")) }
    #expect(try undo.undo().conflicts.isEmpty)
    #expect(list.value?.map(\.id) == [1, 2, 3])
    // Others choose.
    undo.record("Choose") { $0.store(novel(2, "Pearl"), named: .chosenNovel) }
    store.store(novel(3, "Row"), named: .chosenNovel)
    do {
      try undo.undo()
      Issue.record("it was undone")
    } catch UndoError.overtaken(_, let conflicts) {
      #expect(conflicts.map(\.description) == ["Novel current: has been changed since"])
    }
    #expect(current.value?.id == 3 && kept.value.count == 3)
  }

  @Test("What an alias alone retained is stored again with it")
  func aliasesRetain() throws {
    store.store(novel(1, "Eden"), named: .chosenNovel)
    undo.record("Forget") { $0.removeAlias(named: .chosenNovel) }
    #expect(title(1) == nil)
    try undo.undo()
    #expect(title(1) == "Eden" && store.find(named: .chosenNovel).value?.id == 1)
    undo.record("Delete") { _ = $0.remove(Novel.self, id: 1) }
    #expect(store.find(named: .chosenNovel).value == nil)
    try undo.undo()
    #expect(store.find(named: .chosenNovel).value?.title == "Eden")
  }

  // MARK: Stamps and layers

  @Test("Undoing gives no stamp to what it does not change")
  func stamps() throws {
    let store = EntityStore(delivery: .immediate, date: { Date(timeIntervalSinceReferenceDate: 1_000) })
    let shelf = store.store(Case(id: 1, novels: [novel(1, "Eden"), novel(2, "Pearl")]), modifiedAt: 5)
    store.undo.record("Delete") { tx in
      _ = tx.remove(Novel.self, id: 2)
      tx.update(Case.self, id: 1) { $0.name = "renamed" }
    }
    try store.undo.undo()
    #expect(shelf.value.novels.count == 2)
    // The author and the other novel still take what is newer than their own stamps.
    #expect(store.update(Writer.self, id: 1, modifiedAt: 6) { $0.name = "John" })
    #expect(store.update(Novel.self, id: 1, modifiedAt: 6) { $0.pages = 6 })
    #expect(!store.update(Novel.self, id: 2, modifiedAt: 6) { $0.pages = 6 })
  }

  @Test("Undoing goes beneath what is pending, and a layer that is committed in a step is undone with it")
  func layers() throws {
    let observer = store.store(novel(1, "Eden"))
    let layer = store.optimistically { tx in tx.update(Novel.self, id: 1) { $0.pages = 999 } }
    undo.record("Edit") { $0.update(Novel.self, id: 1) { ($0.title, $0.pages) = ("East of Eden", 600) } }
    #expect(observer.value.pages == 999 && observer.value.title == "East of Eden")
    #expect(try undo.undo().conflicts.isEmpty)
    #expect(observer.value.pages == 999 && observer.value.title == "Eden")
    layer.rollBack()
    #expect(observer.value.pages == 100)
    let other = store.optimistically { tx in
      _ = tx.undo.record("In a layer") { $0.update(Novel.self, id: 1) { $0.pages = 999 } }
    }
    #expect(!undo.status.canUndo)
    undo.record("Commit") { _ in _ = other.commit() }
    #expect(observer.value.pages == 999)
    try undo.undo()
    #expect(observer.value.pages == 100)
  }

  // MARK: Shapes

  @Test("A type whose properties are not known is undone as a whole, and references with the rest")
  func wholes() throws {
    final class Box: Sendable {}
    struct Boxed: Identifiable, Sendable {
      let id: Int
      var number: Int
      var other = 0
      var box: Box
      weak let observer: Box?
    }
    enum Choice: Identifiable, Equatable {
      case one(Int), two(Int)
      var id: Int { 1 }
    }
    let (first, second) = (Box(), Box())
    let boxed = store.store(Boxed(id: 1, number: 1, box: first, observer: first))
    undo.record("Number") { $0.update(Boxed.self, id: 1) { $0.number = 2 } }
    store.update(Boxed.self, id: 1) { $0.box = second }
    try undo.undo()
    #expect(boxed.value.number == 1 && boxed.value.box === second && boxed.value.observer === first)
    undo.record("Both") { $0.update(Boxed.self, id: 1) { ($0.number, $0.box) = (3, first) } }
    try undo.undo()
    #expect(boxed.value.number == 1 && boxed.value.box === second && boxed.value.observer === first)
    undo.record("Box") { $0.update(Boxed.self, id: 1) { $0.box = first } }
    store.update(Boxed.self, id: 1) { $0.other = 5 }
    do {
      try undo.undo()
      Issue.record("it was undone")
    } catch UndoError.overtaken(_, let conflicts) {
      #expect(conflicts.map(\.reason) == [.inseparable] && conflicts.first?.property == "box")
    }
    #expect(boxed.value.other == 5 && boxed.value.box === first)
    let choice = store.store(Choice.one(1))
    undo.record("Choose") { _ = $0.store(Choice.two(2)) }
    try undo.undo()
    #expect(choice.value == .one(1))
  }

  @Test("Values of any layout are undone property by property")
  func layouts() throws {
    struct Inner: Sendable, Equatable {
      var a: Int8 = 1
      var b: Int64 = 2
      var c: Bool = true
    }
    struct Odd: Identifiable, Sendable {
      let id: Int
      var bit = false
      var inner = Inner()
      var byte: UInt8 = 3
      var any: any Sendable & Equatable = 5
      var text: String? = "x"
      var tuple: (Int8, Int32) = (1, 2)
      var date: Date?
      var closure: @Sendable () -> Int = { 1 }
      var list: [Inner] = []
      var last: Int16 = 9
    }
    let odd = store.store(Odd(id: 1))
    undo.record("Edit") { tx in
      tx.update(Odd.self, id: 1) { odd in
        odd.bit = true
        odd.inner.c = false
        odd.byte = 4
        odd.text = nil
        odd.tuple.1 = 7
        odd.date = Date(timeIntervalSinceReferenceDate: 3)
        odd.list = [Inner(a: 4)]
        odd.last = 10
      }
    }
    store.update(Odd.self, id: 1) { odd in
      odd.any = "theirs"
      odd.byte = 200
    }
    #expect(try undo.undo().conflicts.map(\.property) == ["byte"])
    let value = odd.value
    #expect(!value.bit && value.inner == Inner() && value.byte == 200 && value.text == "x" && value.tuple == (1, 2))
    #expect(value.date == nil && value.list.isEmpty && value.last == 9 && (value.any as? String) == "theirs")
  }

  @Test("Values with a property that takes no room are undone, too")
  func metatypes() throws {
    // As large as if the metatype took a word, with the list elsewhere.
    struct Marked: Identifiable, Sendable {
      let type = Int.self
      var list: [Int]
      var numbers: SIMD4<Float> = .zero
      let id: Int
    }
    let marked = store.store(Marked(list: [1], id: 1))
    undo.record("Edit") { $0.update(Marked.self, id: 1) { $0.list = [2, 3] } }
    #expect(marked.value.list == [2, 3])
    try undo.undo()
    #expect(marked.value.list == [1] && marked.value.numbers == .zero)
    try undo.redo()
    #expect(marked.value.list == [2, 3])
  }
}
