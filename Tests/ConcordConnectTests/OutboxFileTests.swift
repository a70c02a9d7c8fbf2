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
  }
#endif
