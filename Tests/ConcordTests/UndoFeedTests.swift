import Foundation
import Testing

@testable import Concord

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

  var isIdle: Bool { mode == .idle }

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

/// The history of a store, of which the next calls fail, as where a file is full.
private final class Failing: StepHistory {
  struct Full: Error {}
  let failures = Locked(0)
  private let history: UndoHistory

  init(_ history: UndoHistory) { self.history = history }

  var undoSteps: [UndoStep] { history.undoSteps }
  var redoSteps: [UndoStep] { history.redoSteps }
  var statuses: AsyncStream<UndoStatus> { history.statuses }

  func undo() async throws -> UndoResult {
    try fail()
    return try history.undo()
  }

  func redo() async throws -> UndoResult {
    try fail()
    return try history.redo()
  }

  private func fail() throws {
    try failures.withLock { failures in
      if failures == 0 { return }
      failures -= 1
      throw Full()
    }
  }
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

  @Test("What could not be undone or redone stands where it was, beside all others, and can be tried again")
  func failing() async throws {
    let failing = Failing(first.undo)
    let feed = UndoFeed(menu, [failing, second.undo]) { [results] result in
      results.withLock { $0.append((try? result.get())?.step.actionName ?? "none") }
    }
    for text in ["a", "b", "c", "d"] { write(text, first) }
    #expect(try await becomes([["a", "b", "c", "d"], []], ["d", ""]))
    menu.undo()
    menu.undo()
    #expect(try await becomes([["a", "b"], ["d", "c"]], ["b", ""]))
    func fails(_ count: Int, _ perform: @MainActor () -> Void, moving names: [[String]]) async throws {
      let before = menu.names
      let done = results.withLock { $0.count }
      failing.failures.withLock { $0 = 1 }
      for _ in 0..<count { perform() }
      #expect(menu.names == names)
      #expect(try await becomes(before, ["b", ""]))
      #expect(results.withLock { $0.dropFirst(done) } == Array(repeating: "none", count: count)[...])
    }
    try await fails(1, menu.redo, moving: [["a", "b", "c"], ["d"]])
    try await fails(1, menu.undo, moving: [["a"], ["d", "c", "b"]])
    // The second of two is not the next one then.
    try await fails(2, menu.redo, moving: [["a", "b", "c", "d"], []])
    try await fails(2, menu.undo, moving: [[], ["d", "c", "b", "a"]])
    // Nor is what the menu has moved there and back undone once more.
    failing.failures.withLock { $0 = 1 }
    menu.undo()
    menu.redo()
    #expect(menu.names == [["a", "b"], ["d", "c"]])
    for _ in 0..<10_000 where results.withLock({ $0.count }) < 10 { try await Task.sleep(for: .milliseconds(2)) }
    #expect(results.withLock { $0.count } == 10 && menu.names == [["a", "b"], ["d", "c"]] && texts == ["b", ""])
    menu.redo()
    #expect(try await becomes([["a", "b", "c"], ["d"]], ["c", ""]))
    menu.redo()
    #expect(try await becomes([["a", "b", "c", "d"], []], ["d", ""]))
    menu.undo()
    menu.undo()
    menu.undo()
    #expect(try await becomes([["a"], ["d", "c", "b"]], ["a", ""]))
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

  @Test("A feed that is released takes its steps out of the menu, which then retains no store")
  func released() async throws {
    weak var core: SharedCore?
    var feed: UndoFeed?
    do {
      let store = EntityStore(delivery: .immediate)
      core = store.shared
      let word = store.store(Word(id: 1))
      write("a", store)
      feed = UndoFeed(menu, [store.undo]) { _ in }
      withExtendedLifetime(word) {}
    }
    #expect(menu.names == [["a"], []] && core != nil && feed != nil)
    feed = nil
    for _ in 0..<10_000 where menu.names != [[], []] || core != nil { try await Task.sleep(for: .milliseconds(2)) }
    #expect(menu.names == [[], []] && core == nil)
  }
}
