#if Server && PostgreSQL
  import ConcordServer
  import Foundation
  import Testing

  @testable import ConcordPostgreSQL

  /// Commits that devices were told of are still there after a crash of the database.
  @Suite(.enabled(if: Kind.database != nil), .timeLimit(.minutes(2)))
  struct DurableHistoryTests {
    @Test(
      "A writer that does not wait for the disk does so for what devices are told", arguments: ["off", "local", "on"])
    func synchronousCommit(_ setting: String) throws {
      let model = try shopModel()
      let store = try PostgreSQLStore(
        name: "Shop", PostgreSQLOptions(connection: Kind.database ?? "", schema: Kind.newSchema()), model: model,
        entities: model.entities)
      try store.startFeed()
      let other = try store.pool.connect()
      for statement in [
        "INSERT INTO \"Book\" VALUES (1, 'a', 1, 1)", "UPDATE \"Book\" SET title = 'b'", "DELETE FROM \"Book\"",
        "TRUNCATE \"Book\"",
      ] {
        let results = try other.run([
          .once("BEGIN"), .once("SET LOCAL synchronous_commit TO \(setting)"), .once(statement),
          .once("SHOW synchronous_commit"), .once("COMMIT"),
        ])
        #expect(results[3].text(0, 0) == (setting == "off" ? "on" : setting))
      }
      try store.close()
    }
  }
#endif
