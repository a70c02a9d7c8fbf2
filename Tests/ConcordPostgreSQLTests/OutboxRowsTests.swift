#if PostgreSQL
  import ConcordModel
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  @Suite("Forwarded actions that another program has written", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct OutboxRowsTests {
    private func row(_ key: String) -> OutboxRow {
      OutboxRow(key: key, action: "raise", entity: "Book", id: .integer(1), body: "{}", forwarded: 1)
    }

    private func write(_ row: OutboxRow, _ store: PostgreSQLStore) throws -> OutboxRow {
      try store.write(origin: nil) { try $0.writeOutbox(row) }
    }

    private func rows(_ store: PostgreSQLStore) throws -> [OutboxRow] {
      try store.read { try $0.outbox(after: nil) }.rows
    }

    private func insert(_ number: Int, _ key: String, _ fleet: Fleet) throws {
      try fleet.sql(
        "INSERT INTO concord_outbox VALUES (\(number), '\(key)', 'raise', 'Book', '1', '{}', 'pending', NULL, 1, 0)")
    }

    @Test("A number that another program has taken is not given again, and its row stays")
    func takenNumber() throws {
      let fleet = try Fleet()
      let store = try fleet.store()
      defer { try? store.close() }
      #expect(try write(row("a"), store).number == 1)
      try insert(2, "b", fleet)
      #expect(try write(row("c"), store).number == 3)
      #expect(try rows(store).map(\.key) == ["a", "b", "c"])
      // The version begins anew.
      try fleet.sql(
        """
        DELETE FROM concord_outbox_state;
        INSERT INTO concord_outbox_state (epoch, version, forgotten, cleared) VALUES (1, 0, 0, 0)
        """)
      #expect(try write(row("d"), store).number == 4)
      #expect(try write(row("e"), store).number == 5)
      #expect(try rows(store).map(\.key) == ["a", "b", "c", "d", "e"])
    }

    @Test("A row with the number of a new one gets one when it is written")
    func unnumbered() throws {
      let fleet = try Fleet()
      let store = try fleet.store()
      defer { try? store.close() }
      #expect(try write(row("b"), store).number == 1)
      try insert(0, "a", fleet)
      var found = try #require(try rows(store).first)
      #expect(found.key == "a" && found.number == 0)
      found.state = .sent
      #expect(try write(found, store).number == 2)
      #expect(try rows(store).map(\.key) == ["b"])
      #expect(try fleet.sql("SELECT number, state FROM concord_outbox WHERE \"key\" = 'a'") == "2|sent")
    }

    @Test("A row that another program has deleted does not come back when it is written")
    func deleted() throws {
      let fleet = try Fleet()
      let store = try fleet.store()
      defer { try? store.close() }
      var sent = try write(row("a"), store)
      try fleet.sql("DELETE FROM concord_outbox")
      sent.reason = "no"
      _ = try write(sent, store)
      #expect(try rows(store).isEmpty)
    }

    @Test("Where no number is left, a new row is refused, and no other is lost")
    func lastNumber() throws {
      let fleet = try Fleet()
      let store = try fleet.store()
      defer { try? store.close() }
      try fleet.sql("UPDATE concord_outbox_state SET version = \(Int64.max - 1)")
      #expect(try write(row("a"), store).number == .max)
      #expect(throws: StoreError.self) { try write(row("b"), store) }
      #expect(try rows(store).map(\.key) == ["a"])
    }
  }
#endif
