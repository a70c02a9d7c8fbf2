#if PostgreSQL
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  @Suite("Imports into PostgreSQL whose end is in doubt", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct ImportInDoubtTests {
    @Test(
      "An import is there if it is said to be, and not if it is said to be lost, wherever its connection is cut",
      arguments: [false, true])
    func cut(_ areDisabled: Bool) throws {
      let fleet = try Fleet()
      try fleet.store().close()
      if areDisabled { try fleet.sql("ALTER TABLE \"Progress\" DISABLE TRIGGER USER") }
      let proxy = try CuttingProxy(to: fleet.server.port)
      defer { proxy.stop() }
      func add(_ id: Int, _ isWritten: () -> Void) throws {
        let link = try PostgreSQLInspection.connect(
          fleet.server.url(port: proxy.port), schema: fleet.schema, wait: 10, timeout: 10)
        let inspection = try PostgreSQLInspection(link, writes: true)
        let rows = InspectionImport(inspection, replaces: false)
        let table = try #require(inspection.tables.first { $0.name == "Progress" })
        try rows.add([.integer(Int64(id)), .integer(0), .real(1)], to: table, line: 1)
        isWritten()
        try rows.finish(commits: true)
      }
      try add(0) { proxy.count() }
      let bytes = proxy.counted.answers
      var inDoubt = 0
      for (round, byte) in stride(from: 0, to: bytes, by: 16).enumerated() {
        var reason = ""
        do { try add(round + 1) { proxy.cut(after: byte, ofAnswers: true) } } catch { reason = "\(error)" }
        proxy.cutNoMore()
        if reason.contains("cannot be known") {
          inDoubt += 1
          continue
        }
        let isThere = try fleet.sql("SELECT count(*) FROM \"Progress\" WHERE id = \(round + 1)") == "1"
        #expect(isThere == reason.isEmpty, "byte \(byte) of \(bytes): \(reason)")
      }
      #expect((inDoubt > 0) == areDisabled)
    }
  }
#endif
