import Concord
import Foundation
import Testing

@Suite("Undo")
struct UndoTests {
  let store = EntityStore(delivery: .immediate)
  var undo: UndoHistory { store.undo }

  // MARK: Steps

  @Test("A step is undone and redone, by its name, and whoever observes is told once")
  func undoesAndRedoes() throws {
    let observer = store.store(novel(1, "Eden"))
    let titles = Locked<[String]>([])
    let subscription = observer.observe { novel in titles.withLock { $0.append(novel.title) } }
    undo.record("Rename") { $0.update(Novel.self, id: 1) { ($0.title, $0.pages) = ("East of Eden", 600) } }
    #expect(undo.status == UndoStatus(undo: "Rename", redo: nil))
    #expect(try undo.undo().step.actionName == "Rename")
    #expect(observer.value.title == "Eden" && observer.value.pages == 100)
    #expect(undo.status == UndoStatus(undo: nil, redo: "Rename"))
    try undo.redo()
    #expect(observer.value.title == "East of Eden" && observer.value.pages == 600)
    #expect(undo.status == UndoStatus(undo: "Rename", redo: nil))
    #expect(titles.withLock { $0 } == ["Eden", "East of Eden", "Eden", "East of Eden"])
    subscription.unsubscribe()
  }

  @Test("Without a step there is nothing to do, and a new step ends what could be redone")
  func nothingToDo() throws {
    let observer = store.store(novel(1, "Eden"))
    #expect(throws: UndoError.self) { try undo.undo() }
    rename(1, "by another")
    undo.record("Nothing") { _ in }
    undo.record("The same") { $0.update(Novel.self, id: 1) { $0.pages = 100 } }
    #expect(!undo.status.canUndo)
    undo.record("One") { $0.update(Novel.self, id: 1) { $0.pages = 1 } }
    try undo.undo()
    undo.record("Two") { $0.update(Novel.self, id: 1) { $0.pages = 2 } }
    #expect(!undo.status.canRedo)
    #expect(undo.undoSteps.map(\.actionName) == ["Two"])
    #expect(observer.value.pages == 2)
  }

  @Test("What others changed later stays, property by property")
  func keepsOthers() throws {
    let observer = store.store(novel(1, "Eden"))
    undo.record("Edit") { $0.update(Novel.self, id: 1) { ($0.title, $0.pages) = ("East of Eden", 600) } }
    store.update(Novel.self, id: 1) { ($0.pages, $0.tags) = (601, ["epic"]) }
    let result = try undo.undo()
    #expect(observer.value.title == "Eden" && observer.value.pages == 601 && observer.value.tags == ["epic"])
    #expect(result.conflicts.map(\.property) == ["pages"] && result.conflicts.first?.reason == .changedSince)
    // What was undone is redone, and no more.
    store.update(Novel.self, id: 1) { $0.pages = 700 }
    #expect(try undo.redo().conflicts.isEmpty)
    #expect(observer.value.title == "East of Eden" && observer.value.pages == 700)
  }

  @Test("A step of which nothing can be undone says why, changes nothing, and makes way for the one before")
  func overtaken() throws {
    let observer = store.store(novel(1, "Eden"))
    undo.record("Pages") { $0.update(Novel.self, id: 1) { $0.pages = 600 } }
    undo.record("Rename") { $0.update(Novel.self, id: 1) { $0.title = "East of Eden" } }
    rename(1, "Jenseits von Eden")
    do {
      try undo.undo()
      Issue.record("it was undone")
    } catch UndoError.overtaken(let step, let conflicts) {
      #expect(step.actionName == "Rename")
      #expect(conflicts.map(\.description) == ["Novel 1, title: has been changed since"])
    }
    #expect(observer.value.title == "Jenseits von Eden" && !undo.status.canRedo)
    try undo.undo()
    #expect(observer.value.pages == 100)
    // An entity that is gone.
    undo.record("Rename") { $0.update(Novel.self, id: 1) { $0.title = "East of Eden" } }
    store.remove(Novel.self, id: 1)
    do {
      try undo.undo()
      Issue.record("it was undone")
    } catch UndoError.overtaken(_, let conflicts) { #expect(conflicts.map(\.reason) == [.notStored]) }
  }

  @Test("Only what is recorded can be undone, and a transaction that throws is not a step")
  func onlyRecorded() throws {
    struct Failed: Error {}
    let observer = store.store(novel(1, "Eden"))
    #expect(throws: Failed.self) {
      try undo.record("Failed") { tx in
        tx.update(Novel.self, id: 1) { $0.pages = 1 }
        throw Failed()
      }
    }
    #expect(throws: Failed.self) {
      try store.transaction { tx in
        tx.undo.record("Within") { $0.update(Novel.self, id: 1) { $0.pages = 1 } }
        throw Failed()
      }
    }
    #expect(!undo.status.canUndo && observer.value.pages == 100)
    store.transaction { tx in
      tx.update(Novel.self, id: 1) { $0.tags = ["before"] }
      tx.undo.record("Within") { tx in
        tx.update(Novel.self, id: 1) { $0.pages = 1 }
        tx.undo.record("Inside") { $0.update(Novel.self, id: 1) { $0.title = "Inside" } }
        #expect(throws: UndoError.self) { try tx.undo.undo() }
      }
      tx.update(Novel.self, id: 1) { $0.prices = ["after": 1] }
      #expect(!undo.status.canUndo)
    }
    #expect(undo.undoSteps.map(\.actionName) == ["Within"])
    try undo.undo()
    #expect(observer.value == Novel(id: 1, title: "Eden", tags: ["before"], prices: ["after": 1], writer: steinbeck))
  }

  @Test("Of a step during which others wrote, the last change is taken back first")
  func orderOfParts() throws {
    let observer = store.store(novel(1, ""))
    undo.record("Typing", joining: 1) { $0.update(Novel.self, id: 1) { $0.title = "E" } }
    store.update(Novel.self, id: 1) { $0.pages = 5 }
    undo.record("Typing", joining: 1) { $0.update(Novel.self, id: 1) { $0.title = "Ed" } }
    #expect(undo.undoSteps.map(\.parts.count) == [2])
    #expect(try undo.undo().conflicts.isEmpty)
    #expect(observer.value.title.isEmpty && observer.value.pages == 5)
    #expect(try undo.redo().conflicts.isEmpty)
    #expect(observer.value.title == "Ed" && observer.value.pages == 5)
  }

  @Test("Steps, results and what menus show are read as text")
  func descriptions() throws {
    let observer = store.store(novel(1, "Eden"))
    #expect("\(undo.status)" == "undo: nothing, redo: nothing")
    undo.record("Edit") { $0.update(Novel.self, id: 1) { ($0.title, $0.pages) = ("East of Eden", 600) } }
    #expect("\(undo.status)" == "undo: \"Edit\", redo: nothing" && "\(undo.undoSteps)" == "[\"Edit\" (1 change)]")
    store.update(Novel.self, id: 1) { $0.pages = 601 }
    let result = try undo.undo()
    #expect("\(result)" == "\"Edit\" (1 change): done, except Novel 1, pages: has been changed since")
    #expect(try "\(undo.redo())" == "\"Edit\" (1 change): done")
    store.update(Novel.self, id: 1) { $0.title = "by others" }
    let error = #expect(throws: UndoError.self) { try undo.undo() }
    #expect(
      error.map { "\($0)" } == "\"Edit\" cannot be taken back: Novel 1, title: has been changed since")
    #expect(observer.value.pages == 601)
  }

  @Test("Typing is one step until its group ends, and what others wrote between stays")
  func groups() throws {
    let observer = store.store(novel(1, ""))
    for text in ["E", "Ed", "Ede", "Eden"] {
      undo.record("Typing", joining: 1) { $0.update(Novel.self, id: 1) { $0.title = text } }
    }
    #expect(undo.undoSteps.map(\.size) == [1])
    undo.endGroup()
    undo.record("Typing", joining: 1) { $0.update(Novel.self, id: 1) { $0.title = "Eden!" } }
    undo.record("Typing", joining: 2) { $0.update(Novel.self, id: 1) { $0.pages = 2 } }
    undo.record("Other", joining: 2) { $0.update(Novel.self, id: 1) { $0.pages = 3 } }
    #expect(undo.undoSteps.count == 4)
    for _ in 0..<3 { try undo.undo() }
    #expect(observer.value.title == "Eden" && observer.value.pages == 100)
    try undo.undo()
    #expect(observer.value.title.isEmpty)
    for _ in 0..<4 { try undo.redo() }
    #expect(observer.value.title == "Eden!" && observer.value.pages == 3)
    // Others between.
    undo.removeAllSteps()
    undo.record("Typing", joining: 1) { $0.update(Novel.self, id: 1) { $0.title = "mine" } }
    rename(1, "theirs")
    undo.record("Typing", joining: 1) { $0.update(Novel.self, id: 1) { $0.title = "mine again" } }
    #expect(undo.undoSteps.count == 1)
    #expect(try undo.undo().conflicts.map(\.property) == ["title"])
    #expect(observer.value.title == "theirs")
  }

  @Test("The history is bounded, and can be discarded")
  func bounds() throws {
    let observer = store.store(novel(1, "Eden"))
    for pages in 1...150 { undo.record("\(pages)") { $0.update(Novel.self, id: 1) { $0.pages = pages } } }
    #expect(undo.undoSteps.count == 100 && undo.undoSteps.first?.actionName == "51")
    undo.levelsOfUndo = 3
    #expect(undo.undoSteps.map(\.actionName) == ["148", "149", "150"])
    for _ in 0..<3 { try undo.undo() }
    #expect(observer.value.pages == 147 && !undo.status.canUndo && undo.redoSteps.count == 3)
    undo.removeAllSteps()
    #expect(!undo.status.canRedo)
    undo.levelsOfUndo = 0
    undo.record("Nothing is kept") { $0.update(Novel.self, id: 1) { $0.pages = 1 } }
    #expect(!undo.status.canUndo)
  }

  @Test("A history keeps no more changes than its bound, however few the steps are")
  func boundOfChanges() {
    let observer = store.store((0..<40_000).map { Writer(id: $0, name: "") })
    for name in ["a", "b", "c"] {
      undo.record(name) { tx in for id in 0..<40_000 { tx.update(Writer.self, id: id) { $0.name = name } } }
    }
    #expect(undo.undoSteps.map(\.actionName) == ["b", "c"])
    #expect(observer.value.first?.name == "c")
  }

  @Test("Menus are told of each status")
  func statuses() async throws {
    let observer = store.store(novel(1, "Eden"))
    var statuses = undo.statuses.makeAsyncIterator()
    #expect(await statuses.next() == UndoStatus(undo: nil, redo: nil))
    undo.record("Rename") { $0.update(Novel.self, id: 1) { $0.title = "x" } }
    #expect(await statuses.next() == UndoStatus(undo: "Rename", redo: nil))
    try undo.undo()
    #expect(await statuses.next() == UndoStatus(undo: nil, redo: "Rename"))
    #expect(observer.value.title == "Eden")
  }

  @Test("The writer that a step was recorded with is that of undoing it, too")
  func contexts() throws {
    let observer = store.store(novel(1, "Eden"))
    let contexts = Locked<[String?]>([])
    let subscription = store.observeChanges { set in contexts.withLock { $0.append(set.context?.name) } }
    undo.record("Rename", context: "me") { $0.update(Novel.self, id: 1) { $0.title = "x" } }
    try undo.undo()
    try undo.redo()
    rename(1, "y")
    #expect(contexts.withLock { $0 } == ["me", "me", "me", nil])
    #expect(observer.value.title == "y")
    subscription.unsubscribe()
  }

  @Test("Steps may be recorded and undone from many threads at once")
  func threads() async throws {
    let observer = store.store((0..<8).map { Writer(id: $0, name: "0") })
    await withTaskGroup(of: Void.self) { group in
      for id in 0..<8 {
        group.addTask { [store] in
          for round in 1...100 {
            store.undo.record("\(id)") { $0.update(Writer.self, id: id) { $0.name = "\(round)" } }
            if round % 3 == 0 { _ = try? store.undo.undo() }
            if round % 5 == 0 { _ = try? store.undo.redo() }
            store.update(Writer.self, id: id) { $0.born += 1 }
          }
        }
      }
    }
    while (try? undo.undo()) != nil {}
    #expect(observer.value.allSatisfy { $0.born == 2_000 })
  }
}

extension UndoStatus {
  init(undo: String?, redo: String?) { self.init(undoActionName: undo, redoActionName: redo) }
}
