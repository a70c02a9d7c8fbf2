import Concord
import ConcordTestShared
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

@Suite("Undoing what was forwarded again and again")
struct OutboxUndoChainTests {
  @Test(
    "What others have changed since it was undone stays, or redoing says why, whether it was sent or not",
    arguments: StoreKind.allCases, [false, true])
  func overOthers(_ kind: StoreKind, _ isSent: Bool) async throws {
    let transport = ScriptedTransport()
    try await withSuspendedOutbox(kind, transport) { connect in
      let undo = connect.outbox.undoManager
      connect.suspended = !isSent
      try await connect.forward(Retitle(book: 1, title: "Eden"), as: "Rename")
      if isSent { await connect.outbox.idle() }
      try await connect.forward(Retitle(book: 2, title: "Ostend"), as: "Rename")
      if isSent { await connect.outbox.idle() }
      for _ in 0..<2 { try await undo.undo() }
      connect.suspended = false
      await connect.outbox.idle()
      try await connect.forward(Retitle(book: 1, title: "Canaan"))
      await connect.outbox.idle()
      do {
        try await undo.redo()
        Issue.record("it was redone")
      } catch UndoError.overtaken(let step, let conflicts) {
        #expect(step.actionName == "Rename")
        #expect(conflicts.map(\.reason) == [.doesNotApply("the title is 'Canaan' by now")])
      }
      #expect(try connect.shown(1)?.title == "Canaan" && connect.outbox.pending.isEmpty)
      // The other step is not concerned, and can be taken back and done again as often as one likes.
      for title in ["Ostend", "", "Ostend"] {
        _ = try await title.isEmpty ? undo.undo() : undo.redo()
        await connect.outbox.idle()
        #expect(try connect.kept(2)?.title == title && connect.kept(1)?.title == "Canaan")
      }
      #expect(transport.bodies == (isSent ? ["Eden", "Ostend", "", ""] : []) + ["Canaan", "Ostend", "", "Ostend"])
    }
  }

  @Test(
    "What was changed beneath an action that was not sent is what it is done again over", arguments: StoreKind.allCases)
  func beneath(_ kind: StoreKind) async throws {
    let transport = ScriptedTransport()
    try await withSuspendedOutbox(kind, transport) { connect in
      let undo = connect.outbox.undoManager
      func save(_ title: String) async throws {
        let context = connect.newBackgroundContext()
        try context.update(Book.self, id: 1) { $0.title = title }
        try context.save()
        try await connect.flush()
      }
      try await connect.forward(Retitle(book: 1, title: "Eden"), as: "Rename")
      try await save("Canaan")
      #expect(try connect.shown(1)?.title == "Eden")
      try await undo.undo()
      #expect(try connect.shown(1)?.title == "Canaan" && connect.outbox.pending.isEmpty)
      // They have seen it, and do it again over it.
      try await undo.redo()
      #expect(try connect.shown(1)?.title == "Eden" && connect.outbox.pending.count == 1)
      try await undo.undo()
      try await save("Ostend")
      await #expect(throws: UndoError.self) { try await undo.redo() }
      #expect(try connect.shown(1)?.title == "Ostend" && connect.outbox.pending.isEmpty)
    }
  }

  @Test(
    "Where an inverse cannot be taken back, its action replaces what is there by now, and undoing that puts it back",
    arguments: StoreKind.allCases)
  func withoutGuard(_ kind: StoreKind) async throws {
    let transport = ScriptedTransport()
    try await withOutbox(kind, transport) { connect in
      let undo = connect.outbox.undoManager
      try await connect.forward(Overwrite(book: 1, title: "Eden"), as: "Rename")
      await connect.outbox.idle()
      try await undo.undo()
      try await connect.forward(Retitle(book: 1, title: "Canaan"))
      await connect.outbox.idle()
      try await undo.redo()
      await connect.outbox.idle()
      #expect(try connect.kept(1)?.title == "Eden")
      try await undo.undo()
      await connect.outbox.idle()
      #expect(try connect.kept(1)?.title == "Canaan")
      #expect(transport.bodies == ["Eden", "", "Canaan", "Eden", "Canaan"])
    }
  }

  #if Persistence
    @Test(
      "What the service refuses takes all with it that waits to take it back, or that back",
      arguments: StoreKind.lasting)
    func chain(_ kind: StoreKind) async throws {
      try await withFolder { folder in
        let refusal = ScriptedTransport([.wait]) { _ in TransportResponse(status: 422) }
        try await withOutbox(kind, refusal, in: folder) { a in
          a.outbox.register(Shelve.self)
          #expect(try await eventually { a.outbox.isSender })
          try await withOutbox(kind, in: folder) { b in
            try await b.forward(Shelve(book: 1, count: 1), as: "Shelve")
            #expect(try await eventually { refusal.waiting == 1 })
            // Who does not send withdraws nothing: each is taken back by a further one.
            try await b.outbox.undoManager.undo()
            try await b.outbox.undoManager.redo()
            try await b.outbox.undoManager.undo()
            #expect(b.outbox.pending.count == 4)
            refusal.release()
            #expect(try await eventually { b.outbox.deadLetters.count == 1 && b.outbox.pending.isEmpty })
            #expect(try b.shown(1)?.shelf == 0 && refusal.bodies == ["1"])
          }
        }
      }
    }

    @Test(
      "What another process finds refused while it is being undone is no longer undone", arguments: StoreKind.lasting)
    func refusedMeanwhile(_ kind: StoreKind) async throws {
      try await withFolder { folder in
        let transport = ScriptedTransport([.wait])
        try await withOutbox(kind, transport, in: folder) { connect in
          #expect(try await eventually { connect.outbox.isSender })
          // Another one with the same store, which this one hears of later.
          let other = TestConnect(name: "Library", model: try libraryModel(), forwarding: [Meddled.self])
          try other.attachPersistentStore(at: folder, for: kind.configuration(folder))
          defer { for store in other.persistentStores { try? other.detach(persistentStore: store) } }
          let rows = try #require(other.persistentStoreCoordinator.outboxHome?.rows)
          try await connect.forward(Meddled(count: 1), as: "Meddle")
          #expect(try await eventually { transport.waiting == 1 })
          let number = try #require(connect.outbox.pending.first).row.number
          let problem = Locked<String?>(nil)
          Meddled.Back.meanwhile.withLock { meanwhile in
            meanwhile = {
              do {
                try rows.write(origin: nil) { writing in
                  guard var row = try writing.outboxRow(number) else { return }
                  (row.state, row.reason) = (.refused, "by another one")
                  try writing.writeOutbox(row)
                }
              } catch { problem.withLock { $0 = "\(error)" } }
            }
          }
          do {
            try await connect.outbox.undoManager.undo()
            Issue.record("it was undone")
          } catch UndoError.overtaken(_, let conflicts) { #expect(conflicts.map(\.reason) == [.refused]) }
          #expect(problem.withLock { $0 } == nil)
          #expect(connect.outbox.pending.isEmpty && connect.outbox.deadLetters.count == 1)
          transport.release()
        }
      }
    }
  #endif
}

/// Sets the title of a book, with an inverse that cannot be taken back.
private struct Overwrite: ReversibleAction {
  var book: Int
  var title: String
  static let name = "overwrite"
  var entity: AnyEntityReference { .init(Book.self, id: book) }
  func apply(to store: EntityStore) throws { store.update(Book.self, id: book) { $0.title = title } }
  func inverse(in store: EntityStore) throws -> Back {
    Back(retitle: try Retitle(book: book, title: title).inverse(in: store))
  }
  func send(with transport: any Transport, key: IdempotencyKey) async throws {
    try await Retitle(book: book, title: title).send(with: transport, key: key)
  }

  struct Back: ForwardAction {
    var retitle: Retitle
    static let name = "overwritten"
    var entity: AnyEntityReference { retitle.entity }
    func apply(to store: EntityStore) throws { try retitle.apply(to: store) }
    func send(with transport: any Transport, key: IdempotencyKey) async throws {
      try await retitle.send(with: transport, key: key)
    }
  }
}

/// While its inverse is tried, something happens once.
private struct Meddled: ReversibleAction {
  var count: Int
  static let name = "meddled"
  var entity: AnyEntityReference { .init(Book.self, id: 1) }
  func apply(to store: EntityStore) throws { store.update(Book.self, id: 1) { $0.shelf += count } }
  func inverse(in store: EntityStore) throws -> Back { Back(count: count) }
  func send(with transport: any Transport, key: IdempotencyKey) async throws {
    _ = try await transport.send(TransportRequest("POST", "/meddled")).successful()
  }

  struct Back: ForwardAction {
    var count: Int
    static let name = "meddled-back"
    static let meanwhile = Locked<(@Sendable () -> Void)?>(nil)
    var entity: AnyEntityReference { .init(Book.self, id: 1) }
    func apply(to store: EntityStore) throws {
      let body = Self.meanwhile.withLock { meanwhile in
        defer { meanwhile = nil }
        return meanwhile
      }
      body?()
      store.update(Book.self, id: 1) { $0.shelf -= count }
    }
    func send(with transport: any Transport, key: IdempotencyKey) async throws {
      _ = try await transport.send(TransportRequest("POST", "/meddled/back")).successful()
    }
  }
}
