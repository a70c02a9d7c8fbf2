import Concord
import ConcordTestShared
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

@Suite("Undoing what is being forwarded")
struct OutboxUndoRaceTests {
  @Test(
    "While an action is sent, and when an attempt has failed, its inverse comes behind it",
    arguments: StoreKind.allCases)
  func begun(_ kind: StoreKind) async throws {
    let transport = ScriptedTransport([.wait, .loseAnswer(TransportError.timedOut)])
    let policy = OutboxPolicy(backoff: Backoff(base: .milliseconds(20), cap: .milliseconds(20)))
    try await withOutbox(kind, transport, policy: policy) { connect in
      #expect(try await eventually { connect.outbox.isSender })
      let undo = connect.outbox.undoManager
      try await connect.forward(Shelve(book: 1, count: 1), as: "Shelve")
      #expect(try await eventually { transport.waiting == 1 })
      try await undo.undo()
      #expect(try connect.outbox.pending.count == 2 && connect.shown(1)?.shelf == 0)
      transport.release()
      await connect.outbox.idle()
      #expect(transport.bodies == ["1", "-1", "-1"])
      transport.play(.loseAnswer(TransportError.timedOut))
      let events = collect(connect.outbox)
      try await connect.forward(Shelve(book: 2, count: 5), as: "Shelve")
      #expect(try await eventually { events.entries.contains("delayed") })
      try await undo.undo()
      await connect.outbox.idle()
      #expect(transport.bodies.suffix(3) == ["5", "5", "-5"] && connect.outbox.pending.isEmpty)
      #expect(try connect.kept(2)?.shelf == 0)
    }
  }

  @Test("Whenever an attempt begins, an action is withdrawn, or sent with its inverse", arguments: StoreKind.allCases)
  func race(_ kind: StoreKind) async throws {
    let transport = ScriptedTransport()
    try await withOutbox(kind, transport, policy: OutboxPolicy(maximumConcurrentSends: 1)) { connect in
      #expect(try await eventually { connect.outbox.isSender })
      let undo = connect.outbox.undoManager
      let rounds = TestOptions.isLong ? 2_000 : 60
      var (withdrawn, inverted) = (0, 0)
      // Adjusted, so that both come about.
      var delay = Duration.zero
      for round in 1...rounds {
        connect.suspended = true
        try await connect.forward(Shelve(book: 1 + round % 9, count: round), as: "Shelve")
        let before = transport.requests.count
        let resuming = Task { [delay] in
          try? await Task.sleep(for: delay)
          connect.suspended = false
        }
        try await undo.undo()
        await resuming.value
        await connect.outbox.idle()
        let sent = transport.bodies.dropFirst(before)
        #expect(sent.isEmpty || Array(sent) == ["\(round)", "\(-round)"], "round \(round)")
        if sent.isEmpty {
          withdrawn += 1
          delay = delay * 3 / 4
        } else {
          inverted += 1
          delay = delay * 5 / 4 + .microseconds(20)
        }
        #expect(try connect.kept(1 + round % 9)?.shelf == 0 && connect.shown(1 + round % 9)?.shelf == 0)
      }
      #expect(withdrawn > 0 && inverted > 0)
    }
  }

  @Test("What the service refuses takes with it what would take it back", arguments: StoreKind.allCases)
  func refusedMeanwhile(_ kind: StoreKind) async throws {
    let transport = ScriptedTransport([.wait]) { _ in TransportResponse(status: 422) }
    try await withOutbox(kind, transport) { connect in
      #expect(try await eventually { connect.outbox.isSender })
      let undo = connect.outbox.undoManager
      try await connect.forward(Shelve(book: 1, count: 1), as: "Shelve")
      #expect(try await eventually { transport.waiting == 1 })
      connect.suspended = true
      // Of the second action the inverse is withdrawn by redoing, and made again by undoing.
      for _ in 0..<2 {
        try await undo.undo()
        try await undo.redo()
      }
      try await undo.undo()
      #expect(try connect.outbox.pending.count == 2 && connect.shown(1)?.shelf == 0)
      connect.suspended = false
      transport.release()
      #expect(try await eventually { connect.outbox.deadLetters.count == 1 && connect.outbox.pending.isEmpty })
      #expect(try connect.shown(1)?.shelf == 0)
      connect.outbox.drop(try #require(connect.outbox.deadLetters.first))
      await connect.outbox.idle()
      #expect(transport.bodies == ["1"])
      await #expect(throws: UndoError.self) { try await undo.redo() }
    }
  }

  @Test("What a carrier has carried is taken back like anything else")
  func carried() async throws {
    let transport = ScriptedTransport()
    try await withOutbox(.memory, transport) { connect in
      let carrier = Carrier(connect.outbox)
      connect.outbox.carrier = carrier
      try await connect.forward(Carried(count: 1), as: "Carry")
      await connect.outbox.idle()
      try await connect.outbox.undoManager.undo()
      await connect.outbox.idle()
      try await connect.outbox.undoManager.redo()
      await connect.outbox.idle()
      #expect(carrier.counts.entries == [1, -1, 1] && transport.requests.isEmpty)
    }
  }

  @Test("What is not stored is not undone, and the step is still the last one")
  func failedWrite() async throws {
    let transport = ScriptedTransport()
    try await withHalfWayStore(transport) { connect, _, rows, _ in
      #expect(try await eventually { connect.outbox.isSender })
      let undo = connect.outbox.undoManager
      connect.suspended = true
      try await connect.forward(Shelve(book: 1, count: 1), as: "Shelve")
      rows.failures.withLock { $0 = 1 }
      await #expect(throws: StoreError.self) { try await undo.undo() }
      #expect(try connect.shown(1)?.shelf == 1 && connect.outbox.pending.count == 1)
      #expect(undo.status == UndoStatus(undo: "Shelve", redo: nil))
      connect.suspended = false
      await connect.outbox.idle()
      #expect(try connect.kept(1)?.shelf == 1 && transport.bodies == ["1"])
      rows.failures.withLock { $0 = 1 }
      await #expect(throws: StoreError.self) { try await undo.undo() }
      try await undo.undo()
      await connect.outbox.idle()
      #expect(try connect.kept(1)?.shelf == 0 && transport.bodies == ["1", "-1"])
    }
  }

  @Test("An action whose store was detached cannot be undone, and one that another process sends is not withdrawn")
  func detached() async throws {
    try await withSuspendedOutbox(.memory) { connect in
      let undo = connect.outbox.undoManager
      let home = try #require(connect.persistentStores.first)
      try await connect.forward(Shelve(book: 1, count: 1), as: "Shelve")
      try connect.attachPersistentStore(for: StoreConfiguration(name: nil, type: .inMemory))
      try connect.detach(persistentStore: home)
      do {
        try await undo.undo()
        Issue.record("it was undone")
      } catch UndoError.overtaken(_, let conflicts) { #expect(conflicts.map(\.reason) == [.notAttached]) }
    }
  }

  @Test("What was forwarded to one user's store is not taken back in another's", arguments: StoreKind.allCases)
  func otherUser(_ kind: StoreKind) async throws {
    let transport = ScriptedTransport()
    try await withOutbox(kind, transport) { connect in
      let undo = connect.outbox.undoManager
      let first = try #require(connect.persistentStores.first)
      try await connect.forward(Shelve(book: 1, count: 1), as: "First")
      await connect.outbox.idle()
      connect.suspended = true
      #expect(try await eventually { connect.outbox.isSender })
      try await connect.forward(Shelve(book: 1, count: 2), as: "Second")
      try await undo.undo()
      #expect(connect.outbox.pending.isEmpty && undo.redoSteps.count == 1)
      try connect.detach(persistentStore: first)
      try await withFolder { folder in
        let second = try connect.attachPersistentStore(at: folder, for: kind.configuration(folder))
        try connect.store([Book(id: 1, title: "")])
        for isRedo in [true, false] {
          do {
            _ = try await isRedo ? undo.redo() : undo.undo()
            Issue.record("it was \(isRedo ? "redone" : "undone")")
          } catch UndoError.overtaken(_, let conflicts) { #expect(conflicts.map(\.reason) == [.notAttached]) }
        }
        #expect(connect.outbox.pending.isEmpty && undo.status == UndoStatus(undo: nil, redo: nil))
        // Its own can be.
        try await connect.forward(Shelve(book: 1, count: 4), as: "Own")
        connect.suspended = false
        await connect.outbox.idle()
        try await undo.undo()
        await connect.outbox.idle()
        #expect(transport.bodies == ["1", "4", "-4"])
        try connect.detach(persistentStore: second)
      }
    }
  }

  #if Persistence
    @Test("Who does not send does not withdraw", arguments: StoreKind.lasting)
    func otherSender(_ kind: StoreKind) async throws {
      try await withFolder { folder in
        let (first, second) = (ScriptedTransport([.wait]), ScriptedTransport())
        try await withOutbox(kind, first, in: folder) { a in
          a.outbox.register(Shelve.self)
          #expect(try await eventually { a.outbox.isSender })
          try await withOutbox(kind, second, in: folder) { b in
            try await b.forward(Shelve(book: 1, count: 1), as: "Shelve")
            #expect(try await eventually { first.waiting == 1 })
            try await b.outbox.undoManager.undo()
            #expect(try b.shown(1)?.shelf == 0)
            first.release()
            #expect(try await eventually { b.outbox.pending.isEmpty && a.outbox.pending.isEmpty })
            #expect(first.bodies == ["1", "-1"] && second.requests.isEmpty)
            #expect(try b.kept(1)?.shelf == 0)
          }
        }
      }
    }

    @Test("What another process or a later run finds refused takes its inverse with it", arguments: StoreKind.lasting)
    func refusedElsewhere(_ kind: StoreKind) async throws {
      try await withFolder { folder in
        let refusal = ScriptedTransport([.wait]) { _ in TransportResponse(status: 422) }
        try await withOutbox(kind, refusal, in: folder) { a in
          a.outbox.register(Shelve.self)
          #expect(try await eventually { a.outbox.isSender })
          try await withOutbox(kind, in: folder) { b in
            try await b.forward(Shelve(book: 1, count: 1), as: "Shelve")
            #expect(try await eventually { refusal.waiting == 1 })
            try await b.outbox.undoManager.undo()
            refusal.release()
            #expect(try await eventually { b.outbox.deadLetters.count == 1 && b.outbox.pending.isEmpty })
            #expect(try b.shown(1)?.shelf == 0)
            await #expect(throws: UndoError.self) { try await b.outbox.undoManager.redo() }
          }
          a.outbox.transport = nil
          #expect(try await eventually { a.outbox.deadLetters.count == 1 })
          // Of another entity, with its inverse behind it, when the process ends.
          try await a.forward(Shelve(book: 2, count: 2), as: "Shelve")
          a.outbox.transport = HangingTransport()
          #expect(try await eventually { a.outbox.pending.first?.isSending == true })
          try await a.outbox.undoManager.undo()
          #expect(a.outbox.pending.count == 2)
        }
        try await withOutbox(kind, refusal, in: folder) { connect in
          connect.outbox.register(Shelve.self)
          let isDone = try await eventually {
            connect.outbox.deadLetters.count == 2 && connect.outbox.pending.isEmpty
          }
          #expect(isDone)
          #expect(try connect.shown(2)?.shelf == 0 && refusal.bodies == ["1", "2"])
        }
      }
    }

    @Test("After a restart, what was pending is no step, and is sent", arguments: StoreKind.lasting)
    func restart(_ kind: StoreKind) async throws {
      try await withFolder { folder in
        let transport = ScriptedTransport()
        try await withOutbox(kind, transport, in: folder) { connect in
          #expect(try await eventually { connect.outbox.isSender })
          connect.suspended = true
          for book in 1...3 { try await connect.forward(Shelve(book: book, count: book), as: "Shelve") }
          try await connect.outbox.undoManager.undo()
          // Stopped and started, another process may have sent it in between.
          try await connect.stop()
          try await connect.start()
          try await connect.outbox.undoManager.undo()
          #expect(connect.outbox.pending.count == 3)
        }
        try await withOutbox(kind, transport, in: folder) { connect in
          connect.outbox.register(Shelve.self)
          #expect(!connect.outbox.undoManager.status.canUndo)
          await connect.outbox.idle()
          #expect(transport.bodies.sorted() == ["-2", "1", "2"])
          let shelves = try (1...3).map { try connect.kept($0)?.shelf }
          #expect(shelves == [1, 0, 0])
        }
      }
    }
  #endif
}

/// Is sent by a carrier, as the actions of synchronisation are.
private struct Carried: ReversibleAction {
  var count: Int
  static let name = "carried"
  var entity: AnyEntityReference { .init(Book.self, id: 1) }
  func apply(to store: EntityStore) throws { store.update(Book.self, id: 1) { $0.shelf += count } }
  func inverse(in store: EntityStore) throws -> Carried { Carried(count: -count) }
  func send(with transport: any Transport, key: IdempotencyKey) async throws {
    try await Outbox.sending?.carrier?.carry(self, key: key)
  }
}

private final class Carrier: ActionCarrier {
  let counts = Log<Int>()
  private let outbox: Outbox
  init(_ outbox: Outbox) { self.outbox = outbox }
  func outboxDidChange() {}

  func carry(_ action: any ForwardAction, key: IdempotencyKey) async throws {
    if let action = action as? Carried { counts.add(action.count) }
    try await outbox.writeNotes { [outbox] writing in try outbox.end([key.rawValue], changed: [], writing) }
    throw OutcomeIsStored()
  }

  func check(_ action: any ForwardAction, _ body: String) {}
}
