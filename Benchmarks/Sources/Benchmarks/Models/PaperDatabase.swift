#if PostgreSQL
  import CLibPQ
  import ConcordPersistence
  import ConcordPostgreSQL
  import Foundation

  /// A schema with papers, in which Concord searches, or libpq with a `tsvector` by hand.
  final class PaperDatabase: PaperPlace {
    let schema = "benchmark-\(UUID().uuidString)"
    private var attached: (container: Container, store: PersistentStore)?

    private var connection: String {
      let url = VolumeDatabase.url ?? ""
      return url + (url.contains("?") ? "&" : "?") + "options=-c%20synchronous_commit%3Doff"
    }

    deinit {
      try? detach()
      try? raw().run("DROP SCHEMA IF EXISTS \"\(schema)\" CASCADE")
    }

    func concord(_ count: Int) throws -> Container {
      let container = try attach()
      let context = container.newBackgroundContext()
      for id in 0..<count { context.insert(Paper(id: id)) }
      try context.save()
      for table in ["Paper", "concord_words.Paper"] { try raw().run("ANALYZE \"\(table)\"") }
      return container
    }

    @discardableResult
    func attach() throws -> Container {
      let container = Container(name: "Papers", model: try PaperFile.model())
      let configuration = StoreConfiguration(
        type: .postgreSQL,
        options: [
          ConcordPostgreSQLOption: connection, ConcordPostgreSQLSchemaOption: schema,
          // What is noted stays so, to be measured.
          ConcordPostgreSQLPollIntervalOption: 3600.0,
        ])
      attached = (container, try container.attachPersistentStore(for: configuration))
      return container
    }

    func detach() throws {
      if let attached { try attached.container.detach(persistentStore: attached.store) }
      attached = nil
    }

    func noteAll() throws { try raw().run("UPDATE \"Paper\" SET text = text || ' more'") }

    func raw() throws -> RawConnection {
      let raw = try RawConnection(connection)
      try raw.run("SET client_min_messages TO warning")
      try raw.run("SET search_path TO \"\(schema)\", pg_temp")
      return raw
    }

    /// libpq alone: a column with the words of the text, and an index of it.
    func byHand(_ count: Int) throws -> RawConnection {
      let raw = try RawConnection(connection)
      try raw.run("SET client_min_messages TO warning")
      try raw.run("CREATE SCHEMA \"\(schema)\"")
      try raw.run("SET search_path TO \"\(schema)\", pg_temp")
      try raw.run(
        """
        CREATE TABLE papers (id bigint PRIMARY KEY, text text NOT NULL, _stamp double precision NOT NULL,
          words tsvector GENERATED ALWAYS AS (to_tsvector('simple', text)) STORED)
        """)
      try raw.run("CREATE INDEX ON papers USING gin (words)")
      try Self.upsert((0..<count).map { Paper(id: $0) }, raw)
      try raw.run("ANALYZE papers")
      return raw
    }

    private static func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
      withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }

    static func upsert(_ papers: [Paper], _ raw: RawConnection) throws {
      try raw.run("BEGIN ISOLATION LEVEL SERIALIZABLE")
      for start in stride(from: 0, to: papers.count, by: 5_000) {
        let part = papers[start..<min(papers.count, start + 5_000)]
        func array(_ type: UInt32, _ values: [[UInt8]]) -> [UInt8] {
          var array =
            bytes(Int32(1)) + bytes(Int32(0)) + bytes(type) + bytes(Int32(values.count)) + bytes(Int32(1))
          for value in values { array += bytes(Int32(value.count)) + value }
          return array
        }
        PQclear(
          try raw.run(
            """
            INSERT INTO papers (id, text, _stamp) SELECT u.i, u.t, 0 FROM unnest($1, $2) AS u(i, t) \
            ON CONFLICT (id) DO UPDATE SET text = excluded.text
            """, [1016, 1009],
            [array(20, part.map { bytes(Int64($0.id)) }), array(25, part.map { Array($0.text.utf8) })]))
      }
      try raw.run("COMMIT")
    }

    static func search(_ word: String, _ raw: RawConnection) throws -> Int {
      let result = try raw.run(
        """
        SELECT id, text FROM papers, to_tsquery('simple', $1) AS q WHERE words @@ q ORDER BY ts_rank(words, q) DESC, id LIMIT 20
        """, [25], [Array(word.utf8)])
      defer { PQclear(result) }
      return Int(PQntuples(result))
    }

    static func keepOnCores(_ raw: RawConnection) throws -> AnyObject? { try ToldCores(.onAnotherCore, raw) }
  }
#endif
