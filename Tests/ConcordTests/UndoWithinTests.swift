import Foundation
import Testing

@testable import Concord

@Suite("Undo of what is recorded within transactions")
struct UndoWithinTests {
  private struct Memo: Identifiable, Equatable {
    let id: Int
    var text = ""
  }

  /// Lets another thread do something when a transaction has just committed, before the thread of that goes on.
  private final class Interruption: EntityStoreLogger {
    let body = Kept<@Sendable () -> Void>()

    func didStore<T: Identifiable>(_ type: T.Type, id: T.ID) {
      guard let body = body.value else { return }
      self.body.value = nil
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        body()
        done.signal()
      }
      done.wait()
    }
  }

  private let interruption = Interruption()
  private let store: EntityStore
  private let memo: EntityObserver<Memo>
  private var undo: UndoHistory { store.undo }

  init() {
    store = EntityStore(delivery: .immediate, logger: interruption)
    memo = store.store(Memo(id: 1))
  }

  private func type(_ text: String, _ store: EntityStore) {
    store.undo.record("Typing", joining: 1) { tx in tx.update(Memo.self, id: 1) { $0.text = text } }
  }

  private func write(_ text: String, _ store: EntityStore) {
    store.undo.record(text) { tx in tx.update(Memo.self, id: 1) { $0.text = text } }
  }

  @Test("A step stands before those that another thread records after the commit, and is undone after them")
  func order() throws {
    interruption.body.value = { [self] in write("b", store) }
    store.transaction { tx in write("a", tx) }
    #expect(memo.value.text == "b")
    #expect(undo.undoSteps.map(\.actionName) == ["a", "b"])
    #expect(try undo.undo().step.actionName == "b" && memo.value.text == "a")
    #expect(try undo.undo().step.actionName == "a" && memo.value.text.isEmpty)
  }

  @Test("What another thread has undone after the commit can be redone")
  func redo() throws {
    interruption.body.value = { [self] in
      write("b", store)
      _ = try? undo.undo()
    }
    store.transaction { tx in write("a", tx) }
    #expect(memo.value.text == "a")
    #expect(undo.undoSteps.map(\.actionName) == ["a"] && undo.redoSteps.map(\.actionName) == ["b"])
    #expect(try undo.redo().step.actionName == "b" && memo.value.text == "b")
  }

  @Test("Typing is one change, however many letters")
  func typing() throws {
    let texts = (1...1000).map { String(repeating: "x", count: $0) }
    for text in texts { store.transaction { tx in type(text, tx) } }
    #expect(undo.undoSteps.map(\.size) == [1])
    try undo.undo()
    #expect(memo.value.text.isEmpty)
    try undo.redo()
    #expect(memo.value.text == texts.last)
    undo.removeAllSteps()
    store.transaction { tx in for text in texts { type(text, tx) } }
    #expect(undo.undoSteps.map(\.size) == [1])
    try undo.undo()
    #expect(memo.value.text == texts.last)
  }

  @Test("A part of the transaction that throws leaves no step, and those before it stay")
  func failing() throws {
    write("before", store)
    store.transaction { tx in
      type("a", tx)
      try? tx.transaction { tx in
        type("ab", tx)
        throw Refused()
      }
      type("ac", tx)
    }
    #expect(throws: Refused.self) {
      try store.transaction { tx in
        type("acd", tx)
        throw Refused()
      }
    }
    type("ace", store)
    #expect(undo.undoSteps.map(\.size) == [1, 1])
    try undo.undo()
    #expect(memo.value.text == "before")
  }

  @Test("A group that ends within the transaction gets no more")
  func endedGroup() throws {
    type("a", store)
    store.transaction { tx in
      tx.undo.endGroup()
      type("ab", tx)
      type("abc", tx)
      tx.undo.endGroup()
      type("abcd", tx)
      tx.undo.endGroup()
    }
    type("abcde", store)
    #expect(undo.undoSteps.map(\.size) == [1, 1, 1, 1])
    for text in ["abcd", "abc", "a", ""] {
      try undo.undo()
      #expect(memo.value.text == text)
    }
  }

  @Test("A group that has ended stays so if the part in which it did is undone", arguments: [true, false])
  func endedInPart(_ isPending: Bool) throws {
    if isPending {
      store.transaction { tx in
        type("a", tx)
        try? tx.transaction { tx in
          write("b", tx)
          tx.undo.endGroup()
          throw Refused()
        }
      }
    } else {
      type("a", store)
      try? store.transaction { tx in
        write("b", tx)
        tx.undo.endGroup()
        throw Refused()
      }
    }
    type("ab", store)
    #expect(undo.undoSteps.map(\.size) == [1, 1])
    try undo.undo()
    #expect(memo.value.text == "a")
  }

  @Test("A group of many entities is joined in lists of a bounded length")
  func many() throws {
    let kept = (1...1000).map { store.store(Memo(id: $0)) }
    store.transaction { tx in
      for id in 1...1000 {
        tx.undo.record("Import", joining: 1) { tx in tx.update(Memo.self, id: id) { $0.text = "x" } }
      }
    }
    let steps = undo.undoSteps
    #expect(steps.map(\.size) == [1000] && steps[0].parts.allSatisfy { $0.count <= 65 })
    try undo.undo()
    #expect(kept.allSatisfy { $0.value.text.isEmpty })
    try undo.redo()
    #expect(kept.allSatisfy { $0.value.text == "x" })
  }

  @Test("Steps that change the same many entities are joined in one list", arguments: [true, false])
  func dragging(_ isOneTransaction: Bool) throws {
    let kept = (1...200).map { store.store(Memo(id: $0)) }
    func drag(_ store: EntityStore) {
      for turn in 1...20 {
        store.undo.record("Move", joining: 1) { tx in
          for id in 1...200 { tx.update(Memo.self, id: id) { $0.text = "\(turn)" } }
        }
      }
    }
    if isOneTransaction { store.transaction { tx in drag(tx) } } else { drag(store) }
    #expect(undo.undoSteps.map { $0.parts.map(\.count) } == [[200]])
    try undo.undo()
    #expect(kept.allSatisfy { $0.value.text.isEmpty })
    try undo.redo()
    #expect(kept.allSatisfy { $0.value.text == "20" })
  }

  @Test("A pending step holds the last list of its group, and not those before it")
  func held() {
    struct Change: UndoableChange {}
    let steps = UndoSteps()
    var pending: [PendingStep] = []
    for id in 1...100 {
      let step = UndoStep(id: id, actionName: "Import", context: nil, group: UndoGroup(1), parts: [[Change()]])
      pending.append(PendingStep(step, behind: pending.last, steps.last) { $0 + $1 })
    }
    #expect(pending.allSatisfy { $0.joined?.parts.count ?? 2 == 2 })
    #expect(pending.map(\.kept) == [0, 0] + (1...98))
    for step in pending { step.add(to: steps) }
    #expect(steps.steps(isRedo: false).map(\.parts.count) == [100])
  }

  @Test("What the transaction writes between two steps of a group is not undone with them")
  func between() throws {
    store.transaction { tx in
      type("a", tx)
      tx.update(Memo.self, id: 1) { $0.text = "by another" }
      type("b", tx)
    }
    #expect(undo.undoSteps.map(\.size) == [2])
    #expect(try undo.undo().conflicts.map(\.property) == ["text"])
    #expect(memo.value.text == "by another")
  }
}
