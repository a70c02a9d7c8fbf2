import Concord
import ConcordTestSupport
import Dispatch
import Foundation
import Testing

@testable import ConcordConnect

@Suite("The outbox")
struct OutboxTests {
  @Test("Stopping while something is pending tells of no error, and shows nothing of it", arguments: StoreKind.allCases)
  func stopping(_ kind: StoreKind) async throws {
    let errors = Log<String>()
    try await withFolder { folder in
      let connect = TestConnect(
        name: "Library", model: try libraryModel(), asyncErrorBlock: { errors.add("\($0)") },
        transport: ScriptedTransport(), forwarding: [Raise.self, AddBook.self])
      try connect.attachPersistentStore(at: folder, for: kind.configuration(folder))
      try connect.store([Book(id: 1, title: "")])
      try await connect.start()
      connect.suspended = true
      let (stored, made) = (
        try connect.viewContext.find(Book.self, id: 1), connect.viewContext.store.observer(Book.self, id: 10)
      )
      try await connect.forward(Raise(book: 1, note: "a"))
      try await connect.forward(AddBook(book: Book(id: 10, title: "new")))
      #expect(stored?.value.title == "a" && made.value != nil)
      try await connect.stop()
      #expect(try await eventually { stored?.isRemoved == true && made.value == nil })
      #expect(errors.entries == [])
    }
  }

  #if Persistence
    @Test("The error handler may detach the store that the outbox cannot read")
    func detachInErrorHandler() async throws {
      try await withFolder { folder in
        let held = Locked<TestConnect?>(nil)
        let log = Log<String>()
        let connect = TestConnect(
          name: "Library", model: try libraryModel(),
          asyncErrorBlock: { error in
            guard let connect = held.withLock({ $0 }) else { return log.add("\(error)") }
            try? connect.detach(persistentStores: connect.persistentStores)
            log.add("detached")
          })
        try connect.attachPersistentStore(at: folder)
        try FileManager.default.removeItem(at: folder.appending(path: "Library.sqlite"))
        // That the file is gone is noticed, and told once.
        #expect(try await eventually { !log.entries.isEmpty })
        connect.persistentStoreCoordinator.settle()
        held.withLock { $0 = connect }
        // Only the first of several failures is reported.
        connect.outbox.state.withLock { $0.isUnread = false }
        // On another thread, since it would wait for itself for ever.
        DispatchQueue.global().async { connect.outbox.readChanges() }
        #expect(try await eventually { log.entries.contains("detached") })
        #expect(connect.persistentStores.isEmpty)
        held.withLock { $0 = nil }
      }
    }
  #endif

  @Test("An action that is being sent cannot stop its connect and wait for that")
  func stopFromSend() async throws {
    let log = Log<String>()
    let held = Locked<TestConnect?>(nil)
    let transport = ScriptedTransport { _ in
      do { try await held.withLock { $0 }?.stop() } catch { log.add("\(error is Errors)") }
      return TransportResponse(status: 200)
    }
    try await withOutbox(.memory, transport) { connect in
      held.withLock { $0 = connect }
      try await connect.forward(Raise(book: 1, note: "a"))
      await connect.outbox.idle()
      #expect(log.entries == ["true"])
      held.withLock { $0 = nil }
    }
  }

  @Test("What an action leaves behind when it has been sent may stop the connect")
  func stopAfterSend() async throws {
    try await withOutbox { connect in
      let (hasBeenSent, isDone, log) = (Gate(), Gate(), Log<String>())
      connect.outbox.transport = ScriptedTransport { _ in
        Task {
          await hasBeenSent.passed()
          do { try await connect.stop() } catch { log.add("\(error)") }
          isDone.open()
        }
        return TransportResponse(status: 204)
      }
      try await connect.forward(Raise(book: 1, note: "a"))
      await connect.outbox.idle()
      hasBeenSent.open()
      await isDone.passed()
      #expect(log.entries == [] && !connect.isStarted)
      connect.outbox.transport = nil
    }
  }
}
