#if Persistence
  import Concord
  import ConcordTestSupport
  import Foundation
  import GRDB
  import Testing

  @testable import ConcordConnect

  @Suite("The outbox in a file")
  struct OutboxFileTests {
    @Test("Who lags behind reads all anew, and shows the same", arguments: [300, 1500])
    func lagging(_ count: Int) async throws {
      try await withFolder { folder in
        let follower = try resting(folder)
        let seen = follower.viewContext.store.observer(Book.self, id: 1)
        try await withOutbox(.sqlite, in: folder) { connect in
          // Written by another process, without being told.
          let other = try SQLiteStore(
            url: folder.appending(path: "Library.sqlite"), entities: try libraryModel().entities)
          try other.write(origin: nil) { writing in
            for number in 0..<count {
              var row = OutboxRow(
                key: "\(number)", action: "raise", entity: "Book", id: .integer(9), body: "", forwarded: 0)
              row.state = .sent
              try writing.writeOutbox(row)
            }
          }
          try other.close()
          try await connect.forward(Raise(book: 1, note: "a"))
          await connect.outbox.idle()
        }
        #expect(try await eventually { seen.value?.title == "a" && follower.outbox.pending.isEmpty })
        let rows = try await outboxFile(folder).read {
          try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM concord_outbox")
        }
        #expect((rows ?? .max) < 1400)
      }
    }

    @Test("While the file cannot be read nothing is sent, and when it can be again all is")
    func unreadable() async throws {
      try await withFolder { folder in
        let (transport, network) = (ScriptedTransport(), ReachabilitySwitch(isReachable: false))
        let connect = TestConnect(
          name: "Library", model: try libraryModel(), asyncErrorBlock: { _ in }, reachability: network,
          transport: transport, forwarding: [Raise.self])
        try connect.attachPersistentStore(at: folder)
        try connect.store([Book(id: 1, title: "")])
        try await connect.start()
        try await connect.forward(Raise(book: 1, note: "a"))
        #expect(try await eventually { connect.outbox.isSender })
        let (file, other) = (folder.appending(path: "Library.sqlite"), folder.appending(path: "Elsewhere.sqlite"))
        #expect(rename(file.path, other.path) == 0)
        #expect(try await eventually { connect.outbox.state.withLock { $0.isUnread } })
        network.isReachable = true
        #expect(try await eventually { connect.outbox.state.withLock { $0.isReachable } })
        connect.outbox.sendNext()
        // It is marked before it is sent.
        #expect(connect.outbox.pending.map(\.isSending) == [false])
        #expect(rename(other.path, file.path) == 0)
        #expect(try await eventually { transport.bodies == ["a"] && connect.outbox.pending.isEmpty })
        try await connect.stop()
      }
    }
  }
#endif
