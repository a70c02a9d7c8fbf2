import Concord
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

@Suite("Undoing what was forwarded")
struct OutboxUndoTests {
  private static let refusal = ScriptedTransport.Step.answer(
    TransportResponse(status: 422, body: Data("sold out".utf8)))

  @Test("What was not sent is withdrawn, and forwarded again", arguments: StoreKind.allCases)
  func withdrawn(_ kind: StoreKind) async throws {
    let transport = ScriptedTransport()
    try await withSuspendedOutbox(kind, transport) { connect in
      let undo = connect.outbox.undoManager
      let events = collect(connect.outbox)
      let first = try await connect.forward(Retitle(book: 1, title: "Eden"), as: "Rename")
      #expect(try connect.shown(1)?.title == "Eden")
      #expect(undo.status == UndoStatus(undo: "Rename", redo: nil) && undo.undoSteps.map(\.actionName) == ["Rename"])
      let result = try await undo.undo()
      #expect(result.step.actionName == "Rename" && result.conflicts.isEmpty)
      #expect(try connect.shown(1)?.title == "" && connect.outbox.pending.isEmpty)
      #expect(undo.status == UndoStatus(undo: nil, redo: "Rename") && undo.redoSteps.map(\.id) == [result.step.id])
      #expect(try await eventually { events.entries == ["forwarded", "dropped"] })
      try await undo.redo()
      #expect(try connect.shown(1)?.title == "Eden")
      let again = try #require(connect.outbox.pending.first)
      #expect(again.key != first.key && undo.status == UndoStatus(undo: "Rename", redo: nil))
      connect.suspended = false
      await connect.outbox.idle()
      #expect(transport.bodies == ["Eden"] && transport.keys == [again.key.rawValue])
      #expect(try connect.kept(1)?.title == "Eden")
    }
  }

  @Test("The inverse of what was sent is forwarded, and what redoes it", arguments: StoreKind.allCases)
  func inverse(_ kind: StoreKind) async throws {
    let transport = ScriptedTransport()
    try await withOutbox(kind, transport) { connect in
      let undo = connect.outbox.undoManager
      try await connect.forward(Retitle(book: 1, title: "Eden"), as: "Rename")
      await connect.outbox.idle()
      try await undo.undo()
      #expect(try connect.shown(1)?.title == "")
      await connect.outbox.idle()
      #expect(try connect.kept(1)?.title == "" && transport.bodies == ["Eden", ""])
      try await undo.redo()
      await connect.outbox.idle()
      #expect(try connect.kept(1)?.title == "Eden" && transport.bodies == ["Eden", "", "Eden"])
      try await undo.undo()
      await connect.outbox.idle()
      #expect(try connect.kept(1)?.title == "" && transport.bodies == ["Eden", "", "Eden", ""])
      #expect(Set(transport.keys).count == 4)
    }
  }

  @Test("An inverse that was not sent is withdrawn by redoing")
  func inverseIsWithdrawn() async throws {
    let transport = ScriptedTransport()
    try await withOutbox(.memory, transport) { connect in
      #expect(try await eventually { connect.outbox.isSender })
      let undo = connect.outbox.undoManager
      try await connect.forward(Retitle(book: 1, title: "Eden"), as: "Rename")
      await connect.outbox.idle()
      connect.suspended = true
      try await undo.undo()
      #expect(connect.outbox.pending.count == 1)
      try await undo.redo()
      #expect(try connect.shown(1)?.title == "Eden" && connect.outbox.pending.isEmpty)
      connect.suspended = false
      try await undo.undo()
      await connect.outbox.idle()
      #expect(try connect.kept(1)?.title == "" && transport.bodies == ["Eden", ""])
    }
  }

  @Test("What others changed later stays, or the step says why", arguments: StoreKind.allCases)
  func others(_ kind: StoreKind) async throws {
    try await withOutbox(kind) { connect in
      let undo = connect.outbox.undoManager
      try await connect.forward(Shelve(book: 1, count: 2), as: "Shelve")
      try await connect.forward(Retitle(book: 1, title: "Eden"), as: "Rename")
      await connect.outbox.idle()
      let context = connect.newBackgroundContext()
      try context.update(Book.self, id: 1) { ($0.title, $0.shelf) = ("Jenseits von Eden", $0.shelf + 5) }
      try context.save()
      try await connect.flush()
      do {
        try await undo.undo()
        Issue.record("it was undone")
      } catch UndoError.overtaken(let step, let conflicts) {
        #expect(step.actionName == "Rename" && conflicts.count == 1)
        #expect(conflicts.first?.reason == .doesNotApply("the title is 'Jenseits von Eden' by now"))
        #expect(
          conflicts.first?.description == "Book 1: the inverse does not apply: the title is 'Jenseits von Eden' by now")
      }
      #expect(connect.outbox.pending.isEmpty && undo.status == UndoStatus(undo: "Shelve", redo: nil))
      try await undo.undo()
      await connect.outbox.idle()
      #expect(try connect.kept(1)?.title == "Jenseits von Eden" && connect.kept(1)?.shelf == 5)
    }
  }

  @Test("What was refused cannot be undone, whether it was dropped or not", arguments: StoreKind.allCases)
  func refused(_ kind: StoreKind) async throws {
    let transport = ScriptedTransport([Self.refusal, Self.refusal, Self.refusal])
    try await withOutbox(kind, transport) { connect in
      let undo = connect.outbox.undoManager
      for isDropped in [false, true] {
        try await connect.forward(Shelve(book: 1, count: 1), as: "Shelve")
        #expect(try await eventually { connect.outbox.deadLetters.count == 1 })
        if isDropped { connect.outbox.drop(try #require(connect.outbox.deadLetters.first)) }
        await #expect(throws: UndoError.self) { try await undo.undo() }
        #expect(!undo.status.canUndo)
        if let letter = connect.outbox.deadLetters.first { connect.outbox.drop(letter) }
      }
      // One that is tried again can be.
      try await connect.forward(Shelve(book: 1, count: 1), as: "Shelve")
      #expect(try await eventually { connect.outbox.deadLetters.count == 1 })
      connect.outbox.retry(try #require(connect.outbox.deadLetters.first))
      await connect.outbox.idle()
      #expect(try connect.kept(1)?.shelf == 1)
      try await undo.undo()
      await connect.outbox.idle()
      #expect(try connect.kept(1)?.shelf == 0 && transport.bodies == ["1", "1", "1", "1", "-1"])
      // Of a refused inverse nothing is shown, and the step can be done again no more.
      transport.play(.pass, Self.refusal)
      try await connect.forward(Shelve(book: 1, count: 3), as: "Shelve")
      await connect.outbox.idle()
      try await undo.undo()
      #expect(try await eventually { connect.outbox.deadLetters.count == 1 })
      #expect(try connect.shown(1)?.shelf == 3)
      do {
        try await undo.redo()
        Issue.record("it was redone")
      } catch UndoError.overtaken(_, let conflicts) { #expect(conflicts.map(\.reason) == [.refused]) }
    }
  }

  @Test("What has no inverse can be withdrawn, and says why when it was sent", arguments: StoreKind.allCases)
  func irreversible(_ kind: StoreKind) async throws {
    try await withSuspendedOutbox(kind) { connect in
      let undo = connect.outbox.undoManager
      try await connect.forward(Raise(book: 1, note: "a"), as: "Raise")
      try await undo.undo()
      #expect(try connect.outbox.pending.isEmpty && connect.shown(1)?.title == "")
      try await undo.redo()
      #expect(try connect.outbox.pending.count == 1 && connect.shown(1)?.title == "a")
      connect.suspended = false
      await connect.outbox.idle()
      do {
        try await undo.undo()
        Issue.record("it was undone")
      } catch UndoError.overtaken(_, let conflicts) { #expect(conflicts.map(\.reason) == [.irreversible]) }
      #expect(try connect.kept(1)?.title == "a")
      await #expect(throws: UndoError.self) { try await undo.undo() }
    }
  }

  @Test("What later pending actions may depend on is not withdrawn, so that they keep their order")
  func dependents() async throws {
    let transport = ScriptedTransport()
    try await withSuspendedOutbox(.memory, transport) { connect in
      let undo = connect.outbox.undoManager
      try await connect.forward(Shelve(book: 1, count: 1), as: "Shelve")
      try await connect.forward(Raise(book: 1, note: "a"))
      try await connect.forward(Shelve(book: 2, count: 1), as: "Shelve")
      try await connect.forward(RemoveBook(book: 3, counter: 2))
      try await connect.forward(Shelve(book: 4, count: 1), as: "Shelve")
      #expect(connect.outbox.pending.count == 5)
      for pending in [4, 5, 6] {
        try await undo.undo()
        #expect(connect.outbox.pending.count == pending)
      }
      connect.suspended = false
      await connect.outbox.idle()
      let requests = transport.requests.filter { $0.path.contains("/1") }
      #expect(requests.map { String(decoding: $0.body ?? Data(), as: UTF8.self) } == ["1", "a", "-1"])
      #expect(try connect.kept(1)?.shelf == 0)
      #expect(try connect.kept(2)?.shelf == 1)
      #expect(try connect.kept(4)?.shelf == 0)
    }
  }

  @Test("Typing is one step, of which each action is taken back in its way", arguments: StoreKind.allCases)
  func groups(_ kind: StoreKind) async throws {
    let transport = ScriptedTransport()
    try await withOutbox(kind, transport) { connect in
      #expect(try await eventually { connect.outbox.isSender })
      let undo = connect.outbox.undoManager
      try await connect.forward(Retitle(book: 1, title: "E"), as: "Typing", joining: 1)
      await connect.outbox.idle()
      connect.suspended = true
      for title in ["Ea", "East"] {
        try await connect.forward(Retitle(book: 1, title: title), as: "Typing", joining: 1)
      }
      #expect(undo.undoSteps.map(\.size) == [3])
      undo.endGroup()
      try await connect.forward(Retitle(book: 1, title: "East of"), as: "Typing", joining: 1)
      try await undo.undo()
      #expect(try connect.shown(1)?.title == "East" && connect.outbox.pending.count == 2)
      try await undo.undo()
      // Two are withdrawn, and the inverse of the first is forwarded, which has set what is there without them.
      #expect(try connect.shown(1)?.title == "" && connect.outbox.pending.count == 1)
      try await undo.redo()
      #expect(try connect.shown(1)?.title == "East")
      try await undo.redo()
      #expect(try connect.shown(1)?.title == "East of")
      try await undo.undo()
      try await undo.undo()
      #expect(try connect.shown(1)?.title == "")
      connect.suspended = false
      await connect.outbox.idle()
      #expect(try connect.kept(1)?.title == "" && transport.bodies == ["E", ""])
    }
  }

  @Test("The history is bounded, is told to menus, and goes when the outbox is cleared", arguments: StoreKind.allCases)
  func history(_ kind: StoreKind) async throws {
    try await withSuspendedOutbox(kind) { connect in
      let undo = connect.outbox.undoManager
      var statuses = undo.statuses.makeAsyncIterator()
      #expect(await statuses.next() == UndoStatus(undo: nil, redo: nil))
      await #expect(throws: UndoError.self) { try await undo.undo() }
      undo.levelsOfUndo = 2
      for count in 1...3 { try await connect.forward(Shelve(book: count, count: count), as: "Shelve \(count)") }
      #expect(undo.undoSteps.map(\.actionName) == ["Shelve 2", "Shelve 3"] && undo.levelsOfUndo == 2)
      #expect(await statuses.next() == UndoStatus(undo: "Shelve 3", redo: nil))
      try await undo.undo()
      #expect(await statuses.next() == UndoStatus(undo: "Shelve 2", redo: "Shelve 3"))
      // What is forwarded without a name is no step, and ends nothing.
      try await connect.forward(Shelve(book: 9, count: 1))
      #expect(undo.status == UndoStatus(undo: "Shelve 2", redo: "Shelve 3"))
      try await connect.outbox.clear()
      #expect(undo.status == UndoStatus(undo: nil, redo: nil) && undo.undoSteps.isEmpty && undo.redoSteps.isEmpty)
      try await connect.forward(Shelve(book: 4, count: 4), as: "Shelve 4")
      undo.removeAllSteps()
      #expect(!undo.status.canUndo && connect.outbox.pending.count == 1)
    }
  }

  @Test("An inverse that cannot be made is an error of forwarding, and nothing is recorded")
  func noInverse() async throws {
    try await withOutbox { connect in
      await #expect(throws: Failure.self) { try await connect.forward(Retitle(book: 77, title: "Eden"), as: "Rename") }
      #expect(connect.outbox.pending.isEmpty && !connect.outbox.undoManager.status.canUndo)
    }
  }

  @Test("A later step has a greater number, of whatever history")
  func numbers() async throws {
    try await withOutbox { connect in
      try connect.undoManager.record("First") { try $0.update(Book.self, id: 1) { $0.title = "a" } }
      try await connect.forward(Shelve(book: 1, count: 1), as: "Second")
      try connect.undoManager.record("Third") { try $0.update(Book.self, id: 1) { $0.title = "b" } }
      let ids = [
        connect.undoManager.undoSteps[0], connect.outbox.undoManager.undoSteps[0], connect.undoManager.undoSteps[1],
      ]
      #expect(ids.map(\.id) == ids.map(\.id).sorted() && Set(ids.map(\.id)).count == 3)
    }
  }
}
