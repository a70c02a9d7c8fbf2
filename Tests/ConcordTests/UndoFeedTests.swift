import Concord
import Foundation
import Testing

private struct Word: Identifiable, Equatable {
  let id: Int
  var text = ""
}

/// What Foundation's `UndoManager` does: it exists on Apple systems only.
@MainActor private final class StandIn: UndoMenu {
  private enum Mode { case idle, undoing, redoing }
  private var mode = Mode.idle
  private(set) var undoable: [UndoMenuStep] = []
  private(set) var redoable: [UndoMenuStep] = []

  func add(_ step: UndoMenuStep) {
    switch mode {
    case .idle:
      undoable.append(step)
      redoable = []
    case .undoing: redoable.append(step)
    case .redoing: undoable.append(step)
    }
  }
  func remove(_ step: UndoMenuStep) {
    undoable.removeAll { $0 === step }
    redoable.removeAll { $0 === step }
  }
  func undo() {
    mode = .undoing
    undoable.popLast()?.perform()
    mode = .idle
  }
  func redo() {
    mode = .redoing
    redoable.popLast()?.perform()
    mode = .idle
  }
  var names: [[String]] { [undoable.map(\.actionName), redoable.map(\.actionName)] }
}

@MainActor @Suite("Feeding an undo menu")
struct UndoFeedTests {
  private let menu = StandIn()
  private let first = EntityStore(delivery: .immediate)
  private let second = EntityStore(delivery: .immediate)
  private let results = Locked<[String]>([])
  private let kept: [EntityObserver<Word>]

  init() { kept = [first.store(Word(id: 1)), second.store(Word(id: 1))] }

  private func feed() -> UndoFeed {
    UndoFeed(menu, [first.undo, second.undo]) { [results] result in
      switch result {
      case .success(let result): results.withLock { $0.append(result.step.actionName) }
      case .failure(let error): results.withLock { $0.append("\(error)") }
      }
    }
  }

  private func write(_ text: String, _ store: EntityStore) {
    store.undo.record(text) { tx in tx.update(Word.self, id: 1) { $0.text = text } }
  }
  private var texts: [String] { kept.map(\.value.text) }

  private func becomes(_ names: [[String]], _ texts: [String]) async throws -> Bool {
    for _ in 0..<1000 {
      if menu.names == names, self.texts == texts { return true }
      try await Task.sleep(for: .milliseconds(2))
    }
    return false
  }

  @Test("The menu has the steps of all histories in their order, and undoes and redoes them")
  func order() async throws {
    write("a", first)
    write("b", second)
    let feed = feed()
    #expect(menu.names == [["a", "b"], []])
    write("c", first)
    #expect(try await becomes([["a", "b", "c"], []], ["c", "b"]))
    menu.undo()
    menu.undo()
    #expect(menu.names == [["a"], ["c", "b"]])
    #expect(try await becomes([["a"], ["c", "b"]], ["a", ""]))
    menu.redo()
    #expect(try await becomes([["a", "b"], ["c"]], ["a", "b"]))
    menu.undo()
    menu.undo()
    menu.redo()
    menu.redo()
    menu.redo()
    #expect(try await becomes([["a", "b", "c"], []], ["c", "b"]))
    // One more ends what could be redone.
    menu.undo()
    #expect(try await becomes([["a", "b"], ["c"]], ["a", "b"]))
    write("d", second)
    #expect(try await becomes([["a", "b", "d"], []], ["a", "d"]))
    #expect(results.withLock { $0 } == ["c", "b", "b", "b", "a", "a", "b", "c", "c"])
    withExtendedLifetime(feed) {}
  }

  @Test("What a history has undone otherwise, or discarded, goes from the menu, and what it has redone comes")
  func otherwise() async throws {
    let feed = feed()
    for text in ["a", "b", "c"] { write(text, first) }
    #expect(try await becomes([["a", "b", "c"], []], ["c", ""]))
    try first.undo.undo()
    #expect(try await becomes([["a", "b"], []], ["b", ""]))
    try first.undo.redo()
    #expect(try await becomes([["a", "b", "c"], []], ["c", ""]))
    first.undo.levelsOfUndo = 2
    #expect(try await becomes([["b", "c"], []], ["c", ""]))
    // Somebody else is faster: it can be redone in both.
    try first.undo.undo()
    menu.undo()
    #expect(try await becomes([["b"], ["c"]], ["b", ""]))
    first.undo.removeAllSteps()
    #expect(try await becomes([[], []], ["b", ""]))
    #expect(results.withLock { $0 } == ["\(UndoError.nothingToDo)"])
    withExtendedLifetime(feed) {}
  }

  @Test("What cannot be undone says why, and goes")
  func overtaken() async throws {
    let feed = feed()
    write("a", first)
    #expect(try await becomes([["a"], []], ["a", ""]))
    first.update(Word.self, id: 1) { $0.text = "others" }
    menu.undo()
    #expect(try await becomes([[], []], ["others", ""]))
    #expect(results.withLock { $0.first?.contains("has been changed since") == true })
    withExtendedLifetime(feed) {}
  }

  @Test("A group is one step of the menu")
  func groups() async throws {
    let feed = feed()
    for text in ["E", "Ed", "Eden"] {
      first.undo.record("Typing", joining: 1) { tx in tx.update(Word.self, id: 1) { $0.text = text } }
      #expect(try await becomes([["Typing"], []], [text, ""]))
    }
    menu.undo()
    #expect(try await becomes([[], ["Typing"]], ["", ""]))
    withExtendedLifetime(feed) {}
  }

  @Test("After its end nothing of it is in the menu, and what is recorded does not come")
  func ends() async throws {
    let one = feed()
    write("a", first)
    #expect(try await becomes([["a"], []], ["a", ""]))
    one.stop()
    #expect(menu.names == [[], []])
    write("b", first)
    try await Task.sleep(for: .milliseconds(20))
    #expect(menu.names == [[], []])
    var other: UndoFeed? = feed()
    #expect(menu.names == [["a", "b"], []])
    weak let released = other
    other = nil
    #expect(released == nil)
    menu.undo()
    try await Task.sleep(for: .milliseconds(20))
    #expect(texts == ["b", ""])
  }
}
