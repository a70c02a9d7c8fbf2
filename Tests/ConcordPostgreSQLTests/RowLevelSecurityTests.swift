#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  @Suite("Row-level security", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct RowLevelSecurityTests {
    @Test("Rows that a policy hides are not found, their keys are told, and what it refuses is not written")
    func policy() throws {
      let fleet = try Fleet()
      let store = try fleet.store()
      defer { try? store.close() }
      // The store's role owns the table, so the policy has to be forced on it.
      try fleet.sql(
        """
        ALTER TABLE "Progress" ENABLE ROW LEVEL SECURITY; ALTER TABLE "Progress" FORCE ROW LEVEL SECURITY; \
        CREATE POLICY positive ON "Progress" USING (id > 0)
        """)
      let told = Locked<Set<EntityKey>>([])
      let observation = store.observeCommits { commit in told.withLock { $0.formUnion(commit.keys ?? []) } }
      try fleet.sql("INSERT INTO \"Progress\" VALUES (1, 7, 1), (-1, 7, 1)")
      #expect(try eventually { try told.withLock { $0 } == [fleet.key(1), fleet.key(-1)] })
      #expect(try store.read { try $0.row(of: fleet.key(1)) } == fleet.row(1, 7))
      #expect(try store.read { try $0.row(of: fleet.key(-1)) } == nil)
      #expect {
        try store.write(origin: nil) { _ = try $0.insert(fleet.row(-2, 0), for: fleet.key(-2)) }
      } throws: { error in
        guard case StoreError.refused(_, let reason) = error else { return false }
        return reason.contains("row-level security")
      }
      #expect(try fleet.sql("SELECT count(*) FROM \"Progress\"") == "2")
      withExtendedLifetime(observation) {}
    }
  }
#endif
