#if Server
  import Concord
  import ConcordServer
  import Foundation
  import Testing

  /// Steps of synchronised actions that a device takes back, over a real server.
  @Suite("Undoing synchronised actions", .timeLimit(.minutes(2)))
  struct UndoTests {
    /// What a device sends, and requests for actions that a test holds.
    private final class Line: Sendable {
      private let state = Kept((isHolding: false, waiting: 0, actions: 0))

      /// The number of requests for actions that were sent, and of those that are held.
      var actions: Int { state.withLock { $0.actions } }
      var waiting: Int { state.withLock { $0.waiting } }
      func hold() { state.withLock { $0.isHolding = true } }
      func release() { state.withLock { $0.isHolding = false } }

      /// - Parameter isAnswer: whether what is held has been at the server.
      init(of device: Device, holdingAnswers isAnswer: Bool = false) {
        device.route { [state] request, transport in
          if request.isForPages { return try await transport.send(request) }
          state.withLock { $0.actions += 1 }
          func wait() async throws {
            guard state.withLock({ $0.isHolding }) else { return }
            state.withLock { $0.waiting += 1 }
            while state.withLock({ $0.isHolding }) { try await Task.sleep(for: .milliseconds(2)) }
            state.withLock { $0.waiting -= 1 }
          }
          if !isAnswer { try await wait() }
          let response = try await transport.send(request)
          if isAnswer { try await wait() }
          return response
        }
      }
    }

    /// A server with a book and two devices of one user that follow it.
    private func withDevices(
      _ kind: Kind = .sqlite, _ body: @escaping @Sendable (World, Device, Device) async throws -> Void
    ) async throws {
      try await withWorld(kind) { world in
        try world.serve { $0.insert(Book(id: 1, title: "A", stock: 5)) }
        let (a, b) = (try await world.device("a"), try await world.device("b"))
        for device in [a, b] { try await device.sync.subscribe("books").ready() }
        #expect(try await eventually { a.connect.outbox.isSender && b.connect.outbox.isSender })
        try await body(world, a, b)
        try await a.stop()
        try await b.stop()
      }
    }

    /// What everybody has once everything has been sent: the server, and what both devices store and show.
    private func agreed(_ world: World, _ devices: Device...) async throws -> Book {
      for device in devices { try await device.sync.checkpoint() }
      // What the last one has sent.
      for device in devices { try await device.sync.checkpoint() }
      let book = try #require(try world.served(Book.self).first)
      for device in devices {
        #expect(device.connect.outbox.pending.isEmpty)
        #expect(try device.stored(Book.self) == [book])
        #expect(try device.connect.viewContext.find(Book.self, id: 1)?.value == book)
      }
      return book
    }

    private func shown(_ device: Device) throws -> Book? {
      try device.connect.viewContext.find(Book.self, id: 1)?.value
    }

    /// Undoes or redoes what cannot be, and returns why.
    private func conflicts(_ body: () async throws -> UndoResult) async throws -> [UndoConflict.Reason] {
      do {
        _ = try await body()
        return []
      } catch UndoError.overtaken(_, let conflicts) { return conflicts.map(\.reason) }
    }

    @Test(
      "What the server has applied is taken back there, and done again, and the other device shows it",
      arguments: Kind.allCases)
    func applied(_ kind: Kind) async throws {
      try await withDevices(kind) { world, a, b in
        let undo = a.connect.outbox.undoManager
        try await a.connect.forward(Retitle(book: 1, title: "B"), as: "Rename")
        #expect(try await agreed(world, a, b).title == "B")
        #expect(try await undo.undo().conflicts.isEmpty)
        #expect(try shown(a)?.title == "A")
        #expect(try await agreed(world, a, b).title == "A")
        try await undo.redo()
        #expect(try await agreed(world, a, b).title == "B")
        try await undo.undo()
        #expect(try await agreed(world, a, b).title == "A")
        #expect(a.connect.outbox.deadLetters.isEmpty && b.connect.outbox.undoManager.undoSteps.isEmpty)
      }
    }

    @Test("What is undone before it is sent never reaches the server", arguments: Kind.allCases)
    func unsent(_ kind: Kind) async throws {
      try await withDevices(kind) { world, a, b in
        let line = Line(of: a)
        a.connect.suspended = true
        try await a.connect.forward(Restock(book: 1, count: 2), as: "Restock")
        #expect(try shown(a)?.stock == 7)
        try await a.connect.outbox.undoManager.undo()
        #expect(try shown(a)?.stock == 5 && a.connect.outbox.pending.isEmpty)
        a.connect.suspended = false
        #expect(try await agreed(world, a, b).stock == 5)
        #expect(line.actions == 0)
        // Done again, it is sent, once.
        try await a.connect.outbox.undoManager.redo()
        #expect(try await agreed(world, a, b).stock == 7)
        #expect(line.actions == 1)
      }
    }

    @Test(
      "What is undone while it is on the way, or while its answer is, is applied and taken back, in that order",
      arguments: Kind.allCases, [false, true])
    func inFlight(_ kind: Kind, _ isAnswer: Bool) async throws {
      try await withDevices(kind) { world, a, b in
        let line = Line(of: a, holdingAnswers: isAnswer)
        line.hold()
        try await a.connect.forward(Retitle(book: 1, title: "B"), as: "Rename")
        #expect(try await eventually { line.waiting == 1 })
        try await a.connect.outbox.undoManager.undo()
        #expect(try shown(a)?.title == "A")
        // A page may have brought the effect before the answer has come.
        if !isAnswer { #expect(a.connect.outbox.pending.count == 2) }
        line.release()
        #expect(try await agreed(world, a, b).title == "A")
        #expect(line.actions == 2 && a.connect.outbox.deadLetters.isEmpty)
      }
    }

    @Test("An answer that is lost, or comes twice, changes nothing about that", arguments: Kind.allCases)
    func lostAnswers(_ kind: Kind) async throws {
      try await withDevices(kind) { world, a, b in
        for (number, fate) in [Network.Fate.answerLost, .lost, .doubled].enumerated() {
          let left = Kept(2)
          a.network.set { request in
            if request.isForPages { return .pass }
            return left.withLock { left in
              left -= 1
              return left >= 0 ? fate : .pass
            }
          }
          try await a.connect.forward(Restock(book: 1, count: 3), as: "Restock")
          #expect(try await eventually { left.withLock { $0 } < 2 })
          try await a.connect.outbox.undoManager.undo()
          #expect(try shown(a)?.stock == 5)
          #expect(try await agreed(world, a, b).stock == 5, "\(number)")
        }
      }
    }

    @Test("What the server refuses takes with it what would take it back", arguments: Kind.allCases)
    func refused(_ kind: Kind) async throws {
      try await withDevices(kind) { world, a, b in
        let (line, undo) = (Line(of: a), a.connect.outbox.undoManager)
        line.hold()
        try await a.connect.forward(Retitle(book: 1, title: "forbidden"), as: "Rename")
        #expect(try await eventually { line.waiting == 1 })
        try await undo.undo()
        line.release()
        #expect(try await agreed(world, a, b).title == "A")
        #expect(line.actions == 1)
        #expect(a.connect.outbox.deadLetters.map(\.reason) == ["it is not allowed"])
        #expect(try await conflicts(undo.redo) == [.refused])
        // One that is refused before it is undone.
        try await a.connect.forward(Retitle(book: 1, title: "forbidden"), as: "Rename")
        #expect(try await eventually { a.connect.outbox.deadLetters.count == 2 })
        #expect(try await conflicts(undo.undo) == [.refused])
        #expect(try await agreed(world, a, b).title == "A")
      }
    }

    @Test(
      "An inverse that the server refuses is a dead letter, and what it would have taken back is shown",
      arguments: Kind.allCases)
    func refusedInverse(_ kind: Kind) async throws {
      try await withDevices(kind) { world, a, b in
        let (undo, isCut) = (a.connect.outbox.undoManager, Kept(false))
        a.route { request, transport in
          func pass() throws { if isCut.withLock({ $0 }) { throw TransportError.unreachable(reason: "cut") } }
          try pass()
          let response = try await transport.send(request)
          try pass()
          return response
        }
        try await a.connect.forward(Retitle(book: 1, title: "B"), as: "Rename")
        #expect(try await agreed(world, a, b).title == "B")
        // What the device does not know when it undoes.
        isCut.withLock { $0 = true }
        try await b.connect.forward(Retitle(book: 1, title: "C"), as: "Rename")
        #expect(try await agreed(world, b).title == "C")
        try await undo.undo()
        #expect(try shown(a)?.title == "A")
        isCut.withLock { $0 = false }
        #expect(try await agreed(world, a, b).title == "C")
        #expect(a.connect.outbox.deadLetters.map(\.reason) == ["the title is 'C' by now"])
        #expect(try await conflicts(undo.redo) == [.refused])
      }
    }

    @Test("What is undone offline is sent after a restart as it was undone, or not at all", arguments: Kind.allCases)
    func restart(_ kind: Kind) async throws {
      try await withDevices(kind) { world, a, b in
        // An attempt was made: the server may have it.
        a.network.set { _ in .lost }
        try await a.connect.forward(Retitle(book: 1, title: "B"), as: "Rename")
        #expect(try await eventually { a.connect.outbox.pending.first?.attempts ?? 0 > 0 })
        try await a.connect.outbox.undoManager.undo()
        #expect(try shown(a)?.title == "A" && a.connect.outbox.pending.count == 2)
        // No attempt was made.
        a.connect.suspended = true
        try await a.connect.forward(Restock(book: 1, count: 1), as: "Restock")
        try await a.connect.outbox.undoManager.undo()
        #expect(a.connect.outbox.pending.count == 2)
        try await a.connect.forward(Restock(book: 1, count: 2), as: "Restock")
        try await a.stop()
        let again = try await world.device("a")
        let line = Line(of: again)
        #expect(!again.connect.outbox.undoManager.status.canUndo)
        #expect(try await agreed(world, again, b) == Book(id: 1, title: "A", stock: 7))
        #expect(line.actions <= 3 && again.connect.outbox.deadLetters.isEmpty)
        try await again.connect.forward(Restock(book: 1, count: 1), as: "Restock")
        try await again.connect.outbox.undoManager.undo()
        #expect(try await agreed(world, again, b).stock == 7)
        try await again.stop()
      }
    }

    @Test(
      "Of two devices each takes back what it has changed, and what the other one changed later stays",
      arguments: Kind.allCases)
    func twoDevices(_ kind: Kind) async throws {
      try await withDevices(kind) { world, a, b in
        let (ofA, ofB) = (a.connect.outbox.undoManager, b.connect.outbox.undoManager)
        try await a.connect.forward(Retitle(book: 1, title: "B"), as: "Rename")
        try await a.connect.forward(Restock(book: 1, count: 10), as: "Restock")
        _ = try await agreed(world, a, b)
        try await b.connect.forward(Restock(book: 1, count: 100), as: "Restock")
        #expect(try await agreed(world, a, b) == Book(id: 1, title: "B", stock: 115))
        // Other properties, and the same one, of which each takes back its part.
        try await ofA.undo()
        #expect(try await agreed(world, a, b).stock == 105)
        try await ofB.undo()
        #expect(try await agreed(world, a, b) == Book(id: 1, title: "B", stock: 5))
        // The same one, which the other one has set since.
        try await b.connect.forward(Retitle(book: 1, title: "C"), as: "Rename")
        _ = try await agreed(world, a, b)
        #expect(try await conflicts(ofA.undo) == [.doesNotApply("the title is 'C' by now")])
        #expect(!ofA.status.canUndo && a.connect.outbox.pending.isEmpty)
        try await ofB.undo()
        #expect(try await agreed(world, a, b).title == "B")
      }
    }
  }
#endif
